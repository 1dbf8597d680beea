#include "engine/sim.h"

#include <assert.h>
#include <errno.h>

#include "engine/heap.h"

struct sim {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    const struct sim_options *options;
    struct sched *sched;
    struct sim_result *result;
    struct heap ends;
    int64_t *left_ms;        /* by job, at since_ms */
    int64_t *since_ms;       /* by job: it waits, or runs */
    uint32_t *start;         /* by job: the number of its present start, or restart */
    size_t next;             /* job to be submitted */
    size_t unfinished;       /* jobs that can run and have not ended */
    int64_t now_ms, pass_ms; /* pass_ms: when the scheduler wants to be asked */
};

void sim_result_done(struct sim_result *r)
{
    arena_done(&r->arena);
    *r = (struct sim_result){ .events = 0 };
}

/* Passes are made at multiples of a time. */
static int64_t round_up(const struct policy *p, int64_t at_ms)
{
    if (p->every_ms == 0 || at_ms == WORK_UNKNOWN)
        return at_ms;
    return (at_ms + p->every_ms - 1) / p->every_ms * p->every_ms;
}

static int open_sim(struct sim *m, struct err *e)
{
    struct arena *a = &m->result->arena;
    size_t n = m->work->n_jobs + 1;

    m->result->jobs = arena_alloc(a, n * sizeof(*m->result->jobs));
    m->left_ms = arena_alloc(a, n * sizeof(*m->left_ms));
    m->since_ms = arena_alloc(a, n * sizeof(*m->since_ms));
    m->start = arena_alloc(a, n * sizeof(*m->start));
    if (!m->result->jobs || !m->left_ms || !m->since_ms || !m->start)
        return err_nomem(e);
    return sched_open(&m->sched, m->policy, m->pool, m->work, e);
}

/* Jobs that could never run are left out, else those behind them would wait for ever. */
static void find_impossible(struct sim *m)
{
    for (size_t i = 0; i < m->work->n_jobs; i++)
        if (!sched_possible(m->sched, (uint32_t)i)) {
            m->result->jobs[i].fate = SIM_IMPOSSIBLE;
            m->result->impossible++;
        }
    m->unfinished = m->work->n_jobs - m->result->impossible;
}

/* Count what is allocated until a time, and go there. */
static void go_to(struct sim *m, int64_t at_ms)
{
    struct sim_result *r = m->result;
    double used = (double)(m->pool->devices * WORK_WHOLE - sched_room(m->sched)->milli) /
                  WORK_WHOLE;
    int64_t first = MIN(at_ms, r->submitted_ms) - m->now_ms;

    if (first > 0)
        r->used += used * (double)first;
    r->used_all += used * (double)(at_ms - m->now_ms);
    m->now_ms = at_ms;
}

static void end_job(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];

    j->end_ms = m->now_ms;
    j->ran_ms += m->now_ms - m->since_ms[job];
    sched_end(m->sched, job, m->now_ms);
    m->result->events++;
    m->result->end_ms = m->now_ms;
    m->unfinished--;
}

static void submit_job(struct sim *m, uint32_t job)
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

/* An end counts only if it is that of the job's present start. */
static bool is_real(const struct sim *m, const struct heap_event *x)
{
    const struct sched_job *j = sched_job(m->sched, x->job);

    return j->state == SCHED_RUNNING && m->start[x->job] == x->start;
}

static int start(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];

    if (j->starts++ == 0)
        j->start_ms = m->now_ms;
    j->wait_ms += m->now_ms - m->since_ms[job];
    m->since_ms[job] = m->now_ms;
    return heap_add(&m->ends, m->now_ms + m->left_ms[job] + m->policy->notice_ms, job,
                    ++m->start[job]);
}

static void preempt(struct sim *m, uint32_t job)
{
    int64_t ran = m->now_ms - m->since_ms[job];

    m->result->jobs[job].ran_ms += ran;
    m->left_ms[job] = ran < m->left_ms[job] ? m->left_ms[job] - ran : 0;
    if (!m->policy->restart_each_pass)
        m->left_ms[job] += sched_restart_ms(m->sched, job);
    m->since_ms[job] = m->now_ms;
    m->result->preemptions++;
}

static int carry_out(struct sim *m)
{
    const struct action *actions;
    size_t n;

    actions = sched_actions(m->sched, &n);
    for (size_t i = 0; i < n; i++) {
        if (m->options->watch)
            m->options->watch(m->options->ctx, m->sched, &actions[i], m->now_ms);
        if (actions[i].kind == ACTION_PREEMPT)
            preempt(m, actions[i].job);
        else if (start(m, actions[i].job) < 0)
            return -ENOMEM;
    }
    m->result->events += n;
    return 0;
}

/* All that run are stopped and started again by a pass: what they did since the last one counts but
 * for the start. */
static int restart_all(struct sim *m)
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

/* The next time at which something happens; WORK_UNKNOWN when nothing does any more. */
static int64_t next_time(struct sim *m)
{
    const struct heap_event *x;
    int64_t at = m->pass_ms;

    while ((x = heap_first(&m->ends)) && !is_real(m, x))
        heap_pop(&m->ends);
    if (x)
        at = MIN(at, x->at_ms);
    if (m->next < m->work->n_jobs)
        at = MIN(at, m->work->jobs[m->next].submit_ms);
    return at;
}

static bool happen(struct sim *m)
{
    const struct heap_event *x;
    bool any = false;

    while ((x = heap_first(&m->ends)) && x->at_ms == m->now_ms) {
        uint32_t job = x->job;
        bool real = is_real(m, x);

        heap_pop(&m->ends);
        if (real)
            end_job(m, job);
        any |= real;
    }
    for (; m->next < m->work->n_jobs && m->work->jobs[m->next].submit_ms == m->now_ms; m->next++)
        if (m->result->jobs[m->next].fate == SIM_ENDED) {
            submit_job(m, (uint32_t)m->next);
            any = true;
        }
    return any;
}

static int loop(struct sim *m)
{
    int64_t at;
    int rc = 0;

    while (rc == 0 && m->unfinished > 0 && (at = next_time(m)) != WORK_UNKNOWN) {
        go_to(m, at);
        if (happen(m))
            m->pass_ms = MIN(m->pass_ms, round_up(m->policy, m->now_ms));
        if (m->pass_ms > m->now_ms)
            continue;
        if (m->policy->restart_each_pass)
            rc = restart_all(m);
        if (rc == 0)
            rc = sched_pass(m->sched, m->now_ms, &m->pass_ms);
        m->pass_ms = round_up(m->policy, m->pass_ms);
        m->result->passes++;
        if (rc == 0)
            rc = carry_out(m);
    }
    return rc;
}

int sim_run(struct sim_result *ret, const struct policy *policy, const struct pool *pool,
            const struct workload *work, const struct sim_options *options, struct err *e)
{
    const struct sim_options none = { .watch = NULL };
    struct sim_result result = { .events = 0 };
    struct sim m = { .policy = policy, .pool = pool, .work = work, .result = &result };
    int rc;

    m.options = options ? options : &none;
    m.pass_ms = WORK_UNKNOWN;
    if (work->n_jobs)
        result.submitted_ms = work->jobs[work->n_jobs - 1].submit_ms;
    rc = open_sim(&m, e);
    if (rc == 0) {
        find_impossible(&m);
        rc = loop(&m) < 0 ? err_nomem(e) : 0;
    }
    heap_done(&m.ends);
    sched_close(m.sched);
    if (rc < 0)
        sim_result_done(&result);
    else
        *ret = result;
    return rc;
}
