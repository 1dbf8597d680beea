#include "cmd/sim/beside.h"

#include <math.h>
#include <stdio.h>

static const char *const heads[BESIDE_COLUMNS] = { "completion", "allocated", "busy" };

static size_t each(const struct sim_report *r)
{
    return r->then ? 2 : 1;
}

size_t sim_beside_rows(const struct sim_report *r)
{
    size_t rows = r->n_runs * each(r);

    return rows > 1 && r->runs[0].stats.all.jobs > 0 ? rows : 0;
}

size_t sim_beside_columns(const struct sim_report *r)
{
    return r->runs[0].result.measured ? BESIDE_COLUMNS : BESIDE_COLUMNS - 1;
}

const char *sim_beside_head(size_t column)
{
    return heads[column];
}

static const struct sim_run *run_of(const struct sim_report *r, size_t row)
{
    return r->then && row % 2 ? &r->then[row / 2] : &r->runs[row / each(r)];
}

static double longest(const struct sim_report *r)
{
    double most = 0;

    for (size_t i = 0; i < r->n_runs * each(r); i++)
        most = fmax(most, run_of(r, i)->stats.all.completion);
    return most;
}

static struct quantity percent(double share)
{
    struct quantity q = { "?" };

    if (!isnan(share))
        snprintf(q.text, sizeof(q.text), "%.1f %%", share * 100);
    return q;
}

void sim_beside_row(const struct sim_report *r, size_t row, struct sim_beside *ret)
{
    const struct sim_run *run = run_of(r, row);
    double most = longest(r);

    *ret = (struct sim_beside){
        .run = run,
        .then = r->then && row % 2,
        .shares = { most > 0 ? run->stats.all.completion / most : 0, run->stats.allocated,
                    run->stats.busy },
        .values = { quantity_span(run->stats.all.completion), percent(run->stats.allocated),
                    percent(run->stats.busy) },
    };
}
