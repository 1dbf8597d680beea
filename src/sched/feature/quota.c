#include "sched/feature/quota.h"

#include "sched/core/action.h"
#include "sched/feature/quota_private.h"
#include "sched/core/scheduler.h"

uint32_t quota_slots(const struct sched *s)
{
    return s->quota ? s->quota->n : 1;
}

uint32_t quota_slot(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return s->quota ? s->quota->slot[(s->policy.quota.by_team ? w->team : w->class) + 1] : 0;
}

static int64_t needs(const struct sched *s, uint32_t job)
{
    return (int64_t)s->work->jobs[job].devices * s->work->jobs[job].milli;
}

bool quota_within(const struct sched *s, uint32_t job)
{
    uint32_t slot = quota_slot(s, job);

    return !s->quota || s->quota->used[slot] + needs(s, job) <= s->quota->share[slot];
}

bool quota_allows(const struct sched *s, uint32_t job)
{
    return !s->quota || s->quota->lends || quota_within(s, job);
}

void quota_count(struct sched *s, uint32_t job, int sign)
{
    if (s->quota && s->jobs[job].tier == TIER_BATCH)
        s->quota->used[quota_slot(s, job)] += sign * needs(s, job);
}

bool quota_above(const struct sched *s, uint32_t job)
{
    uint32_t slot = quota_slot(s, job);

    return s->quota && s->quota->used[slot] > s->quota->share[slot];
}

int64_t quota_left(const struct sched *s, uint32_t job)
{
    uint32_t slot = quota_slot(s, job);

    return s->quota ? (s->quota->share[slot] - s->quota->used[slot]) / WORK_WHOLE : WORK_DEVICES;
}

enum action_why quota_why(const struct sched *s, uint32_t job, enum action_why otherwise)
{
    if (!s->quota)
        return otherwise;
    return quota_within(s, job) ? WHY_WITHIN : WHY_LENT;
}
