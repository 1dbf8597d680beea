/* The parts that policies have, and what each engine makes of them. What Slurm does is from its own
 * documentation (priority_multifactor, sched_config, preempt, resource_limits, topology and
 * slurm.conf of https://slurm.schedmd.com, releases 22.05 to 25.11); docs/sim/engines.md says which
 * setting does what. */
#include "sched/engine.h"

#include <string.h>

#include "sched/core/order.h"
#include "sched/place/place.h"

/* ---- whether a policy asks for it ---- */

static bool order_is(const struct policy *p, const char *value)
{
    return !strcmp(p->order->name, value);
}

static bool place_is(const struct policy *p, const char *value)
{
    return !strcmp(p->place->name, value);
}

static bool fills_greedily(const struct policy *p, const char *value)
{
    (void)value;
    return p->backfill == BACKFILL_GREEDY;
}

static bool fills_easily(const struct policy *p, const char *value)
{
    (void)value;
    return p->backfill == BACKFILL_EASY;
}

static bool stops_in_turn(const struct policy *p, const char *value)
{
    (void)value;
    return p->preempt == PREEMPT_QUOTA;
}

static bool rebuilds(const struct policy *p, const char *value)
{
    (void)value;
    return p->preempt == PREEMPT_REBUILD;
}

/* By its order, not by what it says about who is more important. */
static bool stops_by_order(const struct policy *p, const char *value)
{
    (void)value;
    return p->preempt == PREEMPT_VICTIMS && !p->priorities;
}

static bool restarts_all(const struct policy *p, const char *value)
{
    (void)value;
    return p->restart_each_pass;
}

static bool takes_turns(const struct policy *p, const char *value)
{
    (void)value;
    return p->interleave > 1;
}

static bool knows_truth(const struct policy *p, const char *value)
{
    (void)value;
    return p->length == LENGTH_ORACLE;
}

static bool knows_history(const struct policy *p, const char *value)
{
    (void)value;
    return p->length == LENGTH_HISTORY;
}

static bool counts_steps(const struct policy *p, const char *value)
{
    (void)value;
    return p->length == LENGTH_STEPS;
}

static bool ages(const struct policy *p, const char *value)
{
    (void)value;
    return p->ageing_ms > 0;
}

static bool borrows(const struct policy *p, const char *value)
{
    (void)value;
    return p->quota.n > 0 && p->quota.borrow;
}

static bool shrinks_idle(const struct policy *p, const char *value)
{
    (void)value;
    return p->idle.reclaim_ms > 0 && p->idle.action == IDLE_SHRINK;
}

static bool has_share(const struct policy *p, const char *value)
{
    (void)value;
    return p->share.below > 0;
}

static bool has_elastic(const struct policy *p, const char *value)
{
    (void)value;
    return p->elastic.on;
}

static bool has_service(const struct policy *p, const char *value)
{
    (void)value;
    return p->service.said;
}

static bool has_spot(const struct policy *p, const char *value)
{
    (void)value;
    return p->spot.said;
}

static bool has_power(const struct policy *p, const char *value)
{
    (void)value;
    return p->power.said;
}

/* ---- what an engine does instead ---- */

static void tell_limits(struct policy *p)
{
    p->length = LENGTH_LIMIT;
}

/* Conservative backfill does not go with reserves, spot jobs and idle devices. */
static void fill_by_limits(struct policy *p)
{
    bool takes = p->service.said || p->spot.said || p->idle.reclaim_ms > 0;

    p->backfill = takes ? BACKFILL_EASY : BACKFILL_CONSERVATIVE;
    p->length = LENGTH_LIMIT;
}

static void consolidate(struct policy *p)
{
    p->place = place_named("consolidate");
}

static void not_age(struct policy *p)
{
    p->ageing_ms = 0;
}

static void requeue_idle(struct policy *p)
{
    p->idle.action = IDLE_REQUEUE;
}

static void wall(struct policy *p)
{
    p->quota.borrow = false;
}

/* ---- the table ---- */

#define DOES \
    { \
        .can = ENGINE_DOES \
    }
#define CHANGES(instead, change, why) \
    { \
        ENGINE_CHANGES, why, instead, change \
    }
#define LACKS(why) \
    { \
        ENGINE_LACKS, why, NULL, NULL \
    }

/* What both do not do. */
#define MOVES LACKS("it moves jobs that run, which only brim sim can do")
#define TURNS LACKS("jobs cannot take turns on devices, which only brim sim can do")
#define STEPS LACKS("length = steps is for brim sim")
#define LIMITS \
    CHANGES("length = limit", tell_limits, \
            "it is told the limits of jobs, and nothing else of how long they take")

/* brim's queue. */
#define SIM_ONLY LACKS("only brim sim can do that")

