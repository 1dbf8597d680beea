#include "sched/quota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/spot_preempt.h"
#include "sched/sched_private.h"

/* ---- shares ---- */

static const struct work_names *names_of(const struct sched *s)
{
    return s->policy.quota.by_team ? &s->work->teams : &s->work->classes;
}

static uint8_t find_share(const struct policy_quota *q, const char *name)
{
    size_t i = 0;

    while (i < q->n && strcmp(q->shares[i].name, name) != 0)
        i++;
    return (uint8_t)i;
}

int quota_open(struct sched *s, struct err *e)
{
    const struct policy_quota *q = &s->policy.quota;
    const struct work_names *names = names_of(s);
    int64_t sum;

    if (q->n == 0)
        return 0;
    s->quota.n = (uint32_t)q->n + 1;
    s->quota.lends = q->borrow;
    s->quota.slot = arena_alloc(&s->arena, names->n + 1);
    s->quota.victims = arena_alloc(&s->arena, (s->work->n_jobs + 1) * sizeof(*s->quota.victims));
    if (!s->quota.slot || !s->quota.victims)
        return err_nomem(e);
    s->quota.slot[0] = (uint8_t)q->n;
    for (size_t i = 0; i < names->n; i++)
        s->quota.slot[i + 1] = find_share(q, names->names[i]);
    for (size_t i = 0; i < q->n; i++) {
        const struct policy_share *share = &q->shares[i];
        int64_t devices = share->of_all
                              ? (int64_t)(share->amount / 100 * (double)s->pool->devices + 1e-9)
                              : (int64_t)share->amount;

        s->quota.share[i] = devices * WORK_WHOLE;
    }
    sum = quota_shares(s);
    if (sum > s->pool->devices)
        return err_set(e, -EINVAL, "%s: the shares are %lld devices, and there are %lld",
                       s->policy.name, (long long)sum, (long long)s->pool->devices);
    return 0;
}

int64_t quota_shares(const struct sched *s)
{
    int64_t sum = 0;

    for (size_t i = 0; i < s->policy.quota.n; i++)
        sum += s->quota.share[i] / WORK_WHOLE;
    return sum;
}

uint32_t quota_slot(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return s->quota.n ? s->quota.slot[(s->policy.quota.by_team ? w->team : w->class) + 1] : 0;
}

static int64_t needs(const struct sched *s, uint32_t job)
{
    return (int64_t)s->work->jobs[job].devices * s->work->jobs[job].milli;
}

bool quota_within(const struct sched *s, uint32_t job)
{
    uint32_t slot = quota_slot(s, job);

    return s->quota.n == 0 || s->quota.used[slot] + needs(s, job) <= s->quota.share[slot];
}

bool quota_allows(const struct sched *s, uint32_t job)
{
    return s->quota.lends || quota_within(s, job);
}

void quota_count(struct sched *s, uint32_t job, int sign)
{
    if (s->jobs[job].tier == TIER_BATCH)
        s->quota.used[quota_slot(s, job)] += sign * needs(s, job);
}

/* ---- reclaim ---- */

static int younger_first(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;

    if (x->since_ms != y->since_ms)
        return x->since_ms > y->since_ms ? -1 : 1;
    return x->list > y->list ? -1 : x->list < y->list;
}

static bool is_above(const struct sched *s, uint32_t slot)
{
    return s->quota.used[slot] > s->quota.share[slot];
}

bool quota_above(const struct sched *s, uint32_t job)
{
    return is_above(s, quota_slot(s, job));
}

/* The running jobs of those above their shares. */
static size_t find_victims(struct sched *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t job = s->running[i];

        if (!device_sharing_is_guest(s, job) && quota_above(s, job) && needs(s, job) > 0 &&
            !s->work->jobs[job].fixed && s->jobs[job].tier == TIER_BATCH)
            s->quota.victims[n++] = (struct victim){ s->jobs[job].since_ms, s->jobs[job].list,
                                                     job };
    }
    qsort(s->quota.victims, n, sizeof(*s->quota.victims), younger_first);
    return n;
}

static int reclaim(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct action why = { .why = WHY_RECLAIM, .other = job };
    struct victim *victims = s->quota.victims;
    size_t n = choose_victims(s, job, victims, find_victims(s), quota_above);

    for (size_t i = 0; i < n; i++) {
        if (state_preempt(s, victims[i].job, now_ms, &why) < 0)
            return -1;
        s->quota.reclaimed++;
    }
    return n > 0 && sched_find_place(s, job);
}

int quota_reclaim(struct sched *s, uint32_t job, int64_t now_ms)
{
    bool lifted = spot_preempt_lift(s, true);
    int found = reclaim(s, job, now_ms);

    if (!lifted)
        return found;
    spot_preempt_lift(s, false);
    return found > 0 ? spot_preempt_beside(s, job, now_ms) : found;
}

int quota_pass(struct sched *s, int64_t now_ms, quota_sweep_fn *sweep)
{
    bool borrow = s->policy.quota.borrow;
    uint64_t before;
    int rc;

    s->quota.lends = false;
    do {
        before = s->quota.reclaimed;
        rc = sweep(s, now_ms);
    } while (rc == 0 && s->quota.reclaimed > before);
    s->quota.lends = borrow;
    return rc == 0 && borrow ? sweep(s, now_ms) : rc;
}
