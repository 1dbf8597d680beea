/* Jobs that go on with more devices, or fewer. */
#include <errno.h>
#include <math.h>

#include "sim/sim_private.h"

int sim_open_elastic(struct sim *m)
{
    struct arena *a = &m->result->arena;
    size_t n = m->work->n_jobs + 1;

    if (!sched_resizes(m->sched))
        return 0;
    m->devices = arena_alloc(a, n * sizeof(*m->devices));
    m->fresh_ms = arena_alloc(a, n * sizeof(*m->fresh_ms));
    if (!m->devices || !m->fresh_ms)
        return -ENOMEM;
    for (size_t i = 0; i < m->work->n_jobs; i++)
        m->devices[i] = m->work->jobs[i].devices;
    return 0;
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
void sim_scale_elastic(struct sim *m, uint32_t job, bool starts)
{
    double by = sim_pace(m, job);
    int64_t fresh = m->fresh_ms[job], left = m->left_ms[job] - fresh;

    if (!m->use.jobs && left > 0)
        m->left_ms[job] = fresh + (int64_t)ceil((double)left * (starts ? 1 / by : by));
}

void sim_give_devices(struct sim *m, uint32_t job, int32_t devices)
{
    if (!m->devices)
        return;
    m->devices[job] = devices;
    m->result->resizes.started_on_fewer += devices < m->work->jobs[job].devices;
}

int sim_resize(struct sim *m, const struct action *a)
{
    struct sim_resizes *r = &m->result->resizes;
    uint32_t job = a->job;
    int64_t cost = a->until_ms;

    sim_stop_job(m, job);
    (void)sim_count(m, job);
    sim_scale(m, job, false);
    m->devices[job] = a->devices;
    m->left_ms[job] += cost;
    m->fresh_ms[job] += cost;
    sim_scale(m, job, true);
    m->since_ms[job] = m->now_ms;
    if (m->use.jobs) {
        use_hold(&m->use, job, m->now_ms, true, cost);
        use_devices(&m->use, job, m->now_ms, a->devices, sim_pace(m, job));
        m->left_ms[job] = use_left(&m->use, job);
    }
    r->to_more += a->devices > a->before;
    r->to_fewer += a->devices < a->before;
    r->paid += (double)cost * a->devices;
    if (m->span && sim_begin_span(m, job) < 0)
        return -ENOMEM;
    return sim_expect(m, job, true);
}
