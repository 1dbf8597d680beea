/* What a job of the simulator does: it comes, starts, stops, and ends. */
#include <errno.h>

#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/heap.h"
#include "sim/sim_private.h"

int sim_end_job(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];
    int64_t passed = m->now_ms - m->since_ms[job];

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
    if (m->counting->ended && m->counting->ended(m, job) < 0)
        return -ENOMEM;
    sched_end(m->sched, job, m->now_ms);
    if (m->policy->length == LENGTH_HISTORY)
        forecast_learn(&m->forecast, job, m->work->jobs[job].length_ms);
    m->result->events++;
    m->result->end_ms = m->now_ms;
    m->unfinished--;
    return 0;
}

void sim_submit_job(struct sim *m, uint32_t job)
{
    int64_t length_ms = m->work->jobs[job].length_ms;

    m->left_ms[job] = length_ms;
    m->since_ms[job] = m->now_ms;
    sched_submit(m->sched, job, m->now_ms, sim_known_left(m, job, length_ms));
    m->result->events++;
}

int sim_start_job(struct sim *m, uint32_t job, int64_t ready_ms)
{
    struct sim_job *j = &m->result->jobs[job];
    int64_t from_ms = MAX(m->now_ms, ready_ms), delay_ms = from_ms - m->now_ms;

    if (j->starts++ == 0)
        j->start_ms = from_ms;
    j->wait_ms += from_ms - m->since_ms[job];
    m->since_ms[job] = from_ms;
    sim_scale(m, job, true);
    for (const struct sim_feature *const *f = m->on; *f; f++)
        if ((*f)->started && (*f)->started(m, job, &delay_ms) < 0)
            return -ENOMEM;
    if (m->counting->started)
        m->counting->started(m, job, delay_ms);
    return sim_expect(m, job, true);
}

int sim_preempt_job(struct sim *m, uint32_t job)
{
    int64_t owes;

    sim_stop_job(m, job);
    m->counting->count(m, job);
    sim_scale(m, job, false);
    owes = policy_owes_ms(m->policy, sched_restart_ms(m->sched, job), m->fresh_ms[job]);
    if (!m->policy->restart_each_pass)
        m->left_ms[job] += owes - m->fresh_ms[job];
    m->fresh_ms[job] = owes;
    m->since_ms[job] = m->now_ms;
    m->result->preemptions++;
    return m->counting->preempted ? m->counting->preempted(m, job, owes) : 0;
}

/* Note all anew: the events of starts that are over would pile up. */
static int expect_again(struct sim *m, const uint32_t *running, size_t n)
{
    heap_clear(&m->ends);
    for (size_t i = 0; i < n; i++) {
        uint32_t job = running[i];

        if (heap_add(&m->ends, m->now_ms + m->left_ms[job], job, ++m->start[job]) < 0)
            return -ENOMEM;
    }
    return 0;
}

int sim_restart_all(struct sim *m)
{
    int64_t later_ms = sched_restart_all(m->sched, m->now_ms, m->since_ms, m->left_ms);
    const uint32_t *running;
    size_t n;

    running = sched_running(m->sched, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t job = running[i];

        m->result->jobs[job].ran_ms += m->now_ms - m->since_ms[job];
        m->since_ms[job] = m->now_ms;
    }
    if (later_ms == WORK_UNKNOWN || m->policy->notice_ms > 0)
        return expect_again(m, running, n);
    heap_delay(&m->ends, later_ms);
    return 0;
}
