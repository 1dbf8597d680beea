#include "sched/feature/service.h"

#include <errno.h>

#include "sched/core/action.h"
#include "sched/core/find_place.h"
#include "sched/feature/quota.h"
#include "sched/core/reason_text.h"
#include "sched/feature/reclaim.h"
#include "sched/core/scheduler.h"
#include "sched/feature/spot_preempt.h"
#include "sched/feature/tiers.h"

enum { NOTHING = UINT8_MAX }; /* of a node may be taken: more than any has is kept */

/* The reserve, by node; NULL: there is none. */
struct service {
    uint8_t *kept, *owner; /* devices, and whose: the number of a class; TIER_CLASSES: all */
    int32_t *had;          /* what its owners have there, in thousandths of devices */
    uint8_t *keep;         /* what others leave free */
    uint8_t *view;         /* the same as a service sees it */
    bool own;              /* services look at their own reserve alone */
};

int service_reserve(const struct sched *s, uint32_t node)
{
    return s->service && s->service->kept ? s->service->kept[node] : 0;
}

const int32_t *service_had(const struct sched *s)
{
    return s->service ? s->service->had : NULL;
}

int service_keeps(const struct sched *s, uint32_t node, int32_t had)
{
    return MAX(s->service->kept[node] - had / WORK_WHOLE, 0);
}

int service_keeps_now(const struct sched *s, uint32_t node)
{
    return s->service && s->service->keep ? s->service->keep[node] : 0;
}

int64_t service_keeps_all(const struct sched *s)
{
    int64_t sum = 0;

    for (size_t n = 0; s->service && s->service->kept && n < s->pool->n_nodes; n++)
        sum += s->service->kept[n];
    return sum;
}

/* ---- opening ---- */

static bool owns(const struct service *x, size_t number, uint32_t node)
{
    return x->owner[node] == number || x->owner[node] == TIER_CLASSES;
}

/* The kinds that suit all jobs of the classes that own a reserve; of none, any. */
static uint64_t kinds_of(const struct sched *s, size_t owner)
{
    uint64_t kinds = UINT64_MAX;

    for (uint32_t i = 0; i < s->work->n_jobs; i++)
        if (s->jobs[i].tier == TIER_SERVICE && s->work->jobs[i].kinds &&
            (owner == TIER_CLASSES || tiers_number(s, i) == owner))
            kinds &= s->work->jobs[i].kinds;
    return kinds ? kinds : UINT64_MAX;
}

/* On the last nodes that suit and are nobody's yet. */
static int keep_back(struct sched *s, size_t owner, int64_t devices, struct err *e)
{
    struct service *x = s->service;
    uint64_t kinds = kinds_of(s, owner);
    int64_t left = devices;

    for (uint32_t n = (uint32_t)s->pool->n_nodes; n-- > 0 && left > 0;) {
        const struct pool_node *node = &s->pool->nodes[n];

        if (x->kept[n] || !(kinds >> node->kind & 1))
            continue;
        x->owner[n] = (uint8_t)owner;
        x->keep[n] = x->kept[n] = (uint8_t)MIN(left, (int64_t)node->devices);
        left -= x->kept[n];
    }
    if (left == 0)
        return 0;
    return err_set(e, -EINVAL, "%s: a reserve is %lld %s, and only %lld suit and are left",
                   s->policy.name, (long long)devices, pool_word(s->pool, devices),
                   (long long)(devices - left));
}

static int open_reserves(struct sched *s, struct err *e)
{
    const struct policy_service *p = &s->policy.service;
    struct service *x = s->service;
    size_t n = s->pool->n_nodes + 1;
    int rc = 0;

    if (p->n_reserves == 0)
        return 0;
    x->kept = arena_alloc(&s->arena, n);
    x->owner = arena_alloc(&s->arena, n);
    x->had = arena_alloc(&s->arena, n * sizeof(*x->had));
    x->view = arena_alloc(&s->arena, n);
    x->keep = arena_alloc(&s->arena, n);
    if (!x->kept || !x->owner || !x->had || !x->view || !x->keep)
        return err_nomem(e);
    for (size_t i = 0; i < p->n_reserves && rc == 0; i++)
        rc = keep_back(s, p->owner[i], tiers_devices(s, &p->reserve[i]), e);
    return rc;
}

