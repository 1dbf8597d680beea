/* Replicas, spot jobs and power in the simulator. */
#include <errno.h>

#include "sim/sim_private.h"

int sim_tiers_open(struct sim *m, struct err *e)
{
    const struct policy *p = m->policy;
    int rc;

    if (p->power.action == POWER_LIMIT && m->use.jobs)
        return err_set(e, -EINVAL, "%s: action = limit is for jobs whose activity nobody knows",
                       p->name);
    if (p->power.cap_mw > 0 && !m->options->watts)
        return err_set(e, -EINVAL,
                       "%s: [power] needs to know what devices draw, which is not "
                       "known of nodes to add",
                       p->name);
    if (p->spot.said) {
        m->fresh_ms = arena_alloc(&m->result->arena, (m->work->n_jobs + 1) * sizeof(*m->fresh_ms));
        if (!m->fresh_ms)
            return err_nomem(e);
        m->use.saves = true; /* what they have saved is not lost when they give way */
    }
    rc = sched_open(&m->sched, p, m->pool, m->work, e);
    if (rc < 0 || p->power.cap_mw == 0)
        return rc;
    return sched_watts(m->sched, m->options->watts, e);
}

void sim_tiers_ran(struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];
    int64_t ms = MIN(m->now_ms, m->result->submitted_ms) - m->since_ms[job];
    double devices = (double)w->devices * w->milli / WORK_WHOLE;

    if (ms <= 0)
        return;
    if (sched_is_spot(m->sched, job))
        m->result->tiers.spot += devices * (double)ms;
    else if (sched_is_service(m->sched, job))
        m->result->tiers.service += devices * (double)ms;
}

void sim_tiers_leave(struct sim *m, int64_t first, int64_t all)
{
    double devices = (double)sched_leaving(m->sched) / WORK_WHOLE;

    m->use.spent[USE_COUNTED][USE_SAVING] += devices * (double)MAX(first, 0);
    m->use.spent[USE_ALL][USE_SAVING] += devices * (double)all;
}

void sim_tiers_pass(struct sim *m, int64_t ms)
{
    m->result->tiers.drawn += (double)sched_drawn_mw(m->sched) * (double)ms;
}

void sim_tiers_look(struct sim *m)
{
    m->result->tiers.peak_mw = MAX(m->result->tiers.peak_mw, sched_drawn_mw(m->sched));
    m->result->tiers.limited = sched_limited(m->sched);
}
