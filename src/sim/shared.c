#include "sim/shared.h"

#include <errno.h>
#include <math.h>

#include "sched/interleave.h"
#include "sched/core/order.h"
#include "sched/place/place.h"

/* A job that is there. */
struct here {
    double left_ms;   /* of its work, alone, at the present time */
    double ran_ms;    /* since it was submitted */
    double slower;    /* how many times longer its work takes in its bundle */
    int64_t ready_ms; /* when its bundle has started */
    int64_t since_ms; /* that it waits, or runs */
    uint32_t job;
    uint32_t bundle; /* BUNDLE_NONE: it waits */
    uint32_t at;     /* where it stands in runs, while it runs */
};

/* A bundle that runs. */
struct running {
    uint32_t part;
    uint32_t n, of; /* jobs in it; one of them (of the workload) */
};

struct shared {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    struct sim_result *result;
    struct arena arena;
    struct interleave plan;
    struct interleave_job *jobs; /* what the plan sees of those that are here, by place there */
    uint32_t *runs, *ended; /* those that run, in no order; those that end now: places in here */
    size_t n_runs;
    bool learned; /* the steps of a kind of job have become known: those that wait have changed */
    struct free_capacity room;
    struct fit fit;
    struct here *here;
    bool *seen; /* by kind of job, then by job: its steps are known (LENGTH_STEPS) */
    struct running *running, *other;
    size_t n_here, n_running, next;
    int64_t now_ms, from_ms;
};

static int open_shared(struct shared *m)
{
    size_t n = m->work->n_jobs + 1;
    struct arena *a = &m->arena;

    m->result->jobs = arena_alloc(&m->result->arena, n * sizeof(*m->result->jobs));
    m->jobs = arena_alloc(a, n * sizeof(*m->jobs));
    m->here = arena_alloc(a, n * sizeof(*m->here));
    m->runs = arena_alloc(a, n * sizeof(*m->runs));
    m->ended = arena_alloc(a, n * sizeof(*m->ended));
    m->seen = arena_alloc(a, 2 * n * sizeof(*m->seen));
    m->running = arena_alloc(a, n * sizeof(*m->running));
    m->other = arena_alloc(a, n * sizeof(*m->other));
    m->fit.parts = arena_alloc(a, m->pool->n_nodes * sizeof(*m->fit.parts));
    if (m->pool->n_kinds > 1)
        m->result->used_of = arena_alloc(&m->result->arena,
                                         m->pool->n_kinds * sizeof(*m->result->used_of));
    if (!m->result->jobs || (m->pool->n_kinds > 1 && !m->result->used_of) || !m->jobs || !m->here ||
        !m->runs || !m->ended || !m->seen || !m->running || !m->other || !m->fit.parts)
        return -ENOMEM;
    if (free_capacity_init(&m->room, m->pool) < 0)
        return -ENOMEM;
    return interleave_open(&m->plan, m->work, m->policy);
}

/* ---- time ---- */

/* Where it is kept whether a job like this one was seen. Jobs whose stages are not known have
 * nothing that makes them alike: each has its own. */
static bool *seen_of(const struct shared *m, const struct here *h)
{
    bool alike = m->work->jobs[h->job].step_ms > 0;

    return &m->seen[alike ? m->plan.kind[h->job] : m->work->n_jobs + h->job];
}

/* Whether as much was seen of it that its steps are known. */
static bool is_seen(const struct shared *m, const struct here *h)
{
    return m->policy->length != LENGTH_STEPS || *seen_of(m, h);
}

/* How long until it ends, or until its steps are known. */
static double to_go(const struct shared *m, const struct here *h)
{
    double unseen_ms = h->left_ms - (double)m->work->jobs[h->job].length_ms + LENGTH_SEEN_MS;

    return ceil((is_seen(m, h) ? h->left_ms : fmin(unseen_ms, h->left_ms)) * h->slower);
}

static int64_t next_time(const struct shared *m)
{
    int64_t at = WORK_UNKNOWN;

    if (m->next < m->work->n_jobs)
        at = m->work->jobs[m->next].submit_ms;
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct here *h = &m->here[m->runs[i]];

        at = MIN(at, MAX(h->ready_ms, m->now_ms) + (int64_t)to_go(m, h));
    }
    return at;
}

