#include "sched/feature/spot.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/core/action.h"
#include "sched/core/find_place.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"
#include "sched/feature/spot_preempt.h"
#include "sched/feature/tiers_private.h"

static int open_spot(struct sched *s, struct err *e)
{
    const struct policy_spot *p = &s->policy.spot;
    int rc;

    if (!p->said)
        return 0;
    rc = tiers_open(s, e);
    if (rc < 0)
        return rc;
    tiers_name(s, &p->classes, TIER_SPOT);
    if (p->ceiling.amount > 0)
        s->tiers->ceiling = tiers_devices(s, &p->ceiling) * WORK_WHOLE;
    if (p->notice_ms > 0) {
        s->ready_ms = arena_alloc(&s->arena, s->work->n_jobs * sizeof(*s->ready_ms));
        if (!s->ready_ms)
            return err_nomem(e);
    }
    return 1;
}

static void close_spot(struct sched *s)
{
    free(s->tiers->leaving);
}

/* ---- what waits and runs ---- */

static void queued(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->jobs[job].tier == TIER_SPOT)
        tiers_queue(s, job);
}

static void unqueued(struct sched *s, uint32_t job)
{
    if (s->jobs[job].tier == TIER_SPOT)
        tiers_unqueue(s, job);
}

/* It has devices from now on (1), or has none any more (-1). */
static void count(struct sched *s, uint32_t job, int sign)
{
    struct tiers *t = s->tiers;

    t->n_spot = sign > 0 ? t->n_spot + 1 : t->n_spot - 1;
    t->used += sign * tiers_needs(s, job);
    t->most += (int64_t)sign * s->work->jobs[job].devices;
}

/* Any job: its devices may have to be left yet by spot jobs. */
static void starts(struct sched *s, uint32_t job, int64_t now_ms, struct action *a)
{
    (void)now_ms;
    if (s->jobs[job].tier == TIER_SPOT)
        count(s, job, 1);
    a->ready_ms = s->tiers->ready_ms;
    if (s->ready_ms)
        s->ready_ms[job] = s->tiers->ready_ms;
    s->tiers->ready_ms = 0;
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->jobs[job].tier == TIER_SPOT)
        count(s, job, -1);
}

/* ---- places ---- */

/* All spot jobs together stay below their ceiling. */
static bool allows(struct sched *s, uint32_t job)
{
    const struct tiers *t = s->tiers;

    return s->jobs[job].tier != TIER_SPOT || t->ceiling == WORK_UNKNOWN ||
           t->used + tiers_needs(s, job) <= t->ceiling;
}

static int64_t could_free(const struct sched *s, uint32_t job)
{
    (void)job;
    return s->tiers->most;
}

static int frees(struct sched *s, uint32_t job, int64_t now_ms)
{
    return spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
}

/* ---- passes ---- */

static int begin(struct sched *s, int64_t now_ms)
{
    spot_preempt_settle(s, now_ms);
    return 0;
}

static int find(struct sched *s, uint32_t job, int64_t now_ms, uint8_t *why)
{
    (void)now_ms;
    *why = WHY_SPOT;
    return sched_find_place(s, job);
}

static int finish(struct sched *s, int64_t now_ms)
{
    return tiers_sweep(s, now_ms, TIER_SPOT, find);
}

static int64_t again_ms(const struct sched *s, int64_t now_ms)
{
    (void)now_ms;
    return spot_preempt_again(s);
}

/* ---- sentences ---- */

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    if (a->why == WHY_SPOT) {
        str_add(out, ": a spot job, on what nobody else wants");
        return true;
    }
    if (a->why != WHY_WAY)
        return false;
    str_add(out, ": spot jobs give way, to ");
    reason_other(s, a->other, out);
    if (a->until_ms > now_ms) {
        str_add(out, "; it has ");
        reason_time(out, a->until_ms - now_ms);
        str_add(out, " to leave");
    }
    return true;
}

const struct feature feature_spot = {
    .section = "spot",
    .take = spot_take,
    .from_start = true,
    .open = open_spot,
    .close = close_spot,
    .queued = queued,
    .unqueued = unqueued,
    .starts = starts,
    .stops = stops,
    .allows = allows,
    .could_free = could_free,
    .frees = frees,
    .begin = begin,
    .finish = finish,
    .again_ms = again_ms,
    .reason = reason,
};
