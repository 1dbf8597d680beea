/* What a job of the simulator has done and has left, while it runs and when it stops. */
#include <errno.h>
#include <math.h>

#include "sim/heap.h"
#include "sim/outages.h"
#include "sim/sim_private.h"

/* How long a job that starts now takes. */
static int64_t takes(const struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];

    if (!m->outages)
        return m->left_ms[job];
    return m->fresh_ms[job] + outages_takes(m->left_ms[job] - m->fresh_ms[job], w->checkpoint_ms,
                                            m->outages->o.checkpoint_cost_ms);
}

int64_t sim_ran(struct sim *m, uint32_t job)
{
    int64_t early = m->since_ms[job] - m->now_ms;

    if (early > 0) {
        m->result->jobs[job].wait_ms -= early;
        m->since_ms[job] = m->now_ms;
        if (m->use.jobs)
            m->use.jobs[job].start_ms -= early;
    }
    return m->now_ms - m->since_ms[job];
}

static int64_t checkpoint_cost(const struct sim *m)
{
    return m->outages ? m->outages->o.checkpoint_cost_ms : 0;
}

int64_t sim_account(struct sim *m, uint32_t job, bool lost)
{
    const struct work *w = &m->work->jobs[job];
    struct sim_losses *l = &m->result->losses;
    int64_t ran = sim_ran(m, job), fresh = m->fresh_ms[job];
    struct outage_work did = outages_did(ran - fresh, m->left_ms[job] - fresh, w->checkpoint_ms,
                                         checkpoint_cost(m));
    double devices = (double)sim_devices(m, job) * w->milli / WORK_WHOLE;
    int64_t back = lost ? did.did_ms - did.saved_ms : 0;

    l->restarts += devices * (double)MIN(ran, fresh);
    l->saving += devices * (double)did.paid_ms;
    l->redone += devices * (double)back;
    m->left_ms[job] += back - did.did_ms - fresh;
    m->fresh_ms[job] = 0;
    (void)sim_drop_data(m, job); /* it was a part of the start */
    return back;
}

int64_t sim_count(struct sim *m, uint32_t job)
{
    int64_t ran = sim_ran(m, job), unpaid;

    if (m->outages && !m->use.jobs) {
        sim_account(m, job, false);
        return 0;
    }
    unpaid = sim_drop_data(m, job);
    m->left_ms[job] = MAX(m->left_ms[job] - ran - unpaid, 0);
    if (m->fresh_ms)
        m->fresh_ms[job] = MAX(m->fresh_ms[job] - ran - unpaid, 0);
    return unpaid;
}

void sim_stop_job(struct sim *m, uint32_t job)
{
    int64_t ran = sim_ran(m, job);

    m->result->jobs[job].ran_ms += ran;
    m->result->jobs[job].more_ms += ran * (sim_devices(m, job) - m->work->jobs[job].devices);
    if (m->policy->service.said || m->policy->spot.said)
        sim_tiers_ran(m, job);
    if (m->span)
        m->result->spans[m->span[job]].to_ms = m->now_ms;
}

int sim_begin_span(struct sim *m, uint32_t job)
{
    struct sim_result *r = m->result;
    struct sim_span *x = ARENA_PUSH(&r->arena, &r->spans, &r->n_spans);

    if (!x)
        return -ENOMEM;
    *x = (struct sim_span){ m->now_ms, m->now_ms, job, sim_devices(m, job) };
    m->span[job] = (uint32_t)r->n_spans - 1;
    return 0;
}

int sim_expect(struct sim *m, uint32_t job, bool runs)
{
    int64_t at = WORK_UNKNOWN, notice = runs ? m->policy->notice_ms : 0;

    m->start[job]++;
    if (m->use.jobs)
        at = use_until_ms(&m->use, job) + (m->use.jobs[job].more ? 0 : notice);
    else if (runs)
        at = m->since_ms[job] + takes(m, job) + notice;
    return at == WORK_UNKNOWN ? 0 : heap_add(&m->ends, at, job, m->start[job]);
}

void sim_scale(struct sim *m, uint32_t job, bool starts)
{
    double by;

    if (m->devices)
        sim_scale_elastic(m, job, starts);
    if (!m->speed || (!m->work->jobs[job].speeds && m->policy->power.action != POWER_LIMIT))
        return;
    if (starts)
        m->speed[job] = sched_job(m->sched, job)->speed;
    by = starts ? 1 / (double)m->speed[job] : (double)m->speed[job];
    m->left_ms[job] = (int64_t)ceil((double)m->left_ms[job] * by);
    if (m->fresh_ms)
        m->fresh_ms[job] = (int64_t)ceil((double)m->fresh_ms[job] * by);
}
