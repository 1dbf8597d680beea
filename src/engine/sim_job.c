/* What a job of the simulator does: it comes, starts, stops, and ends. */
#include <errno.h>
#include <math.h>

#include "engine/heap.h"
#include "engine/outages.h"
#include "engine/sim_inside.h"

/* How long a job that starts now takes. */
static int64_t takes(const struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];

    if (!m->outages)
        return m->left_ms[job];
    return m->fresh_ms[job] + outages_takes(m->left_ms[job] - m->fresh_ms[job], w->checkpoint_ms,
                                            m->outages->o.checkpoint_cost_ms);
}

int64_t sim_account(struct sim *m, uint32_t job, bool lost)
{
    const struct work *w = &m->work->jobs[job];
    struct sim_losses *l = &m->result->losses;
    int64_t ran = m->now_ms - m->since_ms[job], fresh = m->fresh_ms[job];
    struct outage_work did = outages_did(ran - fresh, m->left_ms[job] - fresh, w->checkpoint_ms,
                                         m->outages->o.checkpoint_cost_ms);
    double devices = (double)w->devices * w->milli / WORK_WHOLE;
    int64_t back = lost ? did.did_ms - did.saved_ms : 0;

    l->restarts += devices * (double)MIN(ran, fresh);
    l->saving += devices * (double)did.paid_ms;
    l->redone += devices * (double)back;
    m->left_ms[job] += back - did.did_ms - fresh;
    return back;
}

void sim_stop_job(struct sim *m, uint32_t job)
{
    m->result->jobs[job].ran_ms += m->now_ms - m->since_ms[job];
    if (m->span)
        m->result->spans[m->span[job]].to_ms = m->now_ms;
}

int sim_begin_span(struct sim *m, uint32_t job)
{
    struct sim_result *r = m->result;
    struct sim_span *x = ARENA_PUSH(&r->arena, &r->spans, &r->n_spans);

    if (!x)
        return -ENOMEM;
    *x = (struct sim_span){ m->now_ms, m->now_ms, job };
    m->span[job] = (uint32_t)r->n_spans - 1;
    return 0;
}

int sim_expect(struct sim *m, uint32_t job, bool runs)
{
    int64_t at = WORK_UNKNOWN, notice = runs ? m->policy->notice_ms : 0;

    m->start[job]++;
    if (m->use.jobs)
        at = use_until_ms(&m->use, job) + (m->use.jobs[job].more ? 0 : notice);
    else if (runs)
        at = m->since_ms[job] + takes(m, job) + notice;
    return at == WORK_UNKNOWN ? 0 : heap_add(&m->ends, at, job, m->start[job]);
}

int sim_end_job(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];
    int64_t passed = m->now_ms - m->since_ms[job];

    if (m->outages)
        sim_account(m, job, false);
    j->end_ms = m->now_ms;
    switch (sched_job(m->sched, job)->state) {
    case SCHED_RUNNING:
        sim_stop_job(m, job);
        break;
    case SCHED_WAITING:
        j->wait_ms += passed;
        break;
    default:
        j->away_ms += passed;
    }
    if (m->use.jobs)
        use_hold(&m->use, job, m->now_ms, false, 0);
    sched_end(m->sched, job, m->now_ms);
    m->result->events++;
    m->result->end_ms = m->now_ms;
    m->unfinished--;
    return sim_part(m, job);
}

void sim_submit_job(struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];
    int64_t length = WORK_UNKNOWN;

    m->left_ms[job] = w->length_ms;
    m->since_ms[job] = m->now_ms;
    if (m->policy->length == LENGTH_ORACLE)
        length = w->length_ms;
    else if (m->policy->length == LENGTH_LIMIT)
        length = w->limit_ms;
    sched_submit(m->sched, job, m->now_ms, length);
    m->result->events++;
}

void sim_scale(struct sim *m, uint32_t job, bool starts)
{
    double by;

    if (!m->speed || !m->work->jobs[job].speeds)
        return;
    if (starts)
        m->speed[job] = sched_job(m->sched, job)->speed;
    by = starts ? 1 / (double)m->speed[job] : (double)m->speed[job];
    m->left_ms[job] = (int64_t)ceil((double)m->left_ms[job] * by);
    if (m->outages)
        m->fresh_ms[job] = (int64_t)ceil((double)m->fresh_ms[job] * by);
}

int sim_start_job(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];

    if (j->starts++ == 0)
        j->start_ms = m->now_ms;
    j->wait_ms += m->now_ms - m->since_ms[job];
    m->since_ms[job] = m->now_ms;
    sim_scale(m, job, true);
    if (m->span && sim_begin_span(m, job) < 0)
        return -ENOMEM;
    if (m->leaves)
        sim_leaves_count(&m->result->leaves, m->pool, sched_room(m->sched),
                         sched_job(m->sched, job)->part);
    if (m->use.jobs) {
        sim_pass_without(m, job, use_hold(&m->use, job, m->now_ms, true, 0));
        sim_tell_use(m, job);
    }
    return sim_expect(m, job, true);
}

int sim_preempt_job(struct sim *m, uint32_t job)
{
    int64_t ran = m->now_ms - m->since_ms[job], cost = sched_restart_ms(m->sched, job);

    sim_stop_job(m, job);
    if (m->outages)
        sim_account(m, job, false);
    else
        m->left_ms[job] = ran < m->left_ms[job] ? m->left_ms[job] - ran : 0;
    sim_scale(m, job, false);
    if (!m->policy->restart_each_pass)
        m->left_ms[job] += cost;
    if (m->outages)
        m->fresh_ms[job] = cost;
    m->since_ms[job] = m->now_ms;
    m->result->preemptions++;
    if (!m->use.jobs)
        return 0;
    use_hold(&m->use, job, m->now_ms, false, cost);
    m->left_ms[job] = use_left(&m->use, job);
    return sim_part(m, job) < 0 ? -ENOMEM : sim_expect(m, job, false);
}

int sim_restart_all(struct sim *m)
{
    const uint32_t *running;
    size_t n;

    running = sched_running(m->sched, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t job = running[i];
        struct sim_job *j = &m->result->jobs[job];
        int64_t passed = m->now_ms - m->since_ms[job];
        int64_t did = passed - sched_restart_ms(m->sched, job);

        if (did > 0)
            m->left_ms[job] -= did;
        j->ran_ms += passed;
        m->since_ms[job] = m->now_ms;
        sched_progress(m->sched, job, m->now_ms, m->left_ms[job]);
        if (heap_add(&m->ends, m->now_ms + m->left_ms[job], job, ++m->start[job]) < 0)
            return -ENOMEM;
    }
    return 0;
}
