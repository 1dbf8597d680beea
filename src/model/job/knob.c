#include "model/job/knob.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/opt.h"
#include "base/parse.h"

static const char *const apply_names[] = {
    [KNOB_ENV] = "env",           [KNOB_SHIM] = "shim",       [KNOB_FLAG] = "flag",
    [KNOB_LAUNCHER] = "launcher", [KNOB_BINDING] = "binding", [KNOB_DEVICE] = "device",
    [KNOB_SCRIPT] = "script",
};
static const char *const effect_names[] = {
    [KNOB_LIVE] = "live",
    [KNOB_EPOCH] = "epoch",
    [KNOB_RESTART] = "restart",
};
static const char *const risk_names[] = {
    [KNOB_SAFE] = "safe",
    [KNOB_NUMERIC] = "numeric",
    [KNOB_PRIVILEGED] = "privileged",
};

const char *knob_apply_name(enum knob_apply a)
{
    return apply_names[a];
}

const char *knob_effect_name(enum knob_effect f)
{
    return effect_names[f];
}

const char *knob_risk_name(enum knob_risk r)
{
    return risk_names[r];
}

void knobs_done(struct knobs *k)
{
    arena_done(&k->arena);
    *k = (struct knobs){ .count = 0 };
}

const struct knob *knobs_find(const struct knobs *k, const char *name)
{
    for (size_t i = 0; i < k->count; i++)
        if (!strcmp(k->list[i].name, name))
            return &k->list[i];
    return NULL;
}

static const char *name_at(const void *ctx, size_t i)
{
    const struct knobs *k = ctx;

    return k->list[i].name;
}

const char *knobs_near(const struct knobs *k, const char *name)
{
    return opt_nearest(name, k->count, name_at, k);
}

static int check_listed(const struct knob *k, const char *value, struct err *e)
{
    for (size_t i = 0; i < k->n_list; i++)
        if (!strcmp(k->list[i], value))
            return 0;
    return err_set(e, -EINVAL, "%s does not take '%s'; its first value is '%s'", k->name, value,
                   k->list[0]);
}

int knob_check(const struct knob *k, const char *value, struct err *e)
{
    int64_t number;

    if (k->kind == KNOB_LIST)
        return check_listed(k, value, e);
    if (parse_i64(value, &number) < 0 || (double)number < k->low || (double)number > k->high)
        return err_set(e, -EINVAL, "%s takes %.0f to %.0f, not '%s'", k->name, k->low, k->high,
                       value);
    return 0;
}

const char *knob_rate(const struct knob *k, const char *value, char buf[KNOB_VALUE_MAX])
{
    double number, times;

    if (parse_double(value, &number) < 0 || !(number > 0))
        return NULL;
    times = number / k->rate_at;
    snprintf(buf, KNOB_VALUE_MAX, "%.6g", k->rate * (k->rate_root ? sqrt(times) : times));
    return buf;
}

const char *knob_value(const struct knob *k, size_t i, char buf[KNOB_VALUE_MAX])
{
    double number = k->low;

    if (k->kind == KNOB_LIST)
        return i < k->n_list ? k->list[i] : NULL;
    if (k->kind == KNOB_MODEL)
        return NULL;
    if (!k->doubles)
        number += (double)i;
    for (size_t n = 0; k->doubles && n < i && number <= k->high; n++)
        number *= 2;
    if (number > k->high)
        return NULL;
    snprintf(buf, KNOB_VALUE_MAX, "%.0f", number);
    return buf;
}
