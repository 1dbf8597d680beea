/* Jobs that say where their data are: a start elsewhere costs the time to bring them. */
#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    size_t n = m->work->n_jobs + 1;

    if (m->work->data.n == 0)
        return 0;
    m->data_until_ms = arena_alloc(&m->result->arena, n * sizeof(*m->data_until_ms));
    return m->data_until_ms ? 1 : err_nomem(e);
}

/* Device time. */
static double held(const struct sim *m, uint32_t job, int64_t ms)
{
    return (double)sim_devices(m, job) * m->work->jobs[job].milli / WORK_WHOLE * (double)ms;
}

/* It pays when it is away from its data. */
static int started(struct sim *m, uint32_t job, int64_t *delay_ms)
{
    const struct work_wish *wish = m->work->jobs[job].wish;
    struct sim_data *d = &m->result->data;

    if (!wish || !wish->data)
        return 0;
    d->starts++;
    if (!sched_is_away(m->sched, job))
        return 0;
    d->away++;
    if (wish->data_ms == 0)
        return 0;
    m->data_until_ms[job] = m->since_ms[job] + wish->data_ms;
    m->left_ms[job] += wish->data_ms;
    m->fresh_ms[job] += wish->data_ms;
    d->brought += held(m, job, wish->data_ms);
    *delay_ms += wish->data_ms;
    return 0;
}

int64_t sim_drop_data(struct sim *m, uint32_t job)
{
    int64_t unpaid_ms;

    if (!m->data_until_ms || m->data_until_ms[job] <= m->now_ms)
        return 0;
    unpaid_ms = MIN(m->data_until_ms[job] - m->now_ms, m->work->jobs[job].wish->data_ms);
    m->data_until_ms[job] = 0;
    m->result->data.brought -= held(m, job, unpaid_ms);
    return unpaid_ms;
}

const struct sim_feature sim_data = { .open = open, .started = started };
