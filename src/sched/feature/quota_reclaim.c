/* What is lent of a share comes back to jobs within it. */
#include <errno.h>
#include <stdlib.h>

#include "sched/core/action.h"
#include "sched/core/choose_victims.h"
#include "sched/core/find_place.h"
#include "sched/feature/quota_private.h"
#include "sched/core/scheduler.h"
#include "sched/feature/spot_preempt.h"
#include "sched/core/state.h"

/* Those that leave, then the younger ones. */
static int younger_first(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    int order = COMPARE(y->since_ms, x->since_ms);

    return order ? order : COMPARE(y->list, x->list);
}

/* Whether a job may be stopped. One that leaves is being stopped, whosever share it has. */
static bool may_stop(const struct sched *s, uint32_t job)
{
    return s->jobs[job].leaves || quota_above(s, job);
}

/* The running jobs of those above their shares, and those that leave anyway. */
static size_t find_victims(struct sched *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t job = s->running[i];

        if (!s->jobs[job].guest && may_stop(s, job) && s->work->jobs[job].devices > 0 &&
            !s->work->jobs[job].fixed && s->jobs[job].tier == TIER_BATCH)
            s->quota->victims[n++] = (struct victim){ s->jobs[job].leaves ? INT64_MAX
                                                                          : s->jobs[job].since_ms,
                                                      s->jobs[job].list, job };
    }
    qsort(s->quota->victims, n, sizeof(*s->quota->victims), younger_first);
    return n;
}

static int reclaim(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct action why = { .why = WHY_RECLAIM, .other = job };
    struct victim *victims = s->quota->victims;
    size_t n = choose_victims(s, job, victims, find_victims(s), may_stop);

    for (size_t i = 0; i < n; i++) {
        if (state_preempt(s, victims[i].job, now_ms, &why) < 0)
            return -1;
        s->quota->reclaimed++;
    }
    return n > 0 && sched_find_place(s, job);
}

int quota_reclaim(struct sched *s, uint32_t job, int64_t now_ms)
{
    bool lifted;
    int found;

    if (!s->policy.quota.borrow || !quota_within(s, job))
        return 0;
    lifted = spot_preempt_lift(s, true);
    found = reclaim(s, job, now_ms);
    if (!lifted)
        return found;
    spot_preempt_lift(s, false);
    return found > 0 ? spot_preempt_beside(s, job, now_ms) : found;
}

int quota_sweeps(struct sched *s, int64_t now_ms, quota_sweep_fn *sweep)
{
    bool borrow = s->policy.quota.borrow;
    uint64_t before;
    int rc;

    if (!s->quota)
        return sweep(s, now_ms);
    s->quota->lends = false;
    do {
        before = s->quota->reclaimed;
        rc = sweep(s, now_ms);
    } while (rc == 0 && s->quota->reclaimed > before);
    s->quota->lends = borrow;
    return rc == 0 && borrow ? sweep(s, now_ms) : rc;
}
