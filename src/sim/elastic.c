/* Jobs that go on with more devices, or fewer. */
#include <math.h>

#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    struct arena *a = &m->result->arena;

    if (!sched_resizes(m->sched))
        return 0;
    m->devices = arena_alloc(a, m->work->n_jobs * sizeof(*m->devices));
    if (!m->devices)
        return err_nomem(e);
    for (size_t i = 0; i < m->work->n_jobs; i++)
        m->devices[i] = m->work->jobs[i].devices;
    return 1;
}

int32_t sim_devices(const struct sim *m, uint32_t job)
{
    return m->devices ? m->devices[job] : m->work->jobs[job].devices;
}

double sim_pace(const struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];

    if (!m->devices || m->devices[job] == w->devices)
        return 1;
    return work_pace(w, w->devices, m->devices[job]);
}

/* A start takes as long on any devices; where activity is known, that goes by a rate of its own. */
static void scales(struct sim *m, uint32_t job, bool starts)
{
    double by = sim_pace(m, job);
    int64_t fresh = m->fresh_ms[job], left = m->left_ms[job] - fresh;

    if (!m->counting->own_rate && left > 0)
        m->left_ms[job] = fresh + (int64_t)ceil((double)left * (starts ? 1 / by : by));
}

void sim_give_devices(struct sim *m, uint32_t job, int32_t devices)
{
    if (!m->devices)
        return;
    m->devices[job] = devices;
    m->result->resizes.started_on_fewer += devices < m->work->jobs[job].devices;
}

bool sim_is_elastic(const struct sim *m, uint32_t job)
{
    return m->devices && m->work->jobs[job].most > 0;
}

const struct sim_feature sim_elastic = { .open = open, .scales = scales };
