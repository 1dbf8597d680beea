#include "cmd/sim_money.h"

#include <math.h>

static const double hour_ms = 3600e3;

/* How many devices are of each kind. */
static void count_kinds(const struct pool *pool, double devices[POOL_KINDS])
{
    for (size_t k = 0; k < pool->n_kinds; k++)
        devices[k] = 0;
    for (size_t i = 0; i < pool->n_nodes; i++)
        devices[pool->nodes[i].kind] += pool->nodes[i].devices;
}

int sim_money_find(struct sim_money *ret, struct rates *rates, const struct sim_result *r,
                   const struct pool *pool, struct err *e)
{
    double devices[POOL_KINDS], hours = (double)r->submitted_ms / hour_ms;
    struct sim_money m = { .kwh = 0 };

    count_kinds(pool, devices);
    for (size_t k = 0; k < pool->n_kinds; k++) {
        int row = rates_row(rates, pool->kinds[k], e);
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
    m.usd_redone = hours > 0
                       ? r->losses.redone / hour_ms * (m.usd / ((double)pool->devices * hours))
                       : 0;
    *ret = m;
    return 0;
}

int sim_money_hour(double *ret, struct rates *rates, const struct pool *pool, struct err *e)
{
    double devices[POOL_KINDS], usd = 0;

    count_kinds(pool, devices);
    for (size_t k = 0; k < pool->n_kinds; k++) {
        int row = rates_row(rates, pool->kinds[k], e);

        if (row < 0)
            return row;
        usd += devices[k] * rates->rows[row].usd_per_hour;
    }
    *ret = usd;
    return 0;
}
