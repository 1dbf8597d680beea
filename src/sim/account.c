/* What a job of the simulator has done and has left, while it runs and when it stops. */
#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/heap.h"
#include "sim/outages.h"
#include "sim/sim_private.h"

int64_t sim_ran(struct sim *m, uint32_t job)
{
    int64_t early = m->since_ms[job] - m->now_ms;

    if (early > 0) {
        m->result->jobs[job].wait_ms -= early;
        m->since_ms[job] = m->now_ms;
        if (m->counting->early)
            m->counting->early(m, job, early);
    }
    return m->now_ms - m->since_ms[job];
}

int64_t sim_account(struct sim *m, uint32_t job, bool lost)
{
    const struct work *w = &m->work->jobs[job];
    struct sim_losses *l = &m->result->losses;
    int64_t ran = sim_ran(m, job), fresh = m->fresh_ms[job];
    struct outage_work did = outages_did(ran - fresh, m->left_ms[job] - fresh, w->checkpoint_ms,
                                         m->save_cost_ms);
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

void sim_count_work(struct sim *m, uint32_t job)
{
    int64_t ran = sim_ran(m, job), unpaid = sim_drop_data(m, job);

    m->left_ms[job] = MAX(m->left_ms[job] - ran - unpaid, 0);
    m->fresh_ms[job] = MAX(m->fresh_ms[job] - ran - unpaid, 0);
}

void sim_stop_job(struct sim *m, uint32_t job)
{
    int64_t ran = sim_ran(m, job);

    m->result->jobs[job].ran_ms += ran;
    m->result->jobs[job].more_ms += ran * (sim_devices(m, job) - m->work->jobs[job].devices);
    SIM_CALL(m, stops, job);
}

int sim_expect(struct sim *m, uint32_t job, bool runs)
{
    int64_t at_ms;

    m->start[job]++;
    at_ms = m->counting->until_ms(m, job, runs, runs ? m->policy->notice_ms : 0);
    return at_ms == WORK_UNKNOWN ? 0 : heap_add(&m->ends, at_ms, job, m->start[job]);
}

void sim_scale(struct sim *m, uint32_t job, bool starts)
{
    SIM_CALL(m, scales, job, starts);
}
