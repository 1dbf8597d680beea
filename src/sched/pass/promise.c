/* When a job that waits will have its place (EASY backfill). */
#include <string.h>

#include "sched/feature/power.h"
#include "sched/core/scheduler.h"
#include "sched/feature/service.h"
#include "sched/feature/spot_preempt.h"
#include "sched/pass/promise.h"

/* Nodes that suit a job and will have enough free devices; below a cap, the power. */
struct enough {
    uint32_t rest, one; /* what is left over; all that it takes of one node */
    int64_t mw;
};

static bool suits_kind(const struct sched *s, uint32_t node, const struct work *w)
{
    if (s->capacity.closed && s->capacity.closed[node])
        return false;
    return !w->kinds || (w->kinds >> s->pool->nodes[node].kind & 1);
}

/* How many devices the job takes of one node, of the last one, and how many such nodes. */
struct want {
    int each, rest;
    uint32_t n;
    int64_t mw;
};

static struct want want_of(const struct sched *s, const struct work *w)
{
    int most = s->pool->most;

    if (w->milli < WORK_WHOLE || w->devices == 0)
        return (struct want){ 1, 0, 1, 0 };
    if (w->per_node)
        return (struct want){ w->per_node, 0, (uint32_t)(w->devices / w->per_node), 0 };
    if (w->devices <= most)
        return (struct want){ w->devices, 0, 1, 0 };
    return (struct want){ most, w->devices % most, (uint32_t)(w->devices / most), 0 };
}

/* Count a node whose free devices go from one number to another. */
static void count(struct enough *have, const struct want *want, int from, int to)
{
    have->one += (uint32_t)(to >= want->each) - (uint32_t)(from >= want->each);
    if (want->rest)
        have->rest += (uint32_t)(to >= want->rest) - (uint32_t)(from >= want->rest);
}

static bool fits(const struct enough *have, const struct want *want)
{
    return have->one >= want->n && (!want->rest || have->rest > want->n) && have->mw >= want->mw;
}

/* Take what the job will have out of what is free then: the fullest nodes that are enough. */
static void take(struct sched *s, const struct work *w, int need, uint32_t n)
{
    for (int level = need; level <= s->pool->most && n > 0; level++)
        for (uint32_t i = 0; i < s->pool->n_nodes && n > 0; i++)
            if (s->promise.spare[i] == level && suits_kind(s, i, w)) {
                s->promise.spare[i] = (uint8_t)(level - need);
                n--;
            }
}

/* How many devices of its node a part gives back whole. A shared one is when its last share is. */
static int given_back(struct sched *s, const struct part *p)
{
    int16_t *back;
    int d;

    if (p->milli == WORK_WHOLE || p->devices == 0 || !s->back)
        return __builtin_popcount(p->devices);
    d = __builtin_ctz(p->devices);
    back = &s->back[(size_t)p->node * POOL_DEVICES + (size_t)d];
    *back = (int16_t)(*back + p->milli);
    return s->capacity.nodes[p->node].left[d] + *back == WORK_WHOLE;
}

/* The devices of a node that are free then and not kept for replicas. */
static int left_of(const struct sched *s, uint32_t node)
{
    int whole = s->promise.spare[node];

    return s->promise.had ? MAX(whole - service_keeps(s, node, s->promise.had[node]), 0) : whole;
}

/* Count the nodes that are enough before any job ends. */
static void count_now(const struct sched *s, const struct work *w, const struct want *want,
                      struct enough *have)
{
    bool all = !w->kinds && !s->capacity.closed && !s->promise.had &&
               spot_preempt_n_leaving(s) == 0;

    for (int level = 1; all && level <= s->pool->most; level++) {
        uint32_t nodes = s->capacity.level[level].count;

        have->one += level >= want->each ? nodes : 0;
        have->rest += want->rest && level >= want->rest ? nodes : 0;
    }
    for (uint32_t n = 0; !all && n < s->pool->n_nodes; n++)
        if (suits_kind(s, n, w)) {
            int left = left_of(s, n);

            have->one += left >= want->each;
            have->rest += want->rest && left >= want->rest;
        }
}

/* What is free now, and what spot jobs are leaving. */
static void begin(struct sched *s)
{
    if (s->back)
        memset(s->back, 0, s->pool->n_nodes * POOL_DEVICES * sizeof(*s->back));
    if (s->promise.had)
        memcpy(s->promise.had, service_had(s), s->pool->n_nodes * sizeof(*s->promise.had));
    memcpy(s->promise.spare, s->capacity.wholes, s->pool->n_nodes);
    for (size_t i = 0; i < spot_preempt_n_leaving(s); i++)
        for (uint32_t p = spot_preempt_leaving(s, i); p != NO_PART; p = s->capacity.parts[p].next) {
            const struct part *part = &s->capacity.parts[p];
            int whole = s->promise.spare[part->node] + given_back(s, part);

            s->promise.spare[part->node] = (uint8_t)whole;
        }
}

/* A job that runs ends: count the nodes that are enough from then on. */
static void add_end(struct sched *s, uint32_t ends, const struct work *w, const struct want *want,
                    struct enough *have)
{
    have->mw += power_drawn_mw(s, ends);
    for (uint32_t p = s->jobs[ends].part; p != NO_PART; p = s->capacity.parts[p].next) {
        const struct part *part = &s->capacity.parts[p];
        int from = left_of(s, part->node);

        s->promise.spare[part->node] = (uint8_t)(s->promise.spare[part->node] +
                                                 given_back(s, part));
        if (s->promise.had)
            s->promise.had[part->node] -= service_owned(s, ends, part);
        if (suits_kind(s, part->node, w))
            count(have, want, from, left_of(s, part->node));
    }
}

/* Spot jobs count as gone. */
static void make(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    int64_t free_ms = MAX(spot_preempt_over(s), now_ms), soon_ms = MAX(free_ms, now_ms + 1);
    struct want want = want_of(s, w);
    struct enough have = { .mw = power_left_mw(s) };
    size_t i = 0;

    s->promise.job = job;
    s->promise.start_ms = free_ms;
    want.mw = power_least_mw(s, job);
    begin(s);
    count_now(s, w, &want, &have);
    while (i < s->n_ends && !fits(&have, &want)) {
        const struct expected_end *x = &s->ends[i++];

        if (s->jobs[x->job].tier == TIER_SPOT)
            continue;
        s->promise.start_ms = MAX(x->end_ms, soon_ms);
        add_end(s, x->job, w, &want, &have);
    }
    if (!fits(&have, &want) || s->promise.start_ms == now_ms)
        s->promise.start_ms = WORK_UNKNOWN;
    s->promise.spare_mw = have.mw - want.mw;
    for (uint32_t n = 0; s->promise.had && n < s->pool->n_nodes; n++)
        s->promise.spare[n] = (uint8_t)left_of(s, n);
    take(s, w, want.each, want.n);
    if (want.rest)
        take(s, w, want.rest, 1);
}

void promise_make(struct sched *s, uint32_t job, int64_t now_ms)
{
    spot_preempt_lift(s, true);
    make(s, job, now_ms);
    spot_preempt_lift(s, false);
}

void promise_use(struct sched *s, uint32_t job)
{
    (void)job;
    s->promise.spare_mw -= power_fit_mw(s);
    for (uint32_t i = 0; i < s->fit.n; i++) {
        const struct part *p = &s->fit.parts[i];
        int n = __builtin_popcount(p->devices);

        s->promise.spare[p->node] = (uint8_t)(s->promise.spare[p->node] - n);
    }
}
