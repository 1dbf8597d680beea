#include "cmd/sim/money.h"

#include <math.h>

static const double hour_ms = 3600e3, mw_of_kw = 1e6;

/* How many devices are of each kind. */
static void count_kinds(const struct pool *pool, double devices[POOL_KINDS])
{
    for (size_t k = 0; k < pool->n_kinds; k++)
        devices[k] = 0;
    for (size_t i = 0; i < pool->n_nodes; i++)
        devices[pool->nodes[i].kind] += pool->nodes[i].devices;
}

int sim_money_find(struct sim_money *ret, struct device_prices *rates, const struct sim_result *r,
                   const struct pool *pool, struct err *e)
{
    double devices[POOL_KINDS], hours = (double)r->counted_ms / hour_ms;
    struct sim_money m = { .kwh = 0 };

    count_kinds(pool, devices);
    for (size_t k = 0; k < pool->n_kinds; k++) {
        int row = device_prices_row(rates, pool->kinds[k], e);
        double busy = (r->used_of ? r->used_of[k] : r->used) / hour_ms, idle;
        const struct rate *x;

        if (row < 0)
            return row;
        x = &rates->rows[row];
        idle = devices[k] * hours - busy;
        m.kwh += (busy * x->busy_w + (isnan(x->idle_w) ? 0 : idle * x->idle_w)) / 1e3;
        m.usd += devices[k] * hours * x->usd_per_hour;
        m.usd_idle += idle * x->usd_per_hour;
    }
    if (hours > 0) {
        double price = m.usd / ((double)pool->devices * hours);

        m.usd_redone = r->losses.redone / hour_ms * price;
        m.usd_spot = r->tiers.spot / hour_ms * price;
    }
    if (r->tiers.drawn > 0)
        m.kwh = r->tiers.drawn / hour_ms / mw_of_kw;
    *ret = m;
    return 0;
}
