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
    size_t i = p->n;

    while (i > 0 && p->steps[i - 1].from_ms > at_ms)
        i--;
    if (p->steps[i - 1].from_ms == at_ms)
        return i - 1;
    memmove(&p->steps[i + 1], &p->steps[i], (p->n++ - i) * sizeof(*p->steps));
    p->steps[i] = (struct plan_step){ at_ms, p->steps[i - 1].free };
    return i;
}

/* The first step at which 'devices' are free for 'length'. There always is one: the last. */
static size_t find(const struct plan *p, int64_t devices, int64_t length)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t k = i;
        int64_t end = length == WORK_UNKNOWN ? WORK_UNKNOWN : p->steps[i].from_ms + length;

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
    int64_t end = length == WORK_UNKNOWN ? WORK_UNKNOWN : p->steps[from].from_ms + length;
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

/* How long a job takes at most: on the slowest kind that suits it, away from its data. */
static int64_t length_of(const struct sched *s, uint32_t job)
{
    int64_t length_ms = speed_longest(s, job);

    return length_ms == WORK_UNKNOWN ? length_ms : length_ms + data_most_ms(s, job);
}

int pass_planned(struct sched *s, int64_t now_ms)
{
    struct action why = { .why = WHY_FIRST, .other = WAITING_NONE, .until_ms = WORK_UNKNOWN };
    CLEANUP(freep)
    struct plan_step *steps = calloc(s->n_ends + (size_t)2 * DEPTH + 2, sizeof(*steps));
    struct plan plan = { steps, 0 };
    int64_t there = s->pool->devices * WORK_WHOLE - s->capacity.lost;
    uint32_t job = next_job(s, NULL);

    if (!steps)
        return -ENOMEM;
    make(s, &plan, now_ms);
    for (int i = 0; i < DEPTH && job != WAITING_NONE; i++) {
        const struct order_key key = s->waiting.nodes[job].key;
        int32_t devices = s->work->jobs[job].devices;
        int64_t length = length_of(s, job);
        size_t at = find(&plan, devices, length);
        bool starts = plan.steps[at].from_ms == now_ms && sched_find_place(s, job);

        if ((int64_t)devices * WORK_WHOLE <= there) /* else it waits for nodes that are lost */
            use(&plan, at, devices, length);
        if (starts && state_start(s, job, now_ms, &why) < 0)
            return -ENOMEM;
        if (!starts && why.other == WAITING_NONE) {
            why = (struct action){ .why = WHY_PLANNED, .other = job };
            why.until_ms = plan.steps[at].from_ms;
        }
        job = next_job(s, &key);
    }
    return 0;
}
