#include "cmd/sim/power.h"

#include <errno.h>
#include <math.h>

#include "plan/cluster/curves.h"
#include "power_limits_csv.h"

static int unknown(const struct policy *p, const char *kind, struct err *e)
{
    if (!*kind)
        return err_set(e, -EINVAL,
                       "%s: [power] needs to know what devices draw: say what they are, --gpu "
                       "A100-40GB, or --power 700:75 (busy:idle)",
                       p->name);
    return err_set(e, -EINVAL,
                   "%s: [power] needs to know what %s draws busy and idle: --power "
                   "%s=700:75",
                   p->name, kind, kind);
}

/* The measured limits of a device, as shares of the full one. */
static int add_steps(struct watts *w, const struct curves *curves, const char *name,
                     const struct policy *p, struct err *e)
{
    size_t n;
    const struct curve_row *rows = curves_find(curves, name, &n);

    if (!rows)
        return err_set(e, -EINVAL,
                       "%s: how fast %s is at lower limits of power is not known: curve = NAME in "
                       "[power] takes that of A100-PCIe-80GB, A40 or V100-PCIe",
                       p->name, *name ? name : "a device without a name");
    for (size_t i = 1; i < n && w->n_steps < WATTS_STEPS; i++)
        w->steps[w->n_steps++] = (struct watts_step){ rows[i].limit_w / rows[0].limit_w,
                                                      rows[i].speed };
    return 0;
}

static int find_kind(struct watts *w, const struct policy *p, const char *kind,
                     const struct curves *curves, struct device_prices *rates, struct err *e)
{
    int row = device_prices_row(rates, kind, e);
    const struct rate *x;

    if (row < 0)
        return row;
    x = &rates->rows[row];
    if (isnan(x->busy_w) || isnan(x->idle_w))
        return unknown(p, x->gpu && !*kind ? x->gpu : kind, e);
    if (x->idle_w > x->busy_w)
        return err_set(e, -EINVAL, "%s: a device cannot draw more idle than busy: --power",
                       p->name);
    w->busy_mw = (int64_t)llround(x->busy_w * 1e3);
    w->idle_mw = (int64_t)llround(x->idle_w * 1e3);
    if (p->power.action != POWER_LIMIT)
        return 0;
    return add_steps(w, curves, *p->power.curve ? p->power.curve : x->gpu ? x->gpu : kind, p, e);
}

int sim_power_find(const struct watts **ret, struct arena *a, const struct policy *policy,
                   const struct pool *pool, struct device_prices *rates, struct err *e)
{
    struct curves curves = { .n_rows = 0 };
    struct watts *w;
    int rc;

    *ret = NULL;
    if (policy->power.cap_mw == 0)
        return 0;
    w = arena_alloc(a, pool->n_kinds * sizeof(*w));
    if (!w)
        return err_nomem(e);
    rc = curves_load(&curves, (const char *)data_power_limits_csv, data_power_limits_csv_len, e);
    for (size_t k = 0; k < pool->n_kinds && rc == 0; k++)
        rc = find_kind(&w[k], policy, pool->kinds[k], &curves, rates, e);
    curves_done(&curves);
    *ret = w;
    return rc;
}
