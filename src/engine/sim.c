#include "engine/sim.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/outages.h"
#include "engine/heap.h"
#include "engine/sim_shared.h"

/* Failures do not go on for ever after the last submission. */
static const int64_t endless_ms = (int64_t)5 * 365 * 86400 * 1000;
#include "engine/sim_use.h"
#include "sched/waiting.h"

struct sim {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    const struct sim_options *options;
    struct sched *sched;
    struct sim_result *result;
    struct heap ends;        /* of jobs, or of what they do with their devices */
    struct outages *outages; /* NULL: nothing fails */
    int64_t *fresh_ms;       /* by job: what of left_ms is a start after a loss or preemption */
    uint32_t *span;          /* by job: its last span; NULL: they are not kept */
    struct use use;
    uint32_t *partner; /* by job: who shares its devices; WAITING_NONE */
    int64_t *left_ms;  /* by job, at since_ms; while it runs, at the speed that it has there */
    float *speed;      /* by job; NULL: all are as fast anywhere */
    int64_t *since_ms; /* by job: it waits, or runs */
    uint32_t *start;   /* by job: the number of its present start, or restart */
    size_t next;       /* job to be submitted */
    size_t unfinished; /* jobs that can run and have not ended */
    bool leaves;       /* of the pool are known */
    int64_t now_ms, pass_ms; /* pass_ms: when the scheduler wants to be asked */
    int64_t sample_ms;       /* the next moment at which to look */
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
    m->result->samples = arena_alloc(a, SIM_SAMPLES * sizeof(*m->result->samples));
    if (m->pool->n_kinds > 1)
        m->result->used_of = arena_alloc(a, m->pool->n_kinds * sizeof(*m->result->used_of));
    if (!m->result->jobs || !m->left_ms || !m->since_ms || !m->start || !m->result->samples ||
        (m->pool->n_kinds > 1 && !m->result->used_of))
        return err_nomem(e);
    if (m->options->spans) {
        m->span = arena_alloc(a, n * sizeof(*m->span));
        if (!m->span)
            return err_nomem(e);
    }
    if (m->work->n_speeds > 0) {
        m->speed = arena_alloc(a, n * sizeof(*m->speed));
        if (!m->speed)
            return err_nomem(e);
    }
    m->sample_ms = m->result->submitted_ms / SIM_SAMPLES / 2;
    for (size_t i = 0; i < m->pool->n_nodes; i++)
        m->leaves |= m->pool->nodes[i].leaf != 0;
    if (use_open(&m->use, a, m->work) < 0)
        return err_nomem(e);
    if (m->use.jobs) {
        m->partner = arena_alloc(a, n * sizeof(*m->partner));
        if (!m->partner)
            return err_nomem(e);
        memset(m->partner, 0xff, n * sizeof(*m->partner));
    }
    if (m->use.jobs && m->policy->restart_each_pass)
        return err_set(e, -EINVAL, "%s: restart-each-pass is for jobs whose activity nobody knows",
                       m->policy->name);
    if (m->use.jobs && m->work->n_speeds > 0)
        return err_set(e, -EINVAL, "speeds by kinds are for jobs whose activity nobody knows");
    return sched_open(&m->sched, m->policy, m->pool, m->work, e);
}

