/* Conservative backfill: each job that waits, in its order, is planned at the first time at which
 * enough devices are free for as long as it takes; it starts if that is now and there is a place.
 * The plan counts devices, not nodes. */
#include <errno.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/feature/data.h"
#include "sched/core/find_place.h"
#include "sched/pass/pass.h"
#include "sched/core/speed.h"
#include "sched/core/state.h"

enum { DEPTH = 500 }; /* jobs planned in a pass: those behind wait */

/* Free devices from a time on, until the next one's. */
struct plan_step {
    int64_t from_ms;
    int64_t free;
};

struct plan {
    struct plan_step *steps;
    size_t n;
};

/* Let a step begin at a time; returns it. */
static size_t cut(struct plan *p, int64_t at_ms)
{
    size_t i = 0, high = p->n;

    while (i < high) {
        size_t middle = (i + high) / 2;

        if (p->steps[middle].from_ms > at_ms)
            high = middle;
        else
            i = middle + 1;
    }
    if (p->steps[i - 1].from_ms == at_ms)
        return i - 1;
    memmove(&p->steps[i + 1], &p->steps[i], (p->n++ - i) * sizeof(*p->steps));
    p->steps[i] = (struct plan_step){ at_ms, p->steps[i - 1].free };
    return i;
}

/* Of what begins with a step: also behind those that run for nobody knows how long. */
static int64_t end_of(const struct plan_step *from, int64_t length)
{
    bool known = from->from_ms != WORK_UNKNOWN && length != WORK_UNKNOWN;

    return known ? from->from_ms + length : WORK_UNKNOWN;
}

/* The first step at which 'devices' are free for 'length'. There always is one: the last. */
static size_t find(const struct plan *p, int64_t devices, int64_t length)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t k = i;
        int64_t end = end_of(&p->steps[i], length);

        while (k < p->n && p->steps[k].from_ms < end && p->steps[k].free >= devices)
            k++;
        if (k == p->n || p->steps[k].from_ms >= end)
            return i;
        i = k; /* not before this one ends */
    }
    return p->n - 1;
}

static void use(struct plan *p, size_t from, int64_t devices, int64_t length)
{
    int64_t end = end_of(&p->steps[from], length);
    size_t last = end == WORK_UNKNOWN ? p->n : cut(p, end);

    for (size_t i = from; i < last; i++)
        p->steps[i].free -= devices;
}

/* What is free, from the expected ends of what runs. */
static void make(struct sched *s, struct plan *p, int64_t now_ms)
{
    p->n = 1;
    p->steps[0] = (struct plan_step){ now_ms, s->capacity.whole };
    for (size_t i = 0; i < s->n_ends; i++) {
        const struct expected_end *x = &s->ends[i];
        struct plan_step *last = &p->steps[p->n - 1];
        int64_t end = MAX(x->end_ms, now_ms + 1), devices = s->work->jobs[x->job].devices;

        if (last->from_ms == end)
            last->free += devices;
        else
            p->steps[p->n++] = (struct plan_step){ end, last->free + devices };
    }
}

/* The job that goes first of those not yet looked at; WAITING_NONE. */
static uint32_t next_job(struct sched *s, const struct order_key *after)
{
    uint32_t best = WAITING_NONE;

    for (uint32_t g = 0; g < s->n_groups; g++) {
        uint32_t job = waiting_next(&s->waiting, g, after, WORK_UNKNOWN);

        if (job != WAITING_NONE &&
            (best == WAITING_NONE ||
             order_compare(&s->waiting.nodes[job].key, &s->waiting.nodes[best].key) < 0))
            best = job;
    }
    return best;
}

/* ---- who can start ---- */

/* From now on, for how long so many devices are free by the plan. WORK_UNKNOWN: until those end of
 * which nobody knows when. */
static int64_t window(const struct plan *p, int64_t devices)
{
    for (size_t i = 0; i < p->n && p->steps[i].from_ms != WORK_UNKNOWN; i++)
        if (p->steps[i].free < devices)
            return p->steps[i].from_ms - p->steps[0].from_ms;
    return WORK_UNKNOWN;
}

