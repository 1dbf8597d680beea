#include "sim/sim.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/outages.h"
#include "sim/shared.h"
#include "sim/sim_private.h"

/* Failures do not go on for ever after the last submission. */
static const int64_t endless_ms = (int64_t)5 * 365 * 86400 * 1000;

/* Passes are made at multiples of a time. */
static int64_t round_up(const struct policy *p, int64_t at_ms)
{
    if (p->every_ms == 0 || at_ms == WORK_UNKNOWN)
        return at_ms;
    return (at_ms + p->every_ms - 1) / p->every_ms * p->every_ms;
}

/* Whether the policy goes with the workload. */
static int check_policy(const struct sim *m, struct err *e)
{
    if (m->seen && (m->use.jobs || m->work->n_speeds > 0 || m->policy->restart_each_pass))
        return err_set(e, -EINVAL, "%s: length = steps is for jobs that go on at one speed",
                       m->policy->name);
    if (m->use.jobs && m->policy->restart_each_pass)
        return err_set(e, -EINVAL, "%s: restart-each-pass is for jobs whose activity nobody knows",
                       m->policy->name);
    if (m->use.jobs && m->work->n_speeds > 0)
        return err_set(e, -EINVAL, "speeds by kinds are for jobs whose activity nobody knows");
    return 0;
}

/* What it remembers of each job, and of devices. */
static int open_tables(struct sim *m, struct err *e)
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
    return 0;
}

static int open_sim(struct sim *m, struct err *e)
{
    struct arena *a = &m->result->arena;
    size_t n = m->work->n_jobs + 1;
    int rc = open_tables(m, e);

    if (rc < 0)
        return rc;
    if (m->options->spans) {
        m->span = arena_alloc(a, n * sizeof(*m->span));
        if (!m->span)
            return err_nomem(e);
    }
    if (m->work->n_speeds > 0 || m->policy->power.action == POWER_LIMIT) {
        m->speed = arena_alloc(a, n * sizeof(*m->speed));
        if (!m->speed)
            return err_nomem(e);
    }
    m->sample_ms = m->result->submitted_ms / SIM_SAMPLES / 2;
    for (size_t i = 0; i < m->pool->n_nodes; i++)
        m->leaves |= m->pool->nodes[i].leaf != 0;
    if (use_open(&m->use, a, m->work) < 0)
        return err_nomem(e);
    m->use.from_ms = m->options->from_ms;
    if (m->use.jobs) {
        m->partner = arena_alloc(a, n * sizeof(*m->partner));
        if (!m->partner)
            return err_nomem(e);
        memset(m->partner, 0xff, n * sizeof(*m->partner));
    }
    if (m->policy->length == LENGTH_STEPS) {
        m->seen = arena_alloc(a, n);
        if (!m->seen)
            return err_nomem(e);
    }
    if (m->policy->length == LENGTH_HISTORY && forecast_init(&m->forecast, a, m->work) < 0)
        return err_nomem(e);
    rc = check_policy(m, e);
    if (rc < 0)
        return rc;
    rc = sim_tiers_open(m, e);
    if (rc < 0)
        return rc;
    return sim_open_elastic(m) < 0 || sim_open_data(m) < 0 ? err_nomem(e) : 0;
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
    if (m->use.jobs && m->devices)
        return err_set(e, -EINVAL,
                       "%s: with failures [elastic] is for jobs whose activity nobody knows",
                       m->policy->name);
    if (!m->fresh_ms)
        m->fresh_ms = arena_alloc(&m->result->arena, (m->work->n_jobs + 1) * sizeof(*m->fresh_ms));
    if (!m->fresh_ms)
        return err_nomem(e);
    rc = outages_open(f, m->options->outages, m->pool, e);
    if (rc < 0)
        return rc;
    m->outages = f;
    m->use.saves = true;
    m->use.cost_ms = m->options->outages->checkpoint_cost_ms;
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
    const struct free_capacity *room = sched_capacity(m->sched);
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
    const struct free_capacity *room = sched_capacity(m->sched);
    double used = (double)(m->pool->devices * WORK_WHOLE - room->milli - room->lost) / WORK_WHOLE;
    int64_t first = MIN(at_ms, r->submitted_ms) - MAX(m->now_ms, m->options->from_ms);

    if (m->sample_ms < at_ms)
        sample(m, at_ms);
    for (size_t k = 0; first > 0 && r->used_of && k < m->pool->n_kinds; k++)
        r->used_of[k] += (double)room->taken[k] / WORK_WHOLE * (double)first;
    if (first > 0)
        r->used += used * (double)first;
    if (m->use.jobs && m->policy->spot.notice_ms > 0)
        sim_tiers_leave(m, first, at_ms - m->now_ms);
    if (first > 0 && m->options->watts)
        sim_tiers_pass(m, first);
    r->used_all += used * (double)(at_ms - m->now_ms);
    r->losses.out += (double)room->lost / WORK_WHOLE * (double)(at_ms - m->now_ms);
    m->now_ms = at_ms;
}