/* Slurm. */
#define ORDERS \
    LACKS("Slurm's priorities are made of age, size, fair share, QOS and partition, and know " \
          "nothing of what this order needs")
#define SCORES \
    CHANGES("place = consolidate", consolidate, \
            "it fills the fullest node that has room, and knows no such scores")
#define FILLS \
    CHANGES("backfill by limits", fill_by_limits, \
            "its backfill delays none of those that go first, by their limits")
#define TIERS \
    LACKS("Slurm stops jobs for those of a higher QOS or partition alone: write preempt = " \
          "victims and priorities = yes")
#define AGES \
    CHANGES("no ageing", not_age, \
            "what waits for long gains priority, and others start beside it all the same")
#define WALLS \
    CHANGES("borrow = no", wall, \
            "a limit of an account or a QOS is a wall, and nothing behind it is lent")
#define REQUEUES \
    CHANGES("[idle] action = requeue", requeue_idle, \
            "who has no devices there cannot tell when it needs some again")
#define SHARDS \
    LACKS("jobs of Slurm share a device when they ask for shards, however busy they are: leave " \
          "the section out")
#define FIXED LACKS("a job of Slurm that holds GPUs cannot get more: leave the section out")
#define WATTS LACKS("Slurm does not know what power a job will draw: leave the section out")

const struct engine_part engine_parts[] = {
    /* where, whether a policy asks for it; brim's queue, Slurm */
    { "policy", "name", NULL, NULL, { DOES, DOES } },
    { "policy", "order", "sjf", order_is, { DOES, ORDERS } },
    { "policy", "order", "srtf", order_is, { DOES, ORDERS } },
    { "policy", "order", "srsf", order_is, { DOES, ORDERS } },
    { "policy", "order", "las", order_is, { DOES, ORDERS } },
    { "policy", "order", "deadline", order_is, { DOES, ORDERS } },
    { "policy", "place", "best-fit", place_is, { DOES, SCORES } },
    { "policy", "place", "fgd", place_is, { DOES, SCORES } },
    { "policy", "place", "balance", place_is, { DOES, SCORES } },
    { "policy", "backfill", "greedy", fills_greedily, { DOES, FILLS } },
    { "policy", "backfill", "easy", fills_easily, { DOES, FILLS } },
    { "policy", "preempt", "quota", stops_in_turn, { DOES, TIERS } },
    { "policy", "preempt", "rebuild", rebuilds, { MOVES, MOVES } },
    { "policy", "preempt", "victims", stops_by_order, { DOES, TIERS } },
    { "policy", "kinds", NULL, NULL, { DOES, DOES } },
    { "policy", "ties", NULL, NULL, { DOES, DOES } },
    { "policy", "length", "oracle", knows_truth, { LIMITS, LIMITS } },
    { "policy", "length", "history", knows_history, { LIMITS, LIMITS } },
    { "policy", "length", "steps", counts_steps, { STEPS, STEPS } },
    { "policy", "every", NULL, NULL, { DOES, DOES } },
    { "policy", "notice", NULL, NULL, { DOES, DOES } },
    { "policy", "restart", NULL, NULL, { DOES, DOES } },
    { "policy", "restart-multi", NULL, NULL, { DOES, DOES } },
    { "policy", "restart-adds", NULL, NULL, { DOES, DOES } },
    { "policy", "queues", NULL, NULL, { DOES, DOES } },
    { "policy", "half-life", NULL, NULL, { DOES, DOES } },
    { "policy", "least-run", NULL, NULL, { DOES, DOES } },
    { "policy", "ageing", NULL, ages, { DOES, AGES } },
    { "policy", "priorities", NULL, NULL, { DOES, DOES } },
    { "policy", "restart-each-pass", "yes", restarts_all, { MOVES, MOVES } },
    { "policy", "interleave", NULL, takes_turns, { TURNS, TURNS } },
    { "quota", NULL, NULL, NULL, { DOES, DOES } },
    { "quota", "borrow", "yes", borrows, { DOES, WALLS } },
    { "idle", NULL, NULL, NULL, { DOES, DOES } },
    { "idle", "action", "shrink", shrinks_idle, { DOES, REQUEUES } },
    { "share", NULL, NULL, has_share, { DOES, SHARDS } },
    { "elastic", NULL, NULL, has_elastic, { DOES, FIXED } },
    { "service", NULL, NULL, has_service, { SIM_ONLY, DOES } },
    { "spot", NULL, NULL, has_spot, { SIM_ONLY, DOES } },
    { "power", NULL, NULL, has_power, { SIM_ONLY, WATTS } },
};

const size_t engine_n_parts = ARRAY_SIZE(engine_parts);