static void go_to(struct shared *m, int64_t at_ms)
{
    struct sim_result *r = m->result;
    double used = (double)(m->pool->devices * WORK_WHOLE - m->room.milli) / WORK_WHOLE;
    int64_t first = MIN(at_ms, r->submitted_ms) - MAX(m->now_ms, m->from_ms);

    if (first > 0)
        r->used += used * (double)first;
    for (size_t k = 0; first > 0 && r->used_of && k < m->pool->n_kinds; k++)
        r->used_of[k] += (double)m->room.taken[k] / WORK_WHOLE * (double)first;
    r->used_all += used * (double)(at_ms - m->now_ms);
    for (size_t i = 0; i < m->n_runs; i++) {
        struct here *h = &m->here[m->runs[i]];

        h->ran_ms += (double)(at_ms - m->now_ms);
        if (at_ms > h->ready_ms)
            h->left_ms -= (double)(at_ms - MAX(m->now_ms, h->ready_ms)) / h->slower;
    }
    m->now_ms = at_ms;
}

/* ---- what the plan sees ---- */

/* What is known of the work that a job has left: the truth, its limit, or that those which have run
 * for long will: three tenths of what they did, and the policy's first queue. One whose steps were
 * not seen yet goes first. */
static double expected(const struct shared *m, const struct here *h)
{
    static const double share = 0.3;
    const struct work *w = &m->work->jobs[h->job];

    if (m->policy->order->keeps_ms)
        return (double)m->policy->queue_ms[0] + share * h->ran_ms;
    if (m->policy->length == LENGTH_LIMIT && w->limit_ms != WORK_UNKNOWN)
        return MAX((double)w->limit_ms - h->ran_ms, 1);
    return is_seen(m, h) ? MAX(h->left_ms, 1) : 0;
}

static void describe(struct shared *m, uint32_t i)
{
    const struct here *h = &m->here[i];

    m->jobs[i] = (struct interleave_job){ .work = &m->work->jobs[h->job],
                                          .left_ms = expected(m, h),
                                          .bundle = h->bundle,
                                          .kind = m->plan.kind[h->job],
                                          .devices = m->work->jobs[h->job].devices,
                                          .alone = !is_seen(m, h) };
}

/* Those that run have changed since the last plan; those that wait only where steps of jobs like
 * them have become known. */
static void describe_all(struct shared *m)
{
    for (size_t i = 0; i < m->n_runs; i++)
        describe(m, m->runs[i]);
    for (uint32_t i = 0; m->learned && i < m->n_here; i++) {
        if (m->here[i].bundle != BUNDLE_NONE)
            continue;
        interleave_leave(&m->plan, m->jobs, i);
        describe(m, i);
        interleave_wait(&m->plan, m->jobs, i);
    }
    m->learned = false;
}

/* ---- what happens ---- */

/* The last one of here goes to a place that has become free. */
static void move_last(struct shared *m, uint32_t to)
{
    uint32_t last = (uint32_t)--m->n_here;
    bool waits = m->here[last].bundle == BUNDLE_NONE;

    if (last == to)
        return;
    if (waits)
        interleave_leave(&m->plan, m->jobs, last);
    m->here[to] = m->here[last];
    m->jobs[to] = m->jobs[last];
    if (waits)
        interleave_wait(&m->plan, m->jobs, to);
    else
        m->runs[m->here[to].at] = to;
}

static void leave(struct shared *m, uint32_t i)
{
    struct here *h = &m->here[i];
    struct sim_job *j = &m->result->jobs[h->job];
    struct running *r = &m->running[h->bundle];
    uint32_t other = m->runs[--m->n_runs];

    m->runs[h->at] = other;
    m->here[other].at = h->at;
    j->end_ms = m->now_ms;
    j->ran_ms += m->now_ms - h->since_ms;
    if (--r->n == 0) {
        free_capacity_give(&m->room, &m->work->jobs[r->of], r->part);
        r->part = NO_PART;
    }
    m->result->events++;
    m->result->end_ms = m->now_ms;
    move_last(m, i);
}

