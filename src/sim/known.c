#include <errno.h>
#include <math.h>

#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/sim_private.h"

int64_t sim_known_left(const struct sim *m, uint32_t job, int64_t left_ms)
{
    const struct work *w = &m->work->jobs[job];

    switch (m->policy->length) {
    case LENGTH_ORACLE:
        return left_ms;
    case LENGTH_LIMIT:
        if (w->limit_ms == WORK_UNKNOWN)
            return WORK_UNKNOWN;
        return MAX(w->limit_ms - w->length_ms, 0) + left_ms;
    case LENGTH_HISTORY:
        return forecast_left(&m->forecast, job, MAX(w->length_ms - left_ms, 0));
    case LENGTH_STEPS: /* nothing before they were seen: it goes first */
        return m->seen[job] ? left_ms : 0;
    default:
        return WORK_UNKNOWN;
    }
}

static int64_t left_now(const struct sim *m, uint32_t job)
{
    return MAX(m->left_ms[job] - (m->now_ms - m->since_ms[job]), 0);
}

/* The same of a running elastic job, at its pace: others were as long on what they asked for, so
 * its work is counted as that. A start takes as long on any devices. */
static int64_t elastic_left(const struct sim *m, uint32_t job)
{
    int64_t passed = m->now_ms - m->since_ms[job], fresh = m->fresh_ms[job], left;
    double pace = sim_pace(m, job), work = (double)(m->left_ms[job] - fresh);

    if (!m->counting->own_rate)
        work *= pace;
    work -= (double)MAX(passed - fresh, 0) * pace;
    left = sim_known_left(m, job, (int64_t)ceil(fmax(work, 0)));
    if (left == WORK_UNKNOWN)
        return left;
    return MAX(fresh - passed, 0) + MAX((int64_t)ceil((double)left / pace), 1);
}

static int64_t known_now(const struct sim *m, uint32_t job)
{
    if (m->policy->length == LENGTH_HISTORY && sim_is_elastic(m, job))
        return elastic_left(m, job);
    return sim_known_left(m, job, left_now(m, job));
}

/* A running job; when there is more to be told of it. */
static int64_t tell_again(struct sim *m, uint32_t job)
{
    int64_t at_ms = m->since_ms[job] + sched_restart_ms(m->sched, job) + LENGTH_SEEN_MS;

    if (m->policy->length == LENGTH_HISTORY) {
        if (sched_job_left(sched_job(m->sched, job), m->now_ms) > 0)
            return WORK_UNKNOWN;
    } else {
        if (m->seen[job] || at_ms > m->now_ms)
            return m->seen[job] ? WORK_UNKNOWN : at_ms;
        m->seen[job] = 1;
    }
    sched_progress(m->sched, job, m->now_ms, known_now(m, job));
    return WORK_UNKNOWN;
}

int64_t sim_known_again(struct sim *m)
{
    int64_t again_ms = WORK_UNKNOWN;
    const uint32_t *running;
    size_t n;

    if (m->policy->length != LENGTH_HISTORY && m->policy->length != LENGTH_STEPS)
        return again_ms;
    running = sched_running(m->sched, &n);
    for (size_t i = 0; i < n; i++)
        again_ms = MIN(again_ms, tell_again(m, running[i]));
    return again_ms;
}

static int open(struct sim *m, struct err *e)
{
    if (m->policy->length == LENGTH_HISTORY)
        return forecast_init(&m->forecast, &m->result->arena, m->work) < 0 ? err_nomem(e) : 0;
    if (m->policy->length != LENGTH_STEPS)
        return 0;
    if (m->work->n_speeds > 0 || m->policy->restart_each_pass)
        return err_set(e, -EINVAL, "%s: length = steps is for jobs that go on at one speed",
                       m->policy->name);
    m->seen = arena_alloc(&m->result->arena, m->work->n_jobs);
    return m->seen ? 1 : err_nomem(e);
}

const struct sim_feature sim_known = { .open = open, .acted = sim_known_again };
