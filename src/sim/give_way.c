/* A spot job gives way. */
#include "sim/sim_private.h"

/* Where activity is known: what it has not saved is work alone. Returns what it goes back by. */
static int64_t lose_use(struct sim *m, uint32_t job, bool saved, int64_t restart)
{
    int64_t back = 0;

    if (saved)
        use_hold(&m->use, job, m->now_ms, false, restart);
    else
        back = use_lose(&m->use, job, m->now_ms, restart);
    m->left_ms[job] = use_left(&m->use, job);
    return back;
}

int sim_give_way(struct sim *m, uint32_t job)
{
    const struct policy_spot *p = &m->policy->spot;
    const struct work *w = &m->work->jobs[job];
    bool saved = p->save_ms >= 0 && p->save_ms <= p->notice_ms;
    int64_t restart = sched_restart_ms(m->sched, job), back;

    back = m->use.jobs ? lose_use(m, job, saved, restart) : sim_account(m, job, !saved);
    m->result->tiers.redone += (double)back * w->devices * w->milli / WORK_WHOLE;
    m->result->tiers.gave_way++;
    m->result->preemptions++;
    if (!m->use.jobs) {
        sim_scale(m, job, false);
        m->left_ms[job] += restart;
    }
    sim_stop_job(m, job);
    m->since_ms[job] = m->now_ms;
    m->fresh_ms[job] = restart;
    return m->use.jobs ? sim_expect(m, job, false) : 0;
}
