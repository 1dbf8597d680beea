#include "sched/tiers.h"

#include <errno.h>
#include <string.h>

#include "sched/sched_private.h"
#include "sched/speed.h"

enum { NOTHING = UINT8_MAX }; /* of a node may be taken: more than any has is kept */

/* ---- who is what ---- */

static size_t class_of(const struct sched *s, uint32_t job)
{
    return (size_t)(s->work->jobs[job].class + 1);
}

enum tier tiers_of(const struct sched *s, uint32_t job)
{
    return s->tiers.on ? (enum tier)s->tiers.tier[class_of(s, job)] : TIER_BATCH;
}

bool sched_is_service(const struct sched *s, uint32_t job)
{
    return tiers_of(s, job) == TIER_SERVICE;
}

bool sched_is_spot(const struct sched *s, uint32_t job)
{
    return tiers_of(s, job) == TIER_SPOT;
}

int sched_reserve(const struct sched *s, uint32_t node)
{
    return s->tiers.kept ? s->tiers.kept[node] : 0;
}

static void name_classes(struct sched *s, const struct policy_classes *c, enum tier tier)
{
    for (size_t i = 0; i < s->work->classes.n; i++)
        for (size_t k = 0; k < c->n; k++)
            if (!strcmp(s->work->classes.names[i], c->names[k])) {
                s->tiers.tier[i + 1] = (uint8_t)tier;
                s->tiers.number[i + 1] = (uint8_t)k;
            }
}

static int64_t devices_of(const struct policy_devices *d, const struct pool *pool)
{
    return d->of_all ? (int64_t)(d->amount / 100 * (double)pool->devices + 1e-9)
                     : (int64_t)d->amount;
}

/* ---- the reserve ---- */

static bool owns(const struct tiers *t, size_t number, uint32_t node)
{
    return t->owner[node] == number || t->owner[node] == TIER_CLASSES;
}

/* The kinds that suit all jobs of the classes that own a reserve; of none, any. */
static uint64_t kinds_of(const struct sched *s, size_t owner)
{
    uint64_t kinds = UINT64_MAX;

    for (uint32_t i = 0; i < s->work->n_jobs; i++)
        if (tiers_of(s, i) == TIER_SERVICE && s->work->jobs[i].kinds &&
            (owner == TIER_CLASSES || s->tiers.number[class_of(s, i)] == owner))
            kinds &= s->work->jobs[i].kinds;
    return kinds ? kinds : UINT64_MAX;
}

/* On the last nodes that suit and are nobody's yet. */
static int keep_back(struct sched *s, size_t owner, int64_t devices, struct err *e)
{
    struct tiers *t = &s->tiers;
    uint64_t kinds = kinds_of(s, owner);
    int64_t left = devices;

    for (uint32_t n = (uint32_t)s->pool->n_nodes; n-- > 0 && left > 0;) {
        const struct pool_node *node = &s->pool->nodes[n];

        if (t->kept[n] || !(kinds >> node->kind & 1))
            continue;
        t->owner[n] = (uint8_t)owner;
        t->keep[n] = t->kept[n] = (uint8_t)MIN(left, (int64_t)node->devices);
        left -= t->kept[n];
    }
    if (left == 0)
        return 0;
    return err_set(e, -EINVAL, "%s: a reserve is %lld devices, and only %lld suit and are left",
                   s->policy.name, (long long)devices, (long long)(devices - left));
}

/* Shares are of what is left for batch jobs. */
static int check_shares(const struct sched *s, struct err *e)
{
    int64_t left = s->pool->devices, shares = quota_shares(s);

    for (size_t n = 0; n < s->pool->n_nodes; n++)
        left -= s->tiers.kept[n];
    if (shares <= left)
        return 0;
    return err_set(e, -EINVAL,
                   "%s: the shares are %lld devices, and %lld are left beside a reserve",
                   s->policy.name, (long long)shares, (long long)left);
}

static int open_reserves(struct sched *s, struct err *e)
{
    const struct policy_service *p = &s->policy.service;
    struct tiers *t = &s->tiers;
    size_t n = s->pool->n_nodes + 1;
    int rc = 0;

    if (p->n_reserves == 0)
        return 0;
    t->kept = arena_alloc(&s->arena, n);
    t->owner = arena_alloc(&s->arena, n);
    t->had = arena_alloc(&s->arena, n * sizeof(*t->had));
    t->view = arena_alloc(&s->arena, n);
    t->keep = arena_alloc(&s->arena, n);
    if (!t->kept || !t->owner || !t->had || !t->view || !t->keep)
        return err_nomem(e);
    for (size_t i = 0; i < p->n_reserves && rc == 0; i++)
        rc = keep_back(s, p->owner[i], devices_of(&p->reserve[i], s->pool), e);
    return rc < 0 ? rc : check_shares(s, e);
}