/* Failures, and the nodes that are kept back for them. */
static int open_faults(struct sim *m, struct outages *f, struct err *e)
{
    size_t n = m->pool->n_nodes;
    int rc;

    if (!m->options->outages)
        return 0;
    if (m->policy->restart_each_pass)
        return err_set(e, -EINVAL, "%s starts all jobs anew in each pass: not with failures",
                       m->policy->name);
    if (m->use.jobs)
        return err_set(e, -EINVAL, "failures are for jobs whose activity nobody knows");
    m->fresh_ms = arena_alloc(&m->result->arena, (m->work->n_jobs + 1) * sizeof(*m->fresh_ms));
    if (!m->fresh_ms)
        return err_nomem(e);
    rc = outages_open(f, m->options->outages, m->pool, e);
    if (rc < 0)
        return rc;
    m->outages = f;
    for (uint32_t i = 0; i < n; i++)
        if (f->state[i] == OUTAGE_SPARE)
            sched_node(m->sched, i, false);
    return 0;
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

/* What is free, at each moment of samples before a time. */
static void sample(struct sim *m, int64_t at_ms)
{
    const struct room *room = sched_room(m->sched);
    struct sim_result *r = m->result;
    struct sim_sample now = { .free = (double)room->whole };

    for (size_t i = 0; i < m->pool->n_nodes; i++)
        if (room->nodes[i].n_whole < m->pool->nodes[i].devices)
            now.partly += room->nodes[i].n_whole;
    while (r->n_samples < SIM_SAMPLES && m->sample_ms < at_ms) {
        r->samples[r->n_samples++] = now;
        m->sample_ms = (int64_t)((double)r->submitted_ms / SIM_SAMPLES *
                                 ((double)r->n_samples + 0.5));
    }
    if (r->n_samples == SIM_SAMPLES)
        m->sample_ms = WORK_UNKNOWN;
}

/* Count what is allocated until a time, and go there. */
static void go_to(struct sim *m, int64_t at_ms)
{
    struct sim_result *r = m->result;
    const struct room *room = sched_room(m->sched);
    double used = (double)(m->pool->devices * WORK_WHOLE - room->milli - room->lost) / WORK_WHOLE;
    int64_t first = MIN(at_ms, r->submitted_ms) - m->now_ms;

    if (m->sample_ms < at_ms)
        sample(m, at_ms);
    for (size_t k = 0; first > 0 && r->used_of && k < m->pool->n_kinds; k++)
        r->used_of[k] += (double)room->taken[k] / WORK_WHOLE * (double)first;
    if (first > 0)
        r->used += used * (double)first;
    r->used_all += used * (double)(at_ms - m->now_ms);
    r->losses.out += (double)room->lost / WORK_WHOLE * (double)(at_ms - m->now_ms);
    m->now_ms = at_ms;
}

/* ---- with failures: checkpoints ---- */

/* How long a job that starts now takes. */
static int64_t takes(const struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];

    if (!m->outages)
        return m->left_ms[job];
    return m->fresh_ms[job] + outages_takes(m->left_ms[job] - m->fresh_ms[job], w->checkpoint_ms,
                                            m->outages->o.checkpoint_cost_ms);
}

/* Count what a running job has done since its start, which it may have to do again (lost), and what
 * its next start costs. Returns the work that it goes back by. */
static int64_t account(struct sim *m, uint32_t job, bool lost)
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

/* A job stops running. */
static void stop(struct sim *m, uint32_t job)
{
    m->result->jobs[job].ran_ms += m->now_ms - m->since_ms[job];
    if (m->span)
        m->result->spans[m->span[job]].to_ms = m->now_ms;
}

static int begin_span(struct sim *m, uint32_t job)
{
    struct sim_result *r = m->result;
    struct sim_span *x = ARENA_PUSH(&r->arena, &r->spans, &r->n_spans);

    if (!x)
        return -ENOMEM;
    *x = (struct sim_span){ m->now_ms, m->now_ms, job };
    m->span[job] = (uint32_t)r->n_spans - 1;
    return 0;
}

/* ---- with activity ---- */

/* A part of a job's length passed without devices. */
static void pass_without(struct sim *m, uint32_t job, int64_t ms)
{
    const struct sched_job *j = sched_job(m->sched, job);

    if (ms == 0)
        return;
    m->left_ms[job] -= ms;
    m->result->jobs[job].idle_ms += ms;
    if (j->state == SCHED_RUNNING && j->left_ms != WORK_UNKNOWN)
        sched_progress(m->sched, job, m->now_ms, MAX(sched_job_left(j, m->now_ms) - ms, 0));
}

/* Note when a job ends, or does something else with its devices. */
static int expect(struct sim *m, uint32_t job, bool runs)
{
    int64_t at = WORK_UNKNOWN, notice = runs ? m->policy->notice_ms : 0;

    m->start[job]++;
    if (m->use.jobs)
        at = use_until_ms(&m->use, job) + (m->use.jobs[job].more ? 0 : notice);
    else if (runs)
        at = m->since_ms[job] + takes(m, job) + notice;
    return at == WORK_UNKNOWN ? 0 : heap_add(&m->ends, at, job, m->start[job]);
}

/* How fast a job works beside the one that shares its devices. */
static double rate_of(const struct sim *m, uint32_t job)
{
    uint32_t partner = m->partner[job];
    int use, other;

    if (partner == WAITING_NONE)
        return 1;
    use = use_milli(&m->use, job);
    other = use_milli(&m->use, partner);
    if (use <= WORK_IDLE || other <= WORK_IDLE)
        return 1;
    return WORK_WHOLE / (double)MAX(use + other, WORK_WHOLE) * WORK_WHOLE /
           (WORK_WHOLE + m->policy->share.cost);
}