/* Those that end, from the last place to the first; and whose steps have become known. */
static size_t find_ended(struct shared *m)
{
    static const double nothing_ms = 0.5;
    size_t n = 0;

    for (size_t i = 0; i < m->n_runs; i++) {
        uint32_t at = m->runs[i];
        const struct here *h = &m->here[at];
        size_t k = n;

        if (m->now_ms < h->ready_ms)
            continue;
        if (to_go(m, h) < nothing_ms) {
            m->learned |= !is_seen(m, h) && m->work->jobs[h->job].step_ms > 0;
            *seen_of(m, h) = true;
        }
        if (h->left_ms >= nothing_ms)
            continue;
        for (; k > 0 && m->ended[k - 1] < at; k--)
            m->ended[k] = m->ended[k - 1];
        m->ended[k] = at;
        n++;
    }
    return n;
}

static void happen(struct shared *m)
{
    size_t n_ended = find_ended(m);

    for (size_t i = 0; i < n_ended; i++)
        leave(m, m->ended[i]);
    for (; m->next < m->work->n_jobs && m->work->jobs[m->next].submit_ms == m->now_ms; m->next++) {
        const struct work *w = &m->work->jobs[m->next];
        uint32_t i = (uint32_t)m->n_here;

        if (m->result->jobs[m->next].fate != SIM_ENDED)
            continue;
        m->here[m->n_here++] = (struct here){ .left_ms = (double)w->length_ms,
                                              .slower = 1,
                                              .since_ms = m->now_ms,
                                              .job = (uint32_t)m->next,
                                              .bundle = BUNDLE_NONE };
        describe(m, i);
        interleave_wait(&m->plan, m->jobs, i);
        m->result->events++;
    }
}

/* ---- bundles ---- */

static void stop(struct shared *m, uint32_t i)
{
    struct here *h = &m->here[i];

    m->result->jobs[h->job].ran_ms += m->now_ms - h->since_ms;
    m->result->preemptions++;
    m->result->events++;
    h->bundle = BUNDLE_NONE;
    h->since_ms = m->now_ms;
    describe(m, i);
    interleave_wait(&m->plan, m->jobs, i);
}

/* Those that run otherwise than planned give their devices back. */
static void stop_others(struct shared *m)
{
    const struct bundle *b = m->plan.bundles;

    for (size_t i = 0; i < m->n_running; i++)
        m->other[i].n = 0;
    for (size_t i = 0; i < m->plan.n_bundles; i++)
        if (b[i].same != BUNDLE_NONE)
            m->other[b[i].same].n = 1;
    for (size_t i = 0; i < m->n_running; i++) {
        struct running *r = &m->running[i];

        if (m->other[i].n || r->part == NO_PART)
            continue;
        free_capacity_give(&m->room, &m->work->jobs[r->of], r->part);
        r->part = NO_PART;
    }
    for (size_t i = 0; i < m->n_runs; i++)
        if (!m->other[m->here[m->runs[i]].bundle].n)
            stop(m, m->runs[i]);
}

/* How many times longer the work of a job takes in a bundle. */
static double slower(const struct shared *m, const struct bundle *b, uint32_t job)
{
    return b->n > 1 ? b->step_ms / interleave_period_alone(&m->work->jobs[job]) : 1;
}

static void start(struct shared *m, const struct bundle *b, uint32_t number, int64_t cost)
{
    for (uint32_t k = 0; k < b->n; k++) {
        struct here *h = &m->here[b->jobs[k]];
        struct sim_job *j = &m->result->jobs[h->job];

        if (j->starts++ == 0)
            j->start_ms = m->now_ms;
        j->wait_ms += m->now_ms - h->since_ms;
        interleave_leave(&m->plan, m->jobs, b->jobs[k]);
        h->since_ms = m->now_ms;
        h->ready_ms = m->now_ms + cost;
        h->slower = slower(m, b, h->job);
        h->bundle = number;
        m->result->events++;
    }
}

/* Give devices to those that are planned and have none: the largest first. */
static int start_new(struct shared *m)
{
    const struct bundle *b = m->plan.bundles;
    int32_t at_most = INT32_MAX, size = 0;

    do {
        size = 0;
        for (size_t i = 0; i < m->plan.n_bundles; i++) {
            const struct work *w = &m->work->jobs[m->here[b[i].jobs[0]].job];

            if (b[i].same != BUNDLE_NONE)
                continue;
            if (w->devices < at_most) {
                size = MAX(size, w->devices);
                continue;
            }
            if (w->devices > at_most || !m->policy->place->find(&m->room, w, &m->fit))
                continue;
            m->other[i] = (struct running){ .n = b[i].n, .of = m->here[b[i].jobs[0]].job };
            if (free_capacity_take(&m->room, w, &m->fit, &m->other[i].part) < 0)
                return -ENOMEM;
            start(m, &b[i], (uint32_t)i, (int64_t)interleave_start_ms(&m->plan, m->jobs, &b[i]));
        }
        at_most = size;
    } while (size > 0);
    return 0;
}

