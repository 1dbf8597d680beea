/* Jobs that say how busy they keep their devices: idle stretches, and devices that two share. */
#include <errno.h>

#include "sim/sim_private.h"

void sim_pass_without(struct sim *m, uint32_t job, int64_t ms)
{
    const struct sched_job *j = sched_job(m->sched, job);

    if (ms == 0)
        return;
    m->left_ms[job] -= ms;
    m->result->jobs[job].idle_ms += ms;
    if (j->state == SCHED_RUNNING && j->left_ms != WORK_UNKNOWN)
        sched_progress(m->sched, job, m->now_ms, MAX(sched_job_left(j, m->now_ms) - ms, 0));
}

/* How fast a job works beside the one that shares its devices. */
static double rate_of(const struct sim *m, uint32_t job)
{
    uint32_t partner = m->partner[job];
    int use, other;

    if (partner == WAITING_NONE)
        return sim_pace(m, job);
    use = use_milli(&m->use, job);
    other = use_milli(&m->use, partner);
    if (use <= WORK_IDLE || other <= WORK_IDLE)
        return 1;
    return WORK_WHOLE / (double)MAX(use + other, WORK_WHOLE) * WORK_WHOLE /
           (WORK_WHOLE + m->policy->share.cost);
}

int sim_set_rate(struct sim *m, uint32_t job)
{
    use_rate(&m->use, job, m->now_ms, rate_of(m, job));
    return sim_expect(m, job, true);
}

int sim_part(struct sim *m, uint32_t job)
{
    uint32_t partner = m->use.jobs ? m->partner[job] : WAITING_NONE;

    if (partner == WAITING_NONE)
        return 0;
    m->partner[job] = m->partner[partner] = WAITING_NONE;
    use_rate(&m->use, job, m->now_ms, 1);
    use_guest(&m->use, job, m->now_ms, false);
    use_guest(&m->use, partner, m->now_ms, false);
    return sim_set_rate(m, partner);
}

void sim_tell_use(struct sim *m, uint32_t job)
{
    if (m->policy->idle.reclaim_ms > 0 || m->policy->share.below > 0)
        sched_use(m->sched, job, m->now_ms, use_milli(&m->use, job));
}

int sim_join(struct sim *m, uint32_t guest, uint32_t host)
{
    sim_stop_job(m, guest);
    use_hold(&m->use, guest, m->now_ms, true, sched_restart_ms(m->sched, guest));
    use_guest(&m->use, guest, m->now_ms, true);
    m->left_ms[guest] = use_left(&m->use, guest);
    m->since_ms[guest] = m->now_ms;
    m->partner[guest] = host;
    m->partner[host] = guest;
    m->result->joined++;
    if (m->span && sim_begin_span(m, guest) < 0)
        return -ENOMEM;
    return sim_set_rate(m, guest) < 0 ? -ENOMEM : sim_set_rate(m, host);
}