static int set_rate(struct sim *m, uint32_t job)
{
    use_rate(&m->use, job, m->now_ms, rate_of(m, job));
    return expect(m, job, true);
}

/* A job leaves the devices that it shares, if it does. */
static int part(struct sim *m, uint32_t job)
{
    uint32_t partner = m->use.jobs ? m->partner[job] : WAITING_NONE;

    if (partner == WAITING_NONE)
        return 0;
    m->partner[job] = m->partner[partner] = WAITING_NONE;
    use_rate(&m->use, job, m->now_ms, 1);
    return set_rate(m, partner);
}

/* Tell the scheduler how busy a job keeps its devices. */
static void tell_use(struct sim *m, uint32_t job)
{
    if (m->policy->idle.reclaim_ms > 0 || m->policy->share.below > 0)
        sched_use(m->sched, job, m->now_ms, use_milli(&m->use, job));
}

static int end_job(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];
    int64_t passed = m->now_ms - m->since_ms[job];

    if (m->outages)
        account(m, job, false);
    j->end_ms = m->now_ms;
    switch (sched_job(m->sched, job)->state) {
    case SCHED_RUNNING:
        stop(m, job);
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
    return part(m, job);
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

/* An event counts only if it is that of the job's present start; without activity, of one that
 * runs. */
static bool is_real(const struct sim *m, const struct heap_event *x)
{
    uint8_t state = sched_job(m->sched, x->job)->state;

    return m->start[x->job] == x->start &&
           (state == SCHED_RUNNING || (m->use.jobs && state != SCHED_ABSENT));
}

/* A job starts on a kind of devices, or stops: what it has left takes otherwise long. */
static void scale(struct sim *m, uint32_t job, bool starts)
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

static int start(struct sim *m, uint32_t job)
{
    struct sim_job *j = &m->result->jobs[job];

    if (j->starts++ == 0)
        j->start_ms = m->now_ms;
    j->wait_ms += m->now_ms - m->since_ms[job];
    m->since_ms[job] = m->now_ms;
    scale(m, job, true);
    if (m->span && begin_span(m, job) < 0)
        return -ENOMEM;
    if (m->leaves)
        sim_leaves_count(&m->result->leaves, m->pool, sched_room(m->sched),
                         sched_job(m->sched, job)->part);
    if (m->use.jobs) {
        pass_without(m, job, use_hold(&m->use, job, m->now_ms, true, 0));
        tell_use(m, job);
    }
    return expect(m, job, true);
}

static int preempt(struct sim *m, uint32_t job)
{
    int64_t ran = m->now_ms - m->since_ms[job], cost = sched_restart_ms(m->sched, job);

    stop(m, job);
    if (m->outages)
        account(m, job, false);
    else
        m->left_ms[job] = ran < m->left_ms[job] ? m->left_ms[job] - ran : 0;
    scale(m, job, false);
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
    return part(m, job) < 0 ? -ENOMEM : expect(m, job, false);
}

/* A running job goes on on the devices of another one. */
static int join(struct sim *m, uint32_t guest, uint32_t host)
{
    stop(m, guest);
    use_hold(&m->use, guest, m->now_ms, true, sched_restart_ms(m->sched, guest));
    m->left_ms[guest] = use_left(&m->use, guest);
    m->since_ms[guest] = m->now_ms;
    m->partner[guest] = host;
    m->partner[host] = guest;
    m->result->joined++;
    if (m->span && begin_span(m, guest) < 0)
        return -ENOMEM;
    return set_rate(m, guest) < 0 ? -ENOMEM : set_rate(m, host);
}

static int carry_out_one(struct sim *m, const struct action *a)
{
    m->result->warned += a->kind == ACTION_WARN;
    m->result->reclaimed += a->kind != ACTION_WARN && a->why == WHY_IDLE;
    switch (a->kind) {
    case ACTION_START:
        return start(m, a->job);
    case ACTION_WARN:
        return 0;
    case ACTION_JOIN:
        return join(m, a->job, a->with);
    default:
        return preempt(m, a->job);
    }
}

static int carry_out(struct sim *m)
{
    const struct action *actions;
    size_t n;

    actions = sched_actions(m->sched, &n);
    for (size_t i = 0; i < n; i++) {
        if (m->options->watch)
            m->options->watch(m->options->ctx, m->sched, &actions[i], m->now_ms);
        if (carry_out_one(m, &actions[i]) < 0)
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

/* ---- failures ---- */

static void tell(struct sim *m, const struct action *a)
{
    m->result->events++;
    if (m->options->watch)
        m->options->watch(m->options->ctx, m->sched, a, m->now_ms);
}

/* A job's node is lost: it goes back to its last checkpoint and waits. */
static void lose_job(struct sim *m, uint32_t job, uint32_t node)
{
    const struct work *w = &m->work->jobs[job];
    struct sim_job *j = &m->result->jobs[job];
    struct action a = { .job = job, .kind = ACTION_LOSE, .other = node };
    int64_t length = WORK_UNKNOWN, restart = sched_restart_ms(m->sched, job);

    a.until_ms = account(m, job, true);
    scale(m, job, false);
    tell(m, &a);
    stop(m, job);
    m->result->losses.jobs++;
    m->since_ms[job] = m->now_ms;
    if (++j->losses == SIM_LOSSES) {
        j->fate = SIM_ENDLESS;
        sched_end(m->sched, job, m->now_ms);
        m->result->losses.endless++;
        m->unfinished--;
        return;
    }
    if (m->policy->length == LENGTH_ORACLE)
        length = m->left_ms[job] + restart;
    else if (m->policy->length == LENGTH_LIMIT && w->limit_ms != WORK_UNKNOWN)
        length = MAX(w->limit_ms - w->length_ms, 0) + m->left_ms[job] + restart;
    m->left_ms[job] += restart;
    m->fresh_ms[job] = restart;
    sched_return(m->sched, job, m->now_ms, length);
}

/* A job leaves a node whose window begins: it saves what it did and waits. */
static void leave(struct sim *m, uint32_t job, uint32_t node)
{
    const struct work *w = &m->work->jobs[job];
    int64_t length = WORK_UNKNOWN;

    tell(m, &(struct action){ .job = job, .kind = ACTION_LEAVE, .other = node });
    preempt(m, job);
    if (m->policy->length == LENGTH_ORACLE)
        length = m->left_ms[job];
    else if (m->policy->length == LENGTH_LIMIT && w->limit_ms != WORK_UNKNOWN)
        length = MAX(w->limit_ms - w->length_ms, 0) + m->left_ms[job];
    sched_return(m->sched, job, m->now_ms, length);
}

static void lose_node(struct sim *m, const struct outage_step *x)
{
    bool planned = x->kind == OUTAGE_WINDOW;
    size_t n;
    const uint32_t *running = sched_running(m->sched, &n);

    m->result->losses.failures += !planned;
    tell(m, &(struct action){ .job = UINT32_MAX,
                              .kind = planned ? ACTION_WINDOW : ACTION_DOWN,
                              .other = x->node,
                              .until_ms = x->until_ms });
    while (n-- > 0) { /* the last one takes the place of one that goes */
        if (!sched_is_on(m->sched, running[n], x->node))
            continue;
        if (planned)
            leave(m, running[n], x->node);
        else
            lose_job(m, running[n], x->node);
    }
    sched_node(m->sched, x->node, false);
    if (x->other == UINT32_MAX)
        return;
    sched_node(m->sched, x->other, true);
    tell(m, &(struct action){ .job = x->node, .kind = ACTION_STANDS, .other = x->other });
}

/* Nothing starts on a node any more, or may again. */
static int shut(struct sim *m, const struct outage_step *x)
{
    if (x->opens)
        return sched_close_node(m->sched, x->node, false);
    if (x->up || x->kind != OUTAGE_CLOSES)
        return 0;
    tell(m,
         &(struct action){
             .job = UINT32_MAX, .kind = ACTION_CLOSE, .other = x->node, .until_ms = x->until_ms });
    return sched_close_node(m->sched, x->node, true);
}

/* 1 when a node was lost or is back, 0 when not, -ENOMEM. */
static int fail(struct sim *m)
{
    struct outage_step x;
    int rc, any = 0;

    if (!m->outages)
        return 0;
    while ((rc = outages_step(m->outages, m->now_ms, &x)) > 0) {
        if (shut(m, &x) < 0)
            return -ENOMEM;
        if (!x.used || (!x.up && x.kind == OUTAGE_CLOSES))
            continue;
        any = 1;
        if (!x.up) {
            lose_node(m, &x);
            continue;
        }
        sched_node(m->sched, x.node, true);
        tell(m, &(struct action){ .job = UINT32_MAX, .kind = ACTION_UP, .other = x.node });
    }
    return rc < 0 ? rc : any;
}

/* Those that no time would end. */
static void give_up(struct sim *m)
{
    for (size_t i = 0; m->unfinished > 0 && i < m->work->n_jobs; i++) {
        struct sim_job *j = &m->result->jobs[i];

        if (j->fate != SIM_ENDED ||
            (j->starts > 0 && sched_job(m->sched, (uint32_t)i)->state == SCHED_ABSENT))
            continue;
        j->fate = SIM_ENDLESS;
        m->result->losses.endless++;
        m->unfinished--;
    }
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
    return m->outages ? MIN(at, outages_next(m->outages)) : at;
}

/* A job does something else with its devices, or has none and could go on. Whether the scheduler
 * has to be asked; -ENOMEM. */
static int change(struct sim *m, uint32_t job)
{
    const struct sched_job *j = sched_job(m->sched, job);
    int64_t passed = use_count(&m->use, job, m->now_ms);
    bool asked = m->policy->idle.reclaim_ms > 0;

    pass_without(m, job, passed);
    if (use_over(&m->use, job))
        return end_job(m, job) < 0 ? -ENOMEM : true;
    if (j->state == SCHED_AWAY) {
        m->result->jobs[job].away_ms += m->now_ms - m->since_ms[job];
        m->since_ms[job] = m->now_ms;
        sched_wake(m->sched, job, m->now_ms, passed);
        asked = true;
    }
    if (j->state != SCHED_RUNNING)
        return expect(m, job, false) < 0 ? -ENOMEM : asked;
    tell_use(m, job);
    if (m->partner[job] != WAITING_NONE && set_rate(m, m->partner[job]) < 0)
        return -ENOMEM;
    return set_rate(m, job) < 0 ? -ENOMEM : asked;
}

/* 1 when something did, 0 when nothing, -ENOMEM. */
static int happen(struct sim *m)
{
    const struct heap_event *x;
    int any = 0, failed;

    while ((x = heap_first(&m->ends)) && x->at_ms == m->now_ms) {
        uint32_t job = x->job;
        bool real = is_real(m, x);
        int rc;

        heap_pop(&m->ends);
        if (!real)
            continue;
        rc = m->use.jobs ? change(m, job) : end_job(m, job) < 0 ? -ENOMEM : 1;
        if (rc < 0)
            return rc;
        any |= rc;
    }
    failed = fail(m);
    if (failed < 0)
        return failed;
    any |= failed;
    for (; m->next < m->work->n_jobs && m->work->jobs[m->next].submit_ms == m->now_ms; m->next++)
        if (m->result->jobs[m->next].fate == SIM_ENDED) {
            submit_job(m, (uint32_t)m->next);
            any = 1;
        }
    return any;
}

static int loop(struct sim *m)
{
    int64_t at;
    int rc = 0;

    while (rc == 0 && m->unfinished > 0 && (at = next_time(m)) != WORK_UNKNOWN) {
        if (m->outages && at > m->result->submitted_ms + endless_ms)
            break;
        go_to(m, at);
        rc = happen(m);
        if (rc < 0)
            return rc;
        if (rc > 0)
            m->pass_ms = MIN(m->pass_ms, round_up(m->policy, m->now_ms));
        rc = 0;
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
    struct outages outages = { .next = 0 };
    struct sim m = { .policy = policy, .pool = pool, .work = work, .result = &result };
    int rc;

    m.options = options ? options : &none;
    if (policy->interleave > 1)
        return sim_shared_run(ret, policy, pool, work, m.options, e);
    m.pass_ms = WORK_UNKNOWN;
    if (work->n_jobs)
        result.submitted_ms = work->jobs[work->n_jobs - 1].submit_ms;
    rc = open_sim(&m, e);
    if (rc == 0)
        rc = open_faults(&m, &outages, e);
    if (rc == 0) {
        find_impossible(&m);
        rc = loop(&m) < 0 ? err_nomem(e) : 0;
    }
    if (rc == 0 && m.outages)
        give_up(&m);
    outages_done(&outages);
    heap_done(&m.ends);
    sched_close(m.sched);
    result.measured = m.use.jobs;
    result.busy = m.use.busy;
    result.busy_all = m.use.busy_all;
    if (rc < 0)
        sim_result_done(&result);
    else
        *ret = result;
    return rc;
}