static int open_service(struct sched *s, struct err *e)
{
    int rc;

    if (!s->policy.service.said)
        return 0;
    rc = tiers_open(s, e);
    if (rc < 0)
        return rc;
    tiers_name(s, &s->policy.service.classes, TIER_SERVICE);
    s->service = arena_alloc(&s->arena, sizeof(*s->service));
    if (!s->service)
        return err_nomem(e);
    rc = open_reserves(s, e);
    return rc < 0 ? rc : 1;
}

/* ---- what waits and runs ---- */

static void queued(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->jobs[job].tier == TIER_SERVICE)
        tiers_queue(s, job);
}

static void unqueued(struct sched *s, uint32_t job)
{
    if (s->jobs[job].tier == TIER_SERVICE)
        tiers_unqueue(s, job);
}

int32_t service_owned(const struct sched *s, uint32_t job, const struct part *part)
{
    const struct service *x = s->service;

    if (s->jobs[job].tier != TIER_SERVICE || !x->kept[part->node] ||
        !owns(x, tiers_number(s, job), part->node))
        return 0;
    return part->milli * __builtin_popcount(part->devices);
}

/* It has devices from now on (1), or has none any more (-1). */
static void count(struct sched *s, uint32_t job, int sign)
{
    struct service *x = s->service;

    for (uint32_t p = s->jobs[job].part; x->keep && p != NO_PART; p = s->capacity.parts[p].next) {
        const struct part *part = &s->capacity.parts[p];

        x->had[part->node] += sign * service_owned(s, job, part);
        x->keep[part->node] = (uint8_t)service_keeps(s, part->node, x->had[part->node]);
    }
}

static void starts(struct sched *s, uint32_t job, int64_t now_ms, struct action *a)
{
    (void)now_ms, (void)a;
    if (s->jobs[job].tier != TIER_SERVICE)
        return;
    count(s, job, 1);
    s->promise.job = WAITING_NONE; /* it may have what was promised */
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->jobs[job].tier == TIER_SERVICE)
        count(s, job, -1);
}

/* ---- places ---- */

/* What a service leaves free: the reserves of others; where it looks at its own only, all but what
 * is left of that. */
static const uint8_t *view_of(struct sched *s, uint32_t job)
{
    struct service *x = s->service;
    size_t number = tiers_number(s, job);

    for (uint32_t n = 0; n < s->pool->n_nodes; n++)
        if (!x->kept[n] || !owns(x, number, n))
            x->view[n] = x->own ? NOTHING : x->keep[n];
        else
            x->view[n] = (uint8_t)(x->own ? MAX(s->capacity.nodes[n].n_whole - x->keep[n], 0) : 0);
    return x->view;
}

/* Batch jobs leave what is kept; spot jobs run there, too. */
static void narrows(struct sched *s, uint32_t job)
{
    if (s->service->keep && s->jobs[job].tier != TIER_SPOT)
        s->capacity.keep = s->jobs[job].tier == TIER_SERVICE ? view_of(s, job) : s->service->keep;
}

static bool has_reserve(const struct sched *s, uint32_t job)
{
    const struct policy_service *p = &s->policy.service;
    size_t number = tiers_number(s, job);

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
    s->service->own = true;
    found = sched_find_place(s, job);
    if (!found && clear)
        found = spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
    s->service->own = false;
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
        if (found == 0)
            found = reclaim_find(s, job, now_ms);
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

static int begin(struct sched *s, int64_t now_ms)
{
    return tiers_sweep(s, now_ms, TIER_SERVICE, find_service);
}

/* ---- sentences ---- */

static void add_class(const struct sched *s, uint32_t job, struct str *out)
{
    int class = s->work->jobs[job].class;

    str_addf(out, "a replica of %s", class < 0 ? "-" : s->work->classes.names[class]);
}

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    switch (a->why) {
    case WHY_RESERVE:
        str_add(out, ": ");
        add_class(s, a->job, out);
        str_add(out, ", in the reserve");
        return true;
    case WHY_SERVICE:
        str_add(out, ": ");
        add_class(s, a->job, out);
        str_add(out, s->policy.service.n_reserves ? ", beyond the reserve" : ", which go first");
        return true;
    case WHY_REPLICA:
        str_add(out, ": they are for ");
        reason_other(s, a->other, out);
        str_add(out, " and is ");
        add_class(s, a->other, out);
        return true;
    default:
        return false;
    }
}

const struct feature feature_service = {
    .section = "service",
    .take = service_take,
    .check = tiers_check,
    .from_start = true,
    .open = open_service,
    .queued = queued,
    .unqueued = unqueued,
    .starts = starts,
    .stops = stops,
    .narrows = narrows,
    .begin = begin,
    .reason = reason,
};
