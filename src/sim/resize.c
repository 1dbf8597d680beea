/* A running job gets more devices, or gives some up. */
#include <errno.h>

#include "sim/counting.h"
#include "sim/sim_private.h"

int sim_resize(struct sim *m, const struct action *a)
{
    struct sim_resizes *r = &m->result->resizes;
    uint32_t job = a->job;
    int64_t cost = a->until_ms, owes;

    sim_stop_job(m, job);
    m->counting->count(m, job);
    sim_scale(m, job, false);
    m->devices[job] = a->devices;
    owes = policy_owes_ms(m->policy, cost, m->fresh_ms[job]);
    m->left_ms[job] += owes - m->fresh_ms[job];
    m->fresh_ms[job] = owes;
    sim_scale(m, job, true);
    m->since_ms[job] = m->now_ms;
    if (m->counting->resized)
        m->counting->resized(m, job, a->devices, owes);
    r->to_more += a->devices > a->before;
    r->to_fewer += a->devices < a->before;
    r->paid += (double)cost * a->devices;
    if (sim_begin_span(m, job) < 0)
        return -ENOMEM;
    return sim_expect(m, job, true);
}
