/* A place for each in an empty cluster (preempt = rebuild). */
#include "sched/core/action.h"
#include "sched/core/find_place.h"
#include "sched/core/queue.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"
#include "sched/pass/pass.h"

/* A place in what is left for one that waits, or that runs and may have moved: 1; 0: there is none;
 * -1 on failure. */
static int place(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct action why = { .why = WHY_SHARE, .other = WAITING_NONE };
    struct sched_job *j = &s->jobs[job];
    int rc;

    if (!sched_find_place(s, job))
        return 0;
    if (j->state == SCHED_WAITING)
        rc = state_start(s, job, now_ms, &why);
    else
        rc = free_capacity_take(&s->capacity, &s->work->jobs[job], &s->fit, &j->part);
    return rc < 0 ? -1 : 1;
}

static int place_ranked(struct sched *s, int64_t now_ms)
{
    for (size_t i = 0; i < s->n_ranked; i++) {
        int placed = place(s, s->ranked[i].job, now_ms);

        if (placed < 0)
            return -1;
        s->ranked[i].granted = placed;
    }
    return 0;
}

/* The two lists that a pass goes through as one. */
struct both {
    size_t at;      /* of those that run: the next one */
    uint32_t group; /* of those that wait: that of the next one; WAITING_NONE */
};

/* The next in the order. false: there is none. */
static bool next(const struct sched *s, struct both *b, struct ranked *ret, bool *runs)
{
    const struct order_key *waits = b->group == WAITING_NONE
                                        ? NULL
                                        : &s->waiting.nodes[s->cursor[b->group]].key;

    *runs = b->at < s->n_ranked && (!waits || order_compare(&s->ranked[b->at].key, waits) <= 0);
    if (*runs)
        *ret = s->ranked[b->at++];
    else if (waits)
        *ret = (struct ranked){ .key = *waits, .job = s->cursor[b->group] };
    return *runs || waits;
}

/* One that waits was placed: the next of its group is. Or no other one of it will be. */
static void go_on(struct sched *s, struct both *b, const struct ranked *r, bool placed)
{
    uint32_t group = s->group[r->job];

    s->cursor[group] = placed ? waiting_next(&s->waiting, group, &r->key, WORK_UNKNOWN)
                              : WAITING_NONE;
    b->group = queue_first_group(s);
}

/* From here on all is otherwise than in the last pass: those that run give up their places. */
static void clear_rest(struct sched *s, size_t from, uint32_t placed)
{
    for (size_t i = from; i < s->n_ranked; i++) {
        struct sched_job *j = &s->jobs[s->ranked[i].job];

        free_capacity_give(&s->capacity, &s->work->jobs[s->ranked[i].job], j->part);
        j->part = NO_PART;
    }
    for (uint32_t g = 0; g < s->n_groups; g++)
        if (s->in_vain[g] > placed || s->n_placed == 0)
            s->in_vain[g] = UINT32_MAX;
}

/* Those that run and those that wait, which are kept in order: when one of a group, all of which
 * need the same, finds no place, none behind it does. As far as those with places are those of the
 * last pass, in its order, they have the same places. */
static int place_queued(struct sched *s, int64_t now_ms)
{
    struct both b = { .at = 0 };
    struct ranked *swap, *r;
    uint32_t placed = 0;
    bool runs, same = true;
    size_t n = 0;

    for (uint32_t g = 0; g < s->n_groups; g++)
        s->cursor[g] = waiting_next(&s->waiting, g, NULL, WORK_UNKNOWN);
    b.group = queue_first_group(s);
    while (next(s, &b, r = &s->other[n], &runs)) {
        uint32_t group = s->group[r->job];
        bool in_vain = s->in_vain[group] <= placed && s->n_placed > 0;
        int found = 0;

        if (same && runs && placed < s->n_placed && s->placed[placed] == r->job) {
            found = 1;
        } else if (!same || runs || !in_vain) {
            if (same)
                clear_rest(s, b.at - runs, placed);
            same = false;
            s->listed[r->job] = 1;
            if (s->in_vain[group] > placed)
                found = place(s, r->job, now_ms);
            if (found < 0)
                return -1;
            s->listed[r->job] = runs || found;
        }
        r->granted = found;
        n += runs || found;
        if (found)
            s->placed[placed++] = r->job;
        else
            s->in_vain[group] = MIN(s->in_vain[group], placed);
        if (!runs || !found)
            go_on(s, &b, r, found);
    }
    s->n_placed = placed;
    swap = s->ranked;
    s->ranked = s->other;
    s->other = swap;
    s->n_ranked = n;
    return 0;
}

int pass_anew(struct sched *s, int64_t now_ms)
{
    if (s->queues) {
        rank_running(s, now_ms);
        return place_queued(s, now_ms);
    }
    for (size_t i = 0; i < s->n_running; i++) {
        struct sched_job *j = &s->jobs[s->running[i]];

        free_capacity_give(&s->capacity, &s->work->jobs[s->running[i]], j->part);
        j->part = NO_PART;
    }
    return place_ranked(s, now_ms);
}
