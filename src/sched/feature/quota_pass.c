/* With quotas and no preemption inside a class: each class, or team, has a queue of its own. A job
 * that finds no place holds up those behind it in its own queue (backfill = none), or no one. */
#include <errno.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/core/find_place.h"
#include "sched/core/queue.h"
#include "sched/feature/quota_private.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"
#include "sched/feature/service.h"
#include "sched/core/state.h"

/* ---- opening ---- */

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

static int64_t all_shares(const struct sched *s)
{
    int64_t sum = 0;

    for (size_t i = 0; i < s->policy.quota.n; i++)
        sum += s->quota->share[i] / WORK_WHOLE;
    return sum;
}

/* Shares are of what is left for batch jobs. */
static int check_shares(const struct sched *s, struct err *e)
{
    int64_t there = s->pool->devices, left = there - service_keeps_all(s), shares = all_shares(s);

    if (shares > there)
        return err_set(e, -EINVAL, "%s: the shares are %lld %s, and there are %lld", s->policy.name,
                       (long long)shares, pool_word(s->pool, shares), (long long)there);
    if (shares > left)
        return err_set(e, -EINVAL, "%s: the shares are %lld %s, and %lld are left beside a reserve",
                       s->policy.name, (long long)shares, pool_word(s->pool, shares),
                       (long long)left);
    return 1;
}

static int open_quota(struct sched *s, struct err *e)
{
    const struct policy_quota *q = &s->policy.quota;
    const struct work_names *names = names_of(s);

    if (q->n == 0)
        return 0;
    s->quota = arena_alloc(&s->arena, sizeof(*s->quota));
    if (!s->quota)
        return err_nomem(e);
    s->quota->n = (uint32_t)q->n + 1;
    s->quota->lends = q->borrow;
    s->quota->slot = arena_alloc(&s->arena, names->n + 1);
    s->quota->victims = arena_alloc(&s->arena, s->work->n_jobs * sizeof(struct victim));
    if (!s->quota->slot || !s->quota->victims)
        return err_nomem(e);
    s->quota->slot[0] = (uint8_t)q->n;
    for (size_t i = 0; i < names->n; i++)
        s->quota->slot[i + 1] = find_share(q, names->names[i]);
    for (size_t i = 0; i < q->n; i++) {
        const struct policy_share *share = &q->shares[i];
        int64_t devices = share->of_all
                              ? (int64_t)(share->amount / 100 * (double)s->pool->devices + 1e-9)
                              : (int64_t)share->amount;

        s->quota->share[i] = devices * WORK_WHOLE;
    }
    return check_shares(s, e);
}

/* ---- jobs ---- */

static void runs(struct sched *s, uint32_t job, int64_t since_ms)
{
    (void)since_ms;
    quota_count(s, job, 1);
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (!s->jobs[job].guest)
        quota_count(s, job, -1);
}

static void lifts(struct sched *s, uint32_t job, bool up)
{
    quota_count(s, job, up ? -1 : 1);
}

static bool allows(struct sched *s, uint32_t job)
{
    return s->jobs[job].tier != TIER_BATCH || quota_allows(s, job);
}

/* ---- passes ---- */

/* No job of the group starts in this sweep, nor, where nobody overtakes, any of its queue. */
static void pass_over(struct sched *s, uint32_t group)
{
    uint32_t slot = quota_slot(s, s->cursor[group]);
    bool stay = s->policy.backfill == BACKFILL_NONE || s->jobs[s->cursor[group]].aged;

    for (uint32_t g = 0; g < s->n_groups; g++)
        if (g == group ||
            (stay && s->cursor[g] != WAITING_NONE && quota_slot(s, s->cursor[g]) == slot))
            s->cursor[g] = WAITING_NONE;
}

static int sweep(struct sched *s, int64_t now_ms)
{
    uint32_t group;

    for (uint32_t g = 0; g < s->n_groups; g++)
        s->cursor[g] = waiting_next(&s->waiting, g, NULL, WORK_UNKNOWN);
    while ((group = queue_first_group(s)) != WAITING_NONE) {
        uint32_t job = s->cursor[group];
        struct order_key key = s->waiting.nodes[job].key;
        struct action why = { .other = WAITING_NONE };
        int found = sched_free_place(s, job, now_ms);

        if (found == 0)
            found = quota_reclaim(s, job, now_ms);
        why.why = (uint8_t)quota_why(s, job, WHY_FIRST);
        if (found < 0 || (found && state_start(s, job, now_ms, &why) < 0))
            return -1;
        if (found)
            s->cursor[group] = waiting_next(&s->waiting, group, &key, WORK_UNKNOWN);
        else
            pass_over(s, group);
    }
    return 0;
}

static int pass(struct sched *s, int64_t now_ms)
{
    return quota_sweeps(s, now_ms, sweep);
}

/* ---- sentences ---- */

static void add_share(const struct sched *s, uint32_t job, struct str *out)
{
    const struct work *w = &s->work->jobs[job];
    bool team = s->policy.quota.by_team;
    const struct work_names *names = team ? &s->work->teams : &s->work->classes;
    int number = team ? w->team : w->class;

    if (number >= 0)
        str_addf(out, "the share of %s %s", team ? "team" : "class", names->names[number]);
    else
        str_addf(out, "the share of those without a %s", team ? "team" : "class");
    str_addf(out, " (%g)", (double)s->quota->share[quota_slot(s, job)] / WORK_WHOLE);
}

bool quota_says(const struct sched *s, uint32_t job, struct str *out)
{
    if (quota_within(s, job))
        return false;
    str_add(out, "it is above ");
    add_share(s, job, out);
    return true;
}

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    switch (a->why) {
    case WHY_WITHIN:
        str_add(out, ": it is within ");
        add_share(s, a->job, out);
        return true;
    case WHY_LENT:
        str_add(out, ": it borrows, above ");
        add_share(s, a->job, out);
        str_add(out, ", what nobody within a share needs");
        return true;
    case WHY_RECLAIM:
        str_add(out, ": it is above ");
        add_share(s, a->job, out);
        str_add(out, ", and ");
        reason_other(s, a->other, out);
        str_add(out, ", is within ");
        add_share(s, a->other, out);
        return true;
    default:
        return false;
    }
}

const struct feature feature_quota = {
    .section = "quota",
    .take = quota_take,
    .check = quota_check,
    .orders = true,
    .open = open_quota,
    .runs = runs,
    .stops = stops,
    .allows = allows,
    .lifts = lifts,
    .pass = pass,
    .reason = reason,
};
