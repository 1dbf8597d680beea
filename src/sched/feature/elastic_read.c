/* Section [elastic] of a policy. */
#include <errno.h>
#include <string.h>

#include "base/ini.h"
#include "sched/feature/elastic.h"
#include "sched/policy/policy.h"
#include "sched/policy/policy_value.h"

static const int64_t every_usual_ms = 600000;

int elastic_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_elastic *p = &policy->elastic;
    const struct {
        const char *key;
        bool *ret;
    } flags[] = { { "start", &p->start }, { "give", &p->give }, { "grow", &p->grow } };

    if (!p->on)
        *p = (struct policy_elastic){ true, true, true, true, every_usual_ms };
    if (!at->key)
        return 0;
    if (!strcmp(at->key, "every"))
        return policy_duration(&p->every_ms, at, e);
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (!strcmp(flags[i].key, at->key)) {
            *flags[i].ret = !strcmp(at->value, "yes");
            if (*flags[i].ret || !strcmp(at->value, "no"))
                return 0;
            return err_set(e, -EINVAL, "%s:%d: %s is yes or no", at->file, at->line, at->key);
        }
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [elastic]", at->file, at->line, at->key);
}

int elastic_check(const struct policy *p, const char *file, struct err *e)
{
    const struct policy_elastic *x = &p->elastic;

    if (!x->on)
        return 0;
    if (!x->start && !x->give && !x->grow)
        return err_set(e, -EINVAL, "%s: [elastic] needs start, give or grow = yes", file);
    if (x->every_ms == 0)
        return err_set(e, -EINVAL, "%s: [elastic] every is a time above 0s", file);
    if (p->share.below > 0)
        return err_set(e, -EINVAL, "%s: [elastic] does not go with [share]", file);
    if (p->service.said || p->spot.said || p->power.cap_mw > 0)
        return err_set(e, -EINVAL, "%s: [elastic] does not go with [service], [spot] or [power]",
                       file);
    if (p->restart_each_pass)
        return err_set(e, -EINVAL, "%s: [elastic] does not go with restart-each-pass", file);
    if (p->backfill == BACKFILL_CONSERVATIVE || p->preempt == PREEMPT_QUOTA ||
        p->preempt == PREEMPT_REBUILD)
        return err_set(e, -EINVAL,
                       "%s: [elastic] is for backfill = none, greedy or easy, and preempt = none "
                       "or victims",
                       file);
    return 0;
}
