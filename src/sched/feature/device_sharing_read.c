/* Section [share] of a policy. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "model/job/job_spec.h"
#include "sched/feature/device_sharing.h"
#include "sched/policy/policy.h"
#include "sched/policy/policy_value.h"

enum { ALL = 100 }; /* per cent */

static int percent(int *ret, int most, const struct ini_entry *at, struct err *e)
{
    size_t len = strlen(at->value);
    double value = -1;
    char text[16];

    if (len > 1 && len < sizeof(text) && at->value[len - 1] == '%') {
        memcpy(text, at->value, len - 1);
        text[len - 1] = '\0';
        if (parse_double(text, &value) < 0)
            value = -1;
    }
    if (!(value >= 0 && value <= most))
        return err_set(e, -EINVAL, "%s:%d: %s is 0%% to %d%%", at->file, at->line, at->key, most);
    *ret = (int)lround(value * WORK_WHOLE / ALL);
    return 0;
}

int device_sharing_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_share_devices *p = &policy->share;

    if (!at->key)
        return 0;
    if (!strcmp(at->key, "below"))
        return percent(&p->below, ALL, at, e);
    if (!strcmp(at->key, "together"))
        return percent(&p->together, 2 * ALL, at, e);
    if (!strcmp(at->key, "cost"))
        return percent(&p->cost, ALL, at, e);
    if (!strcmp(at->key, "after"))
        return policy_duration(&p->after_ms, at, e);
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [share]", at->file, at->line, at->key);
}

int device_sharing_check(const struct policy *p, const char *file, struct err *e)
{
    const struct policy_share_devices *s = &p->share;

    if (s->below == 0)
        return s->together || s->cost || s->after_ms
                   ? err_set(e, -EINVAL, "%s: [share] needs below, such as below = 50%%", file)
                   : 0;
    if (s->together == 0 || s->after_ms == 0)
        return err_set(e, -EINVAL, "%s: [share] needs together and after, such as together = 90%%",
                       file);
    if (p->backfill > BACKFILL_GREEDY || p->preempt == PREEMPT_QUOTA ||
        p->preempt == PREEMPT_REBUILD || p->length != LENGTH_NONE)
        return err_set(e, -EINVAL,
                       "%s: [share] is for backfill = none or greedy, preempt = none or victims, "
                       "length = none",
                       file);
    return 0;
}
