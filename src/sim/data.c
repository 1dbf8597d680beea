/* Jobs that say where their data are: a start elsewhere costs the time to bring them. */
#include <errno.h>

#include "sim/sim_private.h"

int sim_open_data(struct sim *m)
{
    if (!work_data_costs(m->work))
        return 0;
    m->data_until_ms = arena_alloc(&m->result->arena, m->work->n_jobs * sizeof(*m->data_until_ms));
    return m->data_until_ms ? 0 : -ENOMEM;
}

/* Device time. */
static double held(const struct sim *m, uint32_t job, int64_t ms)
{
    return (double)sim_devices(m, job) * m->work->jobs[job].milli / WORK_WHOLE * (double)ms;
}

int64_t sim_bring_data(struct sim *m, uint32_t job)
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
    if (m->fresh_ms)
        m->fresh_ms[job] += wish->data_ms;
    d->brought += held(m, job, wish->data_ms);
    return wish->data_ms;
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
