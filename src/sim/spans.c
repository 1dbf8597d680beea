/* When each job ran on how many devices, where that is asked for. */
#include <errno.h>

#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    if (!m->options->spans)
        return 0;
    m->span = arena_alloc(&m->result->arena, m->work->n_jobs * sizeof(*m->span));
    return m->span ? 1 : err_nomem(e);
}

int sim_begin_span(struct sim *m, uint32_t job)
{
    struct sim_result *r = m->result;
    struct sim_span *x;

    if (!m->span)
        return 0;
    x = ARENA_PUSH(&r->arena, &r->spans, &r->n_spans);
    if (!x)
        return -ENOMEM;
    *x = (struct sim_span){ m->now_ms, m->now_ms, job, sim_devices(m, job) };
    m->span[job] = (uint32_t)r->n_spans - 1;
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as struct sim_feature has it */
static int started(struct sim *m, uint32_t job, int64_t *delay_ms)
{
    (void)delay_ms;
    return sim_begin_span(m, job);
}

static void stops(struct sim *m, uint32_t job)
{
    m->result->spans[m->span[job]].to_ms = m->now_ms;
}

const struct sim_feature sim_spans = { .open = open, .started = started, .stops = stops };
