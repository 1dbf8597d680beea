/* A spot job gives way. */
#include "sim/counting.h"
#include "sim/sim_private.h"

int sim_give_way(struct sim *m, uint32_t job)
{
    const struct policy_spot *p = &m->policy->spot;
    const struct work *w = &m->work->jobs[job];
    bool saved = p->save_ms >= 0 && p->save_ms <= p->notice_ms;
    int64_t restart = sched_restart_ms(m->sched, job), back;

    back = m->counting->goes_back(m, job, !saved, restart);
    m->result->tiers.redone += (double)back * w->devices * w->milli / WORK_WHOLE;
    m->result->tiers.gave_way++;
    m->result->preemptions++;
    sim_stop_job(m, job);
    m->since_ms[job] = m->now_ms;
    m->fresh_ms[job] = restart;
    return m->counting->waits ? m->counting->waits(m, job) : 0;
}
