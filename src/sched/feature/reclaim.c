#include "sched/feature/reclaim.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/core/choose_victims.h"
#include "sched/feature/device_sharing.h"
#include "sched/core/find_place.h"
#include "sched/feature/idle.h"
#include "sched/core/scheduler.h"
#include "sched/feature/spot_preempt.h"

enum { IDLE_LIST = UINT32_MAX }; /* of a victim: not one that shares */

struct reclaim {
    struct victim *victims;
};

static int open_reclaim(struct sched *s, struct err *e)
{
    struct reclaim *r;

    if (s->policy.idle.reclaim_ms == 0 && s->policy.share.below == 0)
        return 0;
    r = arena_alloc(&s->arena, sizeof(*r));
    if (!r)
        return err_nomem(e);
    r->victims = arena_alloc(&s->arena, 2 * s->work->n_jobs * sizeof(*r->victims));
    if (!r->victims)
        return err_nomem(e);
    s->reclaim = r;
    return 1;
}

static int longest_first(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    int order = COMPARE(x->since_ms, y->since_ms);

    return order ? order : COMPARE(x->job, y->job);
}

/* Those whose devices can be taken; of two that share devices, both must be. */
static size_t find_victims(const struct sched *s, int64_t now_ms, struct victim *victims)
{
    size_t n = 0, n_idle;
    const uint32_t *idle = idle_list(s, &n_idle);

    for (size_t i = 0; i < n_idle; i++) {
        uint32_t job = idle[i], partner = device_sharing_partner(s, job);

        if (idle_due(s, job, now_ms) &&
            (partner == WAITING_NONE || (!s->jobs[job].guest && idle_due(s, partner, now_ms))))
            victims[n++] = (struct victim){ idle_due_ms(s, job), IDLE_LIST, job };
    }
    if (n > 0)
        qsort(victims, n, sizeof(*victims), longest_first);
    return n;
}

/* It, and the one that shares its devices, give them up. */
static int take(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms)
{
    uint32_t partner = device_sharing_partner(s, job);

    if (partner != WAITING_NONE && idle_stop(s, partner, other, now_ms) < 0)
        return -ENOMEM;
    return idle_stop(s, job, other, now_ms);
}

/* What idle jobs hold and jobs of little use could do without, in stops; how many of them are
 * enough. */
static size_t find_enough(struct sched *s, uint32_t job, int64_t now_ms, struct victim *victims)
{
    size_t n = idle_n_due(s) > 0 ? find_victims(s, now_ms, victims) : 0;

    n += device_sharing_guests(s, now_ms, victims + n);
    return n > 0 ? choose_victims(s, job, victims, n, NULL) : 0;
}

/* Let them give theirs up, and share. 1, 0, -1. */
static int take_enough(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct victim *victims = s->reclaim->victims;
    size_t n = find_enough(s, job, now_ms, victims);

    for (size_t i = 0; i < n; i++) {
        bool gives = victims[i].list == IDLE_LIST;
        int rc = gives ? take(s, victims[i].job, job, now_ms)
                       : device_sharing_join(s, victims[i].job, job, now_ms);

        if (rc < 0)
            return -1;
    }
    return n > 0 && sched_find_place(s, job);
}

int reclaim_find(struct sched *s, uint32_t job, int64_t now_ms)
{
    bool lifted;
    int found;

    if (!s->reclaim || (idle_n_due(s) == 0 && !device_sharing_shares(s)))
        return 0;
    lifted = spot_preempt_lift(s, true);
    found = take_enough(s, job, now_ms);
    if (!lifted)
        return found;
    spot_preempt_lift(s, false);
    return found > 0 ? spot_preempt_beside(s, job, now_ms) : found;
}

/* Any number, as long as there is something to take. */
static int64_t could_free(const struct sched *s, uint32_t job)
{
    (void)job;
    return idle_n_due(s) > 0 || device_sharing_shares(s) ? WORK_DEVICES : 0;
}

const struct feature feature_reclaim = {
    .open = open_reclaim,
    .could_free = could_free,
    .frees = reclaim_find,
};
