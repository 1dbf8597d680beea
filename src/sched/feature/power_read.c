/* Section [power] of a policy. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "sched/policy/policy.h"
#include "sched/feature/power.h"

static const double most_w = 1e12;

/* "120kW", "800 W", "1.5MW". */
static int take_watts(int64_t *ret_mw, const struct ini_entry *at, struct err *e)
{
    static const struct {
        const char *unit;
        double watts;
    } units[] = { { "kW", 1e3 }, { "MW", 1e6 }, { "W", 1 } };
    size_t len = strlen(at->value);
    char number[32];
    double w;

    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        size_t unit = strlen(units[i].unit), n = len - unit;

        if (len <= unit || strcmp(at->value + n, units[i].unit) != 0)
            continue;
        while (n > 0 && at->value[n - 1] == ' ')
            n--;
        if (n == 0 || n >= sizeof(number))
            break;
        memcpy(number, at->value, n);
        number[n] = '\0';
        if (parse_double(number, &w) < 0 || !(w > 0) || w * units[i].watts > most_w)
            break;
        *ret_mw = (int64_t)llround(w * units[i].watts * 1e3);
        return 0;
    }
    return err_set(e, -EINVAL, "%s:%d: %s = %s: power is a number and W, kW or MW: 120kW", at->file,
                   at->line, at->key, at->value);
}

static int take_least(double *ret, const struct ini_entry *at, struct err *e)
{
    size_t len = strlen(at->value);
    double value = 0;
    char text[16];

    if (len > 1 && len < sizeof(text) && at->value[len - 1] == '%') {
        memcpy(text, at->value, len - 1);
        text[len - 1] = '\0';
        if (parse_double(text, &value) < 0)
            value = 0;
    }
    if (!(value > 0 && value <= 100))
        return err_set(e, -EINVAL, "%s:%d: least is a share of the full limit: 60%%", at->file,
                       at->line);
    *ret = value / 100;
    return 0;
}

static int take_action(enum policy_power_action *ret, const struct ini_entry *at, struct err *e)
{
    bool limit = !strcmp(at->value, "limit");

    if (!limit && strcmp(at->value, "wait") != 0)
        return err_set(e, -EINVAL, "%s:%d: action of [power] is wait or limit", at->file, at->line);
    *ret = limit ? POWER_LIMIT : POWER_WAIT;
    return 0;
}

int power_take(struct policy *policy, const struct ini_entry *at, struct err *e)
{
    struct policy_power *p = &policy->power;

    p->said = true;
    if (!at->key)
        return 0;
    if (!strcmp(at->key, "cap"))
        return take_watts(&p->cap_mw, at, e);
    if (!strcmp(at->key, "node"))
        return take_watts(&p->node_mw, at, e);
    if (!strcmp(at->key, "action"))
        return take_action(&p->action, at, e);
    if (!strcmp(at->key, "least"))
        return take_least(&p->least, at, e);
    if (strcmp(at->key, "curve") != 0)
        return err_set(e, -EINVAL, "%s:%d: unknown key '%s' in [power]", at->file, at->line,
                       at->key);
    if (!*at->value || snprintf(p->curve, sizeof(p->curve), "%s", at->value) >= TIER_NAME)
        return err_set(e, -EINVAL, "%s:%d: curve is the name of a device of 1 to %d letters",
                       at->file, at->line, TIER_NAME - 1);
    return 0;
}

int power_check(const struct policy *p, const char *file, struct err *e)
{
    const struct policy_power *w = &p->power;

    if (!w->said)
        return 0;
    if (w->cap_mw == 0)
        return err_set(e, -EINVAL, "%s: [power] needs a cap, such as cap = 120kW", file);
    if (w->action != POWER_LIMIT && (w->curve[0] || w->least > 0))
        return err_set(e, -EINVAL, "%s: curve and least of [power] are for action = limit", file);
    if (p->preempt != PREEMPT_NONE)
        return err_set(e, -EINVAL, "%s: [power] is for preempt = none", file);
    if (p->spot.notice_ms > 0)
        return err_set(e, -EINVAL, "%s: [power] does not go with a notice of [spot]", file);
    return 0;
}
