#include "sched/sched.h"
#include "sched/core/scheduler.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/core/labels.h"
#include "sched/feature/deadline.h"
#include "sched/feature/power.h"
#include "sched/place/place.h"
#include "sched/feature/quota.h"
#include "sched/feature/service.h"
#include "sched/feature_list.h"

/* Number the groups: shapes; of each user where users decide, of each share where there are any. */
static int make_groups(struct sched *s)
{
    const struct workload *w = s->work;
    size_t n_users = s->policy.order->needs_users ? w->users.n + 1 : 1;
    size_t n_slots = quota_slots(s), n = n_users * n_slots * w->n_shapes;
    uint32_t *number = arena_alloc(&s->arena, n * sizeof(*number));

    s->group = arena_alloc(&s->arena, w->n_jobs * sizeof(*s->group));
    if (!number || !s->group)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++) {
        size_t user = n_users > 1 ? (size_t)(w->jobs[i].user + 1) : 0;
        size_t share = user * n_slots + quota_slot(s, (uint32_t)i);
        uint32_t *slot = &number[share * w->n_shapes + w->jobs[i].shape];

        if (!*slot)
            *slot = (uint32_t)++s->n_groups;
        s->group[i] = *slot - 1;
    }
    return 0;
}

static bool has_shares(const struct workload *w)
{
    for (size_t i = 0; i < w->n_jobs; i++)
        if (w->jobs[i].milli < WORK_WHOLE)
            return true;
    return false;
}

/* Whether the order of those that wait is kept from pass to pass: where no time and nobody else
 * changes it. With preemption it takes an order that is the same for all that wait, and no feature
 * that has a say in it. A list is kept where the key of one that waits never changes, nor falls
 * when it stops. */
static bool keeps_queues(const struct sched *s)
{
    if (s->policy.preempt == PREEMPT_NONE)
        return true;
    if (s->policy.ties == TIES_LIST)
        return s->policy.preempt != PREEMPT_VICTIMS && s->on == 0 && s->policy.ageing_ms == 0 &&
               s->work->n_speeds == 0;
    for (size_t i = 0; features[i]; i++)
        if (s->on >> i & 1 && features[i] != &feature_deadline)
            return false;
    return true;
}

static int make_tables(struct sched *s)
{
    size_t n = s->work->n_jobs, nodes = s->pool->n_nodes;
    struct arena *a = &s->arena;

    s->cursor = arena_alloc(a, s->n_groups * sizeof(*s->cursor));
    s->longest = arena_alloc(a, s->n_groups * sizeof(*s->longest));
    s->running = arena_alloc(a, n * sizeof(*s->running));
    s->at = arena_alloc(a, n * sizeof(*s->at));
    s->waits = arena_alloc(a, n * sizeof(*s->waits));
    s->fit.parts = arena_alloc(a, nodes * sizeof(*s->fit.parts));
    s->promise.spare = arena_alloc(a, nodes);
    s->users = arena_alloc(a, (s->work->users.n + 2) * sizeof(*s->users));
    if (!s->cursor || !s->longest || !s->running || !s->at || !s->waits || !s->fit.parts ||
        !s->promise.spare || !s->users)
        return -ENOMEM;
    if (s->policy.backfill >= BACKFILL_EASY) {
        s->ends_most = 2 * n;
        s->ends_room = arena_alloc(a, s->ends_most * sizeof(*s->ends));
        s->ends = s->ends_room;
        s->back = has_shares(s->work) ? arena_alloc(a, nodes * POOL_DEVICES * sizeof(*s->back))
                                      : NULL;
        s->promise.had = service_had(s) ? arena_alloc(a, nodes * sizeof(*s->promise.had)) : NULL;
        if (!s->ends || (!s->back && has_shares(s->work)) || (!s->promise.had && service_had(s)))
            return -ENOMEM;
    }
    if (s->policy.preempt != PREEMPT_NONE) {
        s->ranked = arena_alloc(a, n * sizeof(*s->ranked));
        s->other = arena_alloc(a, n * sizeof(*s->other));
        s->first = arena_alloc(a, (nodes + 2) * sizeof(*s->first));
        s->holders = arena_alloc(a, s->pool->devices * sizeof(*s->holders));
        s->listed = s->queues ? arena_alloc(a, n) : NULL;
        s->placed = arena_alloc(a, n * sizeof(*s->placed));
        s->in_vain = arena_alloc(a, s->n_groups * sizeof(*s->in_vain));
        if (!s->ranked || !s->other || !s->first || !s->holders || (s->queues && !s->listed) ||
            !s->placed || !s->in_vain)
            return -ENOMEM;
    }
    if (falling_open(s) < 0 || lowest_open(s) < 0)
        return -ENOMEM;
    labels_open(s);
    if (!s->queues)
        return 0;
    return waiting_init(&s->waiting, a, n, s->n_groups);
}

/* A feature is on. */
static void turn_on(struct sched *s, size_t i)
{
    s->on |= 1U << i;
    s->fresh |= features[i]->from_start;
    s->ordered |= features[i]->orders;
    feature_hooks_make(&s->hooks, s->on);
}

static int open_features(struct sched *s, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; features[i] && rc >= 0; i++) {
        rc = features[i]->open ? features[i]->open(s, e) : 0;
        if (rc > 0)
            turn_on(s, i);
    }
    return MIN(rc, 0);
}

int sched_watts(struct sched *s, const struct watts *kinds, struct err *e)
{
    int rc = power_open(s, kinds, e);

    for (size_t i = 0; features[i] && rc > 0; i++)
        if (features[i] == &feature_power)
            turn_on(s, i);
    return MIN(rc, 0);
}

int sched_open(struct sched **ret, const struct policy *policy, const struct pool *pool,
               const struct workload *jobs, struct err *e)
{
    CLEANUP(sched_closep) struct sched *s = calloc(1, sizeof(*s));
    int rc;

    if (jobs->n_speeds > 0 && policy->preempt == PREEMPT_REBUILD)
        return err_set(e, -EINVAL, "%s places all anew in each pass: not with speeds by kind",
                       policy->name);
    if (!s)
        return err_nomem(e);
    s->policy = *policy;
    s->pool = pool;
    s->work = s->asked = jobs;
    s->promise.job = WAITING_NONE;
    s->jobs = arena_alloc(&s->arena, jobs->n_jobs * sizeof(*s->jobs));
    if (!s->jobs)
        return err_nomem(e);
    rc = open_features(s, e);
    if (rc < 0)
        return rc;
    s->queues = keeps_queues(s);
    if (make_groups(s) < 0 || free_capacity_init(&s->capacity, pool) < 0 || make_tables(s) < 0)
        return err_nomem(e);
    if (policy->place->scores) {
        if (scores_init(&s->scores, &s->arena, pool, jobs) < 0)
            return err_nomem(e);
        s->capacity.scores = &s->scores;
    }
    if (policy->place->wiring) {
        if (wiring_init(&s->wiring, &s->arena, pool) < 0)
            return err_nomem(e);
        s->capacity.wiring = &s->wiring;
    }
    *ret = steal(&s);
    return 0;
}

void sched_close(struct sched *s)
{
    if (!s)
        return;
    for (size_t i = 0; features[i]; i++)
        if (s->on >> i & 1 && features[i]->close)
            features[i]->close(s);
    free_capacity_done(&s->capacity);
    arena_done(&s->arena);
    free(s->actions);
    free(s);
}
