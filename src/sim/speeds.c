/* Jobs are not as fast on all kinds of devices, nor under a limit of their power. */
#include <errno.h>
#include <math.h>

#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    if (m->work->n_speeds == 0 && m->policy->power.action != POWER_LIMIT)
        return 0;
    m->speed = arena_alloc(&m->result->arena, m->work->n_jobs * sizeof(*m->speed));
    return m->speed ? 1 : err_nomem(e);
}

static void scales(struct sim *m, uint32_t job, bool starts)
{
    double by;

    if (!m->work->jobs[job].speeds && m->policy->power.action != POWER_LIMIT)
        return;
    if (starts)
        m->speed[job] = sched_job(m->sched, job)->speed;
    by = starts ? 1 / (double)m->speed[job] : (double)m->speed[job];
    m->left_ms[job] = (int64_t)ceil((double)m->left_ms[job] * by);
    m->fresh_ms[job] = (int64_t)ceil((double)m->fresh_ms[job] * by);
}

const struct sim_feature sim_speeds = { .open = open, .scales = scales };
