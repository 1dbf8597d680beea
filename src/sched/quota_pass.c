/* With quotas and no preemption inside a class: each class, or team, has a queue of its own. A job
 * that finds no place holds up those behind it in its own queue (backfill = none), or no one. */
#include "sched/sched_private.h"

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

        if (found == 0 && s->policy.quota.borrow && quota_within(s, job))
            found = quota_reclaim(s, job, now_ms);
        why.why = quota_within(s, job) ? WHY_WITHIN : WHY_LENT;
        if (found < 0 || (found && state_start(s, job, now_ms, &why) < 0))
            return -1;
        if (found)
            s->cursor[group] = waiting_next(&s->waiting, group, &key, WORK_UNKNOWN);
        else
            pass_over(s, group);
    }
    return 0;
}

int pass_quota(struct sched *s, int64_t now_ms)
{
    return quota_pass(s, now_ms, sweep);
}