/* An event counts only if it is that of the job's present start; without activity, of one that
 * runs. */
static bool is_real(const struct sim *m, const struct heap_event *x)
{
    uint8_t state = sched_job(m->sched, x->job)->state;

    return m->start[x->job] == x->start &&
           (state == SCHED_RUNNING || (m->use.jobs && state != SCHED_ABSENT));
}

static int carry_out_one(struct sim *m, const struct action *a)
{
    m->result->warned += a->kind == ACTION_WARN;
    m->result->reclaimed += a->kind != ACTION_WARN && a->why == WHY_IDLE;
    m->result->tiers.held += a->kind == ACTION_HOLD;
    m->result->tiers.for_replicas += a->why == WHY_REPLICA;
    if (a->why == WHY_WAY)
        return sim_give_way(m, a->job);
    switch (a->kind) {
    case ACTION_START:
        sim_give_devices(m, a->job, a->devices);
        return sim_start_job(m, a->job, a->ready_ms);
    case ACTION_RESIZE:
        return sim_resize(m, a);
    case ACTION_WARN:
    case ACTION_HOLD:
        return 0;
    case ACTION_JOIN:
        return sim_join(m, a->job, a->with);
    default:
        return sim_preempt_job(m, a->job);
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
    if (m->options->watts)
        sim_tiers_look(m);
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
    return m->outages ? MIN(at, outages_next(m->outages)) : at;
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
        rc = m->use.jobs ? sim_change(m, job) : sim_end_job(m, job) < 0 ? -ENOMEM : 1;
        if (rc < 0)
            return rc;
        any |= rc;
    }
    failed = sim_fail(m);
    if (failed < 0)
        return failed;
    any |= failed;
    for (; m->next < m->work->n_jobs && m->work->jobs[m->next].submit_ms == m->now_ms; m->next++)
        if (m->result->jobs[m->next].fate == SIM_ENDED) {
            sim_submit_job(m, (uint32_t)m->next);
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
        sim_known_again(m);
        if (m->policy->restart_each_pass)
            rc = sim_restart_all(m);
        if (rc == 0)
            rc = sched_pass(m->sched, m->now_ms, &m->pass_ms);
        m->pass_ms = round_up(m->policy, m->pass_ms);
        m->result->passes++;
        if (rc == 0)
            rc = carry_out(m);
        if (rc == 0 && m->seen)
            m->pass_ms = MIN(m->pass_ms, round_up(m->policy, sim_known_again(m)));
    }
    return rc;
}

/* What is known where jobs say how busy they keep their devices. */
static void take_use(struct sim_result *r, const struct use *u)
{
    r->measured = true;
    memcpy(r->spent, u->spent, sizeof(r->spent));
    r->busy = u->spent[USE_COUNTED][USE_BUSY];
    r->busy_all = u->spent[USE_ALL][USE_BUSY];
    r->losses.restarts = u->spent[USE_ALL][USE_START];
    r->losses.redone = u->spent[USE_ALL][USE_REDONE];
    r->losses.saving = u->spent[USE_ALL][USE_SAVING];
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
    result.counted_ms = MAX(result.submitted_ms - m.options->from_ms, 0);
    rc = open_sim(&m, e);
    if (rc == 0)
        rc = open_faults(&m, &outages, e);
    if (rc == 0) {
        find_impossible(&m);
        rc = loop(&m) < 0 ? err_nomem(e) : 0;
    }
    if (rc == 0 && m.outages)
        sim_give_up(&m);
    outages_done(&outages);
    heap_done(&m.ends);
    sched_close(m.sched);
    if (m.use.jobs)
        take_use(&result, &m.use);
    if (rc < 0)
        sim_result_done(&result);
    else
        *ret = result;
    return rc;
}