int tiers_open(struct sched *s, struct err *e)
{
    size_t n = s->work->n_jobs + 1, classes = s->work->classes.n + 1;
    const struct policy *p = &s->policy;
    struct tiers *t = &s->tiers;

    if (!p->service.said && !p->spot.said)
        return 0;
    t->tier = arena_alloc(&s->arena, classes);
    t->number = arena_alloc(&s->arena, classes);
    t->failed = arena_alloc(&s->arena, (s->work->n_shapes + 1) * TIER_CLASSES * sizeof(*t->failed));
    t->waits[TIER_SERVICE].jobs = arena_alloc(&s->arena, n * sizeof(uint32_t));
    t->waits[TIER_SPOT].jobs = arena_alloc(&s->arena, n * sizeof(uint32_t));
    t->victims = arena_alloc(&s->arena, n * sizeof(*t->victims));
    t->rest.parts = arena_alloc(&s->arena, (s->pool->n_nodes + 1) * sizeof(*t->rest.parts));
    if (!t->tier || !t->number || !t->failed || !t->waits[TIER_SERVICE].jobs ||
        !t->waits[TIER_SPOT].jobs || !t->victims || !t->rest.parts)
        return err_nomem(e);
    if (p->spot.notice_ms > 0) {
        t->ready = arena_alloc(&s->arena, n * sizeof(*t->ready));
        if (!t->ready)
            return err_nomem(e);
    }
    t->on = true;
    name_classes(s, &p->service.classes, TIER_SERVICE);
    name_classes(s, &p->spot.classes, TIER_SPOT);
    t->ceiling = p->spot.ceiling.amount > 0 ? devices_of(&p->spot.ceiling, s->pool) * WORK_WHOLE
                                            : WORK_UNKNOWN;
    return open_reserves(s, e);
}

/* ---- what waits and runs ---- */

