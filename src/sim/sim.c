#include "sim/sim.h"

#include <assert.h>
#include <errno.h>

#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/shared.h"
#include "sim/sim_private.h"

/* Passes are made at multiples of a time. */
static int64_t round_up(const struct policy *p, int64_t at_ms)
{
    if (p->every_ms == 0 || at_ms == WORK_UNKNOWN)
        return at_ms;
    return (at_ms + p->every_ms - 1) / p->every_ms * p->every_ms;
}

/* What it remembers of each job, and of devices. */
static int open_tables(struct sim *m, struct err *e)
{
    struct arena *a = &m->result->arena;
    size_t n = m->work->n_jobs + 1;

    m->result->jobs = arena_alloc(a, n * sizeof(*m->result->jobs));
    m->left_ms = arena_alloc(a, n * sizeof(*m->left_ms));
    m->since_ms = arena_alloc(a, n * sizeof(*m->since_ms));
    m->fresh_ms = arena_alloc(a, n * sizeof(*m->fresh_ms));
    m->start = arena_alloc(a, n * sizeof(*m->start));
    m->result->samples = arena_alloc(a, SIM_SAMPLES * sizeof(*m->result->samples));
    if (m->pool->n_kinds > 1)
        m->result->used_of = arena_alloc(a, m->pool->n_kinds * sizeof(*m->result->used_of));
    if (!m->result->jobs || !m->left_ms || !m->since_ms || !m->fresh_ms || !m->start ||
        !m->result->samples || (m->pool->n_kinds > 1 && !m->result->used_of))
        return err_nomem(e);
    return 0;
}

static int open_features(struct sim *m, struct err *e)
{
    const struct sim_feature **on = m->on;

    for (size_t i = 0; sim_features[i]; i++) {
        int rc = sim_features[i]->open(m, e);

        if (rc < 0)
            return rc;
        if (rc > 0)
            *on++ = sim_features[i];
    }
    return 0;
}

static int open_sim(struct sim *m, struct err *e)
{
    int rc = open_tables(m, e);

    if (rc < 0)
        return rc;
    m->sample_ms = m->result->submitted_ms / SIM_SAMPLES / 2;
    if (use_open(&m->use, &m->result->arena, m->work) < 0)
        return err_nomem(e);
    m->use.from_ms = m->options->from_ms;
    m->use.submitted_ms = m->result->submitted_ms;
    m->counting = m->use.jobs ? &counting_by_use : &counting_by_length;
    rc = m->counting->open ? m->counting->open(m, e) : 0;
    if (rc == 0)
        rc = sched_open(&m->sched, m->policy, m->pool, m->work, e);
    return rc < 0 ? rc : open_features(m, e);
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
    int64_t first = sim_counted(m, at_ms);

    if (m->sample_ms < at_ms)
        sample(m, at_ms);
    for (size_t k = 0; first > 0 && r->used_of && k < m->pool->n_kinds; k++)
        r->used_of[k] += (double)room->taken[k] / WORK_WHOLE * (double)first;
    if (first > 0)
        r->used += used * (double)first;
    SIM_CALL(m, passes, at_ms);
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
           (state == SCHED_RUNNING || (m->counting->away && state != SCHED_ABSENT));
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
    for (const struct sim_feature *const *f = m->on; *f; f++)
        if ((*f)->next_ms)
            at = MIN(at, (*f)->next_ms(m));
    return at;
}

/* 1 when something did, 0 when nothing, -ENOMEM. */
static int happen(struct sim *m)
{
    const struct heap_event *x;
    int any = 0, rc;

    while ((x = heap_first(&m->ends)) && x->at_ms == m->now_ms) {
        uint32_t job = x->job;
        bool real = is_real(m, x);

        heap_pop(&m->ends);
        if (!real)
            continue;
        rc = m->counting->happens(m, job);
        if (rc < 0)
            return rc;
        any |= rc;
    }
    for (const struct sim_feature *const *f = m->on; *f; f++) {
        rc = (*f)->happens ? (*f)->happens(m) : 0;
        if (rc < 0)
            return rc;
        any |= rc;
    }
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
        if (at > m->until_ms)
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
        for (const struct sim_feature *const *f = m->on; rc == 0 && *f; f++)
            if ((*f)->acted)
                m->pass_ms = MIN(m->pass_ms, round_up(m->policy, (*f)->acted(m)));
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
    if (policy->interleave > 1)
        return sim_shared_run(ret, policy, pool, work, m.options, e);
    m.pass_ms = m.until_ms = WORK_UNKNOWN;
    result.submitted_ms = sim_until(m.options, work);
    result.counted_ms = MAX(result.submitted_ms - m.options->from_ms, 0);
    rc = open_sim(&m, e);
    if (rc == 0) {
        find_impossible(&m);
        rc = loop(&m) < 0 ? err_nomem(e) : 0;
    }
    if (rc == 0)
        SIM_CALL(&m, ended);
    for (size_t i = 0; sim_features[i]; i++)
        if (sim_features[i]->close)
            sim_features[i]->close(&m);
    heap_done(&m.ends);
    sched_close(m.sched);
    if (rc == 0 && m.counting->sum)
        m.counting->sum(&m);
    if (rc < 0)
        sim_result_done(&result);
    else
        *ret = result;
    return rc;
}
