/* A job does something else with its devices. */
#include <errno.h>

#include "sim/sim_private.h"

int sim_change(struct sim *m, uint32_t job)
{
    const struct sched_job *j = sched_job(m->sched, job);
    int64_t passed = use_count(&m->use, job, m->now_ms);
    bool asked = m->policy->idle.reclaim_ms > 0;

    sim_pass_without(m, job, passed);
    if (use_over(&m->use, job))
        return sim_end_job(m, job) < 0 ? -ENOMEM : true;
    if (j->state == SCHED_AWAY) {
        m->result->jobs[job].away_ms += m->now_ms - m->since_ms[job];
        m->since_ms[job] = m->now_ms;
        sched_wake(m->sched, job, m->now_ms, passed);
        asked = true;
    }
    if (j->state != SCHED_RUNNING)
        return sim_expect(m, job, false) < 0 ? -ENOMEM : asked;
    sim_tell_use(m, job);
    if (m->partner[job] != WAITING_NONE && sim_set_rate(m, m->partner[job]) < 0)
        return -ENOMEM;
    return sim_set_rate(m, job) < 0 ? -ENOMEM : asked;
}