static size_t find_waiting(const struct tier_queue *q, uint32_t job)
{
    size_t low = 0, high = q->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (q->jobs[middle] < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tiers_queue(struct sched *s, uint32_t job)
{
    struct tier_queue *q = &s->tiers.waits[tiers_of(s, job)];
    size_t at = find_waiting(q, job);

    memmove(&q->jobs[at + 1], &q->jobs[at], (q->n++ - at) * sizeof(*q->jobs));
    q->jobs[at] = job;
}

void tiers_unqueue(struct sched *s, uint32_t job)
{
    struct tier_queue *q = &s->tiers.waits[tiers_of(s, job)];
    size_t at = find_waiting(q, job);

    memmove(&q->jobs[at], &q->jobs[at + 1], (--q->n - at) * sizeof(*q->jobs));
}

static int64_t needs(const struct sched *s, uint32_t job)
{
    return (int64_t)s->work->jobs[job].devices * s->work->jobs[job].milli;
}

int tiers_keep(const struct sched *s, uint32_t node, int32_t had)
{
    return MAX(s->tiers.kept[node] - had / WORK_WHOLE, 0);
}

int32_t tiers_owned(const struct sched *s, uint32_t job, const struct part *part)
{
    const struct tiers *t = &s->tiers;

    if (tiers_of(s, job) != TIER_SERVICE || !t->kept[part->node] ||
        !owns(t, t->number[class_of(s, job)], part->node))
        return 0;
    return part->milli * __builtin_popcount(part->devices);
}

void tiers_count(struct sched *s, uint32_t job, int sign)
{
    struct tiers *t = &s->tiers;
    enum tier tier = tiers_of(s, job);

    if (tier == TIER_SPOT) {
        t->n_spot = sign > 0 ? t->n_spot + 1 : t->n_spot - 1;
        t->used += sign * needs(s, job);
        t->most += (int64_t)sign * s->work->jobs[job].devices;
    }
    if (tier != TIER_SERVICE || !t->keep)
        return;
    for (uint32_t p = s->jobs[job].part; p != NO_PART; p = s->capacity.parts[p].next) {
        const struct part *x = &s->capacity.parts[p];

        t->had[x->node] += sign * tiers_owned(s, job, x);
        t->keep[x->node] = (uint8_t)tiers_keep(s, x->node, t->had[x->node]);
    }
}

void tiers_start(struct sched *s, uint32_t job, struct action *why)
{
    struct tiers *t = &s->tiers;

    tiers_count(s, job, 1);
    if (tiers_of(s, job) == TIER_SERVICE)
        s->promise.job = WAITING_NONE; /* it may have what was promised */
    why->ready_ms = t->ready_ms;
    if (t->ready)
        t->ready[job] = t->ready_ms;
    t->ready_ms = 0;
}

/* What a service leaves free: the reserves of others; where it looks at its own only, all but what
 * is left of that. */
static const uint8_t *view_of(struct sched *s, uint32_t job)
{
    struct tiers *t = &s->tiers;
    size_t number = t->number[class_of(s, job)];

    for (uint32_t n = 0; n < s->pool->n_nodes; n++)
        if (!t->kept[n] || !owns(t, number, n))
            t->view[n] = t->own ? NOTHING : t->keep[n];
        else
            t->view[n] = (uint8_t)(t->own ? MAX(s->capacity.nodes[n].n_whole - t->keep[n], 0) : 0);
    return t->view;
}

bool tiers_find(struct sched *s, uint32_t job)
{
    struct tiers *t = &s->tiers;
    enum tier tier = tiers_of(s, job);
    bool found;

    if (tier == TIER_SPOT && t->ceiling != WORK_UNKNOWN && t->used + needs(s, job) > t->ceiling)
        return false;
    if (tier == TIER_BATCH && !quota_allows(s, job))
        return false;
    if (t->keep && tier != TIER_SPOT)
        s->capacity.keep = tier == TIER_SERVICE ? view_of(s, job) : t->keep;
    found = speed_find(s, job);
    s->capacity.keep = NULL;
    return found;
}

/* ---- passes ---- */

/* What of those that wait find no place: once in a sweep is enough for all that need the same. */
static uint64_t *failed(struct sched *s, uint32_t job)
{
    return &s->tiers.failed[(size_t)s->work->jobs[job].shape * TIER_CLASSES +
                            s->tiers.number[class_of(s, job)]];
}

static bool has_reserve(const struct sched *s, uint32_t job)
{
    const struct policy_service *p = &s->policy.service;
    size_t number = s->tiers.number[class_of(s, job)];

    for (size_t i = 0; i < p->n_reserves; i++)
        if (p->owner[i] == TIER_CLASSES || p->owner[i] == number)
            return true;
    return false;
}

/* In the reserve of its own class. */
static int find_own(struct sched *s, uint32_t job, int64_t now_ms, bool clear)
{
    int found = 0;

    if (!has_reserve(s, job))
        return 0;
    s->tiers.own = true;
    found = sched_find_place(s, job);
    if (!found && clear)
        found = spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
    s->tiers.own = false;
    return found;
}

/* A place for a replica: its reserve, from which spot jobs go; what is free; what spot jobs, idle
 * jobs and then batch jobs give up. Where spot jobs get a notice, what is free goes before that. */
static int find_service(struct sched *s, uint32_t job, int64_t now_ms, uint8_t *why)
{
    bool at_once = s->policy.spot.notice_ms == 0;
    int found = find_own(s, job, now_ms, at_once);

    *why = WHY_RESERVE;
    if (found != 0)
        return found;
    if (!sched_find_place(s, job)) {
        found = at_once ? 0 : find_own(s, job, now_ms, true);
        if (found != 0)
            return found;
        found = spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
        if (found == 0 && s->idle.jobs)
            found = idle_reclaim(s, job, now_ms);
        if (found == 0 && s->policy.service.preempt && s->policy.quota.borrow)
            found = spot_preempt_find(s, job, now_ms, YIELDS_ABOVE);
        if (found == 0 && s->policy.service.preempt)
            found = spot_preempt_find(s, job, now_ms, YIELDS_BATCH);
    } else {
        found = 1;
    }
    *why = WHY_SERVICE;
    return found;
}

static int sweep(struct sched *s, int64_t now_ms, enum tier tier)
{
    const struct tier_queue *q = &s->tiers.waits[tier];
    size_t i = 0;

    s->tiers.sweep++;
    while (i < q->n) {
        uint32_t job = q->jobs[i];
        struct action why = { .why = WHY_SPOT, .other = WAITING_NONE, .until_ms = WORK_UNKNOWN };
        int found = 0;

        if (*failed(s, job) != s->tiers.sweep)
            found = tier == TIER_SERVICE ? find_service(s, job, now_ms, &why.why)
                                         : sched_find_place(s, job);
        if (found < 0 || (found && state_start(s, job, now_ms, &why) < 0))
            return -1;
        if (!found) {
            *failed(s, job) = s->tiers.sweep;
            i++;
        }
    }
    return 0;
}

int services_pass(struct sched *s, int64_t now_ms)
{
    return sweep(s, now_ms, TIER_SERVICE);
}

int spot_pass(struct sched *s, int64_t now_ms)
{
    return sweep(s, now_ms, TIER_SPOT);
}
