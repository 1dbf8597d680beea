/* Section [idle] of a policy. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "sched/feature/idle.h"
#include "sched/policy/policy.h"
#include "sched/policy/policy_value.h"

static int take_exempt(struct policy_idle *p, const struct ini_entry *at, struct err *e)
{
    char *name = p->exempt[p->n_exempt];

    if (p->n_exempt == POLICY_EXEMPT)
        return err_set(e, -EINVAL, "%s:%d: at most %d classes are exempt", at->file, at->line,
                       POLICY_EXEMPT);
    if (snprintf(name, POLICY_NAME, "%s", at->value) >= POLICY_NAME)
        return err_set(e, -EINVAL, "%s:%d: a class has a name of at most %d letters", at->file,
                       at->line, POLICY_NAME - 1);
    p->n_exempt++;
    return 0;
}

int idle_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_idle *p = &policy->idle;
    static const char *const actions[] = { "warn", "shrink", "requeue" };
    const struct {
        const char *key;
        int64_t *ret;
    } times[] = {
        { "warn", &p->warn_ms },   { "reclaim", &p->reclaim_ms }, { "again", &p->again_ms },
        { "burst", &p->burst_ms }, { "grace", &p->grace_ms },
    };

    if (!at->key)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        if (!strcmp(times[i].key, at->key))
            return policy_duration(times[i].ret, at, e);
    if (!strcmp(at->key, "exempt"))
        return take_exempt(p, at, e);
    if (strcmp(at->key, "action") != 0)
        return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [idle]", at->file, at->line,
                       at->key);
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
        if (!strcmp(actions[i], at->value)) {
            p->action = (enum policy_idle_action)i;
            p->acts = true;
            return 0;
        }
    return err_set(e, -EINVAL, "%s:%d: action is one of warn, shrink, requeue", at->file, at->line);
}

static int check_times(const struct policy_idle *p, const char *file, struct err *e)
{
    bool said = p->acts || p->warn_ms || p->again_ms || p->burst_ms || p->grace_ms || p->n_exempt;

    if (p->reclaim_ms == 0)
        return said ? err_set(e, -EINVAL, "%s: [idle] needs reclaim, such as reclaim = 1h", file)
                    : 0;
    if (!p->acts)
        return err_set(e, -EINVAL, "%s: [idle] needs action = warn, shrink or requeue", file);
    if (p->warn_ms > p->reclaim_ms)
        return err_set(e, -EINVAL, "%s: [idle] warns after it reclaims", file);
    if (p->again_ms > p->reclaim_ms)
        return err_set(e, -EINVAL, "%s: [idle] again is no longer than reclaim", file);
    if (p->burst_ms >= p->reclaim_ms || (p->warn_ms && p->burst_ms >= p->warn_ms) ||
        (p->again_ms && p->burst_ms >= p->again_ms))
        return err_set(e, -EINVAL, "%s: [idle] burst is shorter than warn, reclaim and again",
                       file);
    return 0;
}

int idle_check(const struct policy *p, const char *file, struct err *e)
{
    int rc = check_times(&p->idle, file, e);

    if (rc < 0)
        return rc;
    if (p->idle.reclaim_ms > 0 && (p->backfill == BACKFILL_CONSERVATIVE ||
                                   p->preempt == PREEMPT_QUOTA || p->preempt == PREEMPT_REBUILD))
        return err_set(e, -EINVAL,
                       "%s: [idle] is for backfill = none, greedy or easy, and preempt = none or "
                       "victims",
                       file);
    return 0;
}
