/* Over how many leaf switches gangs start, where the pool knows its leaves. */
#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    bool known = false;

    (void)e;
    for (size_t i = 0; i < m->pool->n_nodes; i++)
        known |= m->pool->nodes[i].leaf != 0;
    return known;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as struct sim_feature has it */
static int started(struct sim *m, uint32_t job, int64_t *delay_ms)
{
    (void)delay_ms;
    sim_leaves_count(&m->result->leaves, m->pool, sched_capacity(m->sched),
                     sched_job(m->sched, job)->part);
    return 0;
}

const struct sim_feature sim_over = { .open = open, .started = started };