/* Number those that run as the plan does. Where a job has ended, the others go on, faster. */
static void renumber(struct shared *m)
{
    const struct bundle *b = m->plan.bundles;

    for (size_t i = 0; i < m->plan.n_bundles; i++) {
        m->other[i] = (struct running){ .part = NO_PART };
        if (b[i].same == BUNDLE_NONE)
            continue;
        m->other[i] = m->running[b[i].same];
        for (uint32_t k = 0; k < b[i].n; k++) {
            struct here *h = &m->here[b[i].jobs[k]];

            h->bundle = (uint32_t)i;
            h->slower = slower(m, &b[i], h->job);
        }
    }
}

static void list_run(struct shared *m, uint32_t at)
{
    if (m->here[at].bundle == BUNDLE_NONE)
        return;
    m->here[at].at = (uint32_t)m->n_runs;
    m->runs[m->n_runs++] = at;
}

/* All that run are in the plan. Those that ran before it come first, in its order: the next one
 * finds most of them where they belong. */
static void list_runs(struct shared *m)
{
    size_t before = m->n_runs;

    m->n_runs = 0;
    for (size_t i = 0; i < before; i++)
        list_run(m, m->plan.runs[i]);
    for (size_t i = 0; i < m->plan.n_bundles; i++)
        for (uint32_t k = 0; k < m->plan.bundles[i].n; k++) {
            uint32_t at = m->plan.bundles[i].jobs[k], stands = m->here[at].at;

            if (stands >= m->n_runs || m->runs[stands] != at)
                list_run(m, at);
        }
}

static int pass(struct shared *m)
{
    struct running *swap;

    describe_all(m);
    interleave_plan(&m->plan, m->jobs, m->runs, m->n_runs, m->pool->devices);
    stop_others(m);
    renumber(m);
    if (start_new(m) < 0)
        return -ENOMEM;
    swap = m->running;
    list_runs(m);
    m->running = m->other;
    m->other = swap;
    m->n_running = m->plan.n_bundles;
    m->result->passes++;
    return 0;
}

static int loop(struct shared *m)
{
    int64_t at;
    int rc = 0;

    while (rc == 0 && (at = next_time(m)) != WORK_UNKNOWN) {
        go_to(m, at);
        happen(m);
        rc = pass(m);
    }
    return rc;
}

/* ---- the whole ---- */

static void find_impossible(struct shared *m)
{
    for (size_t i = 0; i < m->work->n_jobs; i++)
        if (!m->policy->place->find(&m->room, &m->work->jobs[i], &m->fit)) {
            m->result->jobs[i].fate = SIM_IMPOSSIBLE;
            m->result->impossible++;
        }
}

int sim_shared_run(struct sim_result *ret, const struct policy *policy, const struct pool *pool,
                   const struct workload *work, const struct sim_options *options, struct err *e)
{
    struct sim_result result = { .events = 0 };
    struct shared m = { .policy = policy, .pool = pool, .work = work, .result = &result };
    int rc;

    if (options->watch || options->outages || options->spans)
        return err_set(e, -EINVAL,
                       "%s: --actions, --failures and --html are for policies without interleave",
                       policy->name);
    if (work_data_costs(work))
        return err_set(e, -EINVAL, "%s: data that cost time to bring do not go with interleave",
                       policy->name);
    result.submitted_ms = sim_until(options, work);
    m.from_ms = options->from_ms;
    result.counted_ms = MAX(result.submitted_ms - m.from_ms, 0);
    rc = open_shared(&m);
    if (rc == 0) {
        find_impossible(&m);
        rc = loop(&m);
    }
    free_capacity_done(&m.room);
    interleave_done(&m.plan);
    arena_done(&m.arena);
    if (rc < 0) {
        sim_result_done(&result);
        return err_nomem(e);
    }
    *ret = result;
    return 0;
}