/* The first job behind a key (NULL: of all) that would start now if it were its turn; none before
 * it does, as what is planned only takes devices away. WAITING_NONE. */
static uint32_t next_to_start(const struct sched *s, const struct plan *p,
                              const struct order_key *after)
{
    const struct waiting *q = &s->waiting;
    uint32_t best = WAITING_NONE;

    for (uint32_t g = 0; g < s->n_groups; g++) {
        uint32_t job = waiting_next(q, g, after, WORK_UNKNOWN);
        int64_t longest = WORK_UNKNOWN;

        if (job == WAITING_NONE)
            continue;
        if (s->work->n_speeds == 0) /* else a job may be shorter than its length */
            longest = window(p, s->work->jobs[job].devices);
        job = waiting_next(q, g, after, longest);
        if (job != WAITING_NONE &&
            (best == WAITING_NONE || order_compare(&q->nodes[job].key, &q->nodes[best].key) < 0))
            best = job;
    }
    return best;
}

/* Whether so many jobs go before one that it is not planned, of which some started in this pass. */
static bool is_too_deep(const struct sched *s, uint32_t job, size_t started)
{
    size_t before = started;

    for (uint32_t g = 0; g < s->n_groups && before < DEPTH; g++)
        before += waiting_before(&s->waiting, g, &s->waiting.nodes[job].key);
    return before >= DEPTH;
}

/* ---- the pass ---- */

/* How long a job takes at most: on the slowest kind that suits it, away from its data. */
static int64_t length_of(const struct sched *s, uint32_t job)
{
    int64_t length_ms = speed_longest(s, job);

    return length_ms == WORK_UNKNOWN ? length_ms : length_ms + data_most_ms(s, job);
}

/* Plan one job, and start it if that is now. 1, 0: it waits, -ENOMEM. */
static int plan_job(struct sched *s, struct plan *p, uint32_t job, struct action *why,
                    int64_t now_ms)
{
    int64_t there = s->pool->devices * WORK_WHOLE - s->capacity.lost;
    int32_t devices = s->work->jobs[job].devices;
    int64_t length = length_of(s, job);
    size_t at = find(p, devices, length);
    bool starts = p->steps[at].from_ms == now_ms && sched_find_place(s, job);

    if ((int64_t)devices * WORK_WHOLE <= there) /* else it waits for nodes that are lost */
        use(p, at, devices, length);
    if (starts)
        return state_start(s, job, now_ms, why) < 0 ? -ENOMEM : 1;
    if (why->other == WAITING_NONE) {
        *why = (struct action){ .why = WHY_PLANNED, .other = job };
        why->until_ms = p->steps[at].from_ms;
    }
    return 0;
}

int pass_planned(struct sched *s, int64_t now_ms)
{
    struct action why = { .why = WHY_FIRST, .other = WAITING_NONE, .until_ms = WORK_UNKNOWN };
    CLEANUP(freep)
    struct plan_step *steps = calloc(s->n_ends + (size_t)2 * DEPTH + 2, sizeof(*steps));
    struct plan plan = { steps, 0 };
    uint32_t job = next_job(s, NULL), target;
    size_t started = 0;

    if (!steps)
        return -ENOMEM;
    make(s, &plan, now_ms);
    target = next_to_start(s, &plan, NULL);
    for (int i = 0; i < DEPTH && target != WAITING_NONE; i++) {
        const struct order_key key = s->waiting.nodes[job].key;
        bool is_target = job == target;
        int rc;

        if (i == 0 && is_too_deep(s, target, 0))
            return 0;
        rc = plan_job(s, &plan, job, &why, now_ms);
        if (rc < 0)
            return rc;
        started += (size_t)rc;
        job = next_job(s, &key);
        if (!is_target)
            continue;
        target = next_to_start(s, &plan, &key);
        if (target != WAITING_NONE && is_too_deep(s, target, started))
            return 0;
    }
    return 0;
}
