/* The fewest nodes that meet a target, against trying each number. */
#include <errno.h>
#include <math.h>

#include "oom.h"
#include "oom_arena.h"
#include "sim/capacity.h"
#include "tap.h"

enum { ROUNDS = 30, JOBS = 60 };

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

static int make(struct workload *w, struct pool *p, uint64_t seed)
{
    int64_t now = 0;

    *w = (struct workload){ .n_jobs = 0 };
    *p = (struct pool){ .n_nodes = 0 };
    for (int i = 0; i < JOBS; i++) {
        struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

        if (!job)
            return -ENOMEM;
        *job = (struct work){ .submit_ms = now, .restart_ms = -1, .milli = WORK_WHOLE };
        job->length_ms = 1000LL * (1 + below(&seed, 400));
        job->devices = 1 + below(&seed, below(&seed, 3) ? 4 : 12);
        job->user = job->team = job->class = -1;
        job->limit_ms = WORK_UNKNOWN;
        job->name = "j";
        now += 1000LL * below(&seed, 20);
    }
    return workload_settle(w, NULL) != 0 ? -ENOMEM : pool_parse(p, "2x4", NULL);
}

/* The metric with so many nodes more. */
static double with(const struct capacity_ask *ask, size_t nodes)
{
    struct pool p = { .n_nodes = 0 };
    struct sim_result r = { .events = 0 };
    double value = (double)NAN;
    char text[24];

    snprintf(text, sizeof(text), "%zux4", ask->pool->n_nodes + nodes);
    if (pool_parse(&p, text, NULL) == 0 &&
        sim_run(&r, ask->policy, &p, ask->work, NULL, NULL) == 0 &&
        capacity_measure(&value, ask->target.metric, &r, ask->work) < 0)
        value = (double)NAN;
    sim_result_done(&r);
    pool_done(&p);
    return value;
}

static bool right(const struct capacity_ask *ask, const struct capacity_answer *a)
{
    double most = ask->target.most_s, value = with(ask, a->nodes);

    if (!a->found)
        return !(with(ask, a->most) <= most);
    if (!(value <= most) || fabs(value - a->value) > 1e-9)
        return false;
    return a->nodes == 0 || !(with(ask, a->nodes - 1) <= most);
}

static void test_find(void)
{
    int wrong = 0, found = 0, none = 0, unlike = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct capacity_ask ask = { .shape = { 4, "" } };
        struct capacity_answer one, four;
        struct workload w;
        struct policy policy;
        struct pool pool;

        if (make(&w, &pool, seed) < 0 || policy_named(&policy, "greedy", NULL) != 0)
            return;
        ask.policy = &policy;
        ask.pool = &pool;
        ask.work = &w;
        ask.target.metric = (enum capacity_metric)(seed % CAPACITY_METRICS);
        ask.target.most_s = (double)(10 + seed * 7 % 300);
        ask.threads = 1;
        wrong += capacity_find(&one, &ask, NULL) != 0 || !right(&ask, &one);
        ask.threads = 4;
        wrong += capacity_find(&four, &ask, NULL) != 0 || !right(&ask, &four);
        unlike += one.found != four.found;
        found += one.found && one.nodes > 0;
        none += !one.found;
        workload_done(&w);
        pool_done(&pool);
    }
    is_int(wrong, 0, "the number of nodes meets the target, and one less does not");
    is_int(unlike, 0, "one thread finds the same capacity as four");
    ok(found > 5 && none > 1, "some need nodes (%d), for some none are enough (%d)", found, none);
}

static void test_read(void)
{
    struct capacity_target t;
    struct err e;

    ok(capacity_target_read(&t, "p90-wait=1h", &e) == 0 && t.metric == CAPACITY_P90_WAIT,
       "capacity_target_read reads the metric p90-wait");
    is_int((int)t.most_s, 3600, "capacity_target_read reads 1h as 3600 seconds");
    ok(capacity_target_read(&t, "p90-wait=soon", &e) < 0 && strstr(e.text, "a time is"),
       "a target refuses a word that is no time");
    ok(capacity_target_read(&t, "p95-wait=1h", &e) < 0 && strstr(e.text, "as p90-wait=1h"),
       "a target refuses the metric p95-wait");
    ok(capacity_target_read(&t, "p90-wait", &e) < 0, "a target without a time is refused");
}

/* Eleven jobs that are submitted at 5 s, wait 1, 2, ... s, and end 10, 20, ... s later; last: with
 * one more that never ends, where -1 is for ever. */
static void test_measure(void)
{
    static const double want[CAPACITY_METRICS] = { 6, 6, 10, 10.9, 11, 60, 100, 109 };
    static const double last[CAPACITY_METRICS] = { -1, 6.5, 10.9, -1, -1, -1, 109, -1 };
    struct work jobs[12];
    struct sim_job done_jobs[12];
    struct workload w = { .jobs = jobs };
    const struct sim_result r = { .jobs = done_jobs };

    for (int i = 0; i < 12; i++) {
        int k = i < 11 ? (i * 7) % 11 + 1 : 1; /* in no order */

        jobs[i] = (struct work){ .submit_ms = 5000, .devices = 1 };
        done_jobs[i] = (struct sim_job){ .wait_ms = k * 1000, .end_ms = 5000 + k * 10000 };
        done_jobs[i].fate = i < 11 ? SIM_ENDED : SIM_IMPOSSIBLE;
    }
    for (int m = 0; m < CAPACITY_METRICS; m++) {
        const char *name = capacity_metric_name((enum capacity_metric)m);
        double value = -1;

        w.n_jobs = 11;
        is_int(capacity_measure(&value, (enum capacity_metric)m, &r, &w), 0, "%s is measured",
               name);
        ok(fabs(value - want[m]) < 1e-9, "%s of eleven jobs is right (%g)", name, value);
        w.n_jobs = 12;
        is_int(capacity_measure(&value, (enum capacity_metric)m, &r, &w), 0,
               "%s is measured where a job never ends", name);
        ok(last[m] < 0 ? isinf(value) : fabs(value - last[m]) < 1e-9,
           "%s knows of a job that never ends (%g)", name, value);
        w.n_jobs = 0;
        is_int(capacity_measure(&value, (enum capacity_metric)m, &r, &w), 0,
               "%s of no jobs is measured", name);
        ok(value >= 0 && value <= 0, "%s of no jobs is none", name);
    }
}

/* Jobs of 3 and 5 devices side by side, then one of 3 as the first ends: 8 at once. No number of
 * nodes holds the last job, which wants another kind. */
static void test_most(void)
{
    static const struct {
        int submit_s, length_s, devices;
    } lines[] = { { 0, 10, 3 }, { 0, 20, 5 }, { 10, 10, 3 }, { 20, 10, 4 } };
    struct capacity_ask ask = { .shape = { 4, "A" },
                                .threads = 3,
                                .target = { CAPACITY_MAX_WAIT, 60 } };
    struct capacity_answer a;
    struct workload w = { .n_jobs = 0 };
    struct policy policy;
    struct pool pool = { .n_nodes = 0 };

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        struct work *job = ARENA_PUSH(&w.arena, &w.jobs, &w.n_jobs);

        if (!job)
            return;
        *job = (struct work){ .name = "j", .restart_ms = -1, .milli = WORK_WHOLE };
        job->submit_ms = lines[i].submit_s * 1000LL;
        job->length_ms = lines[i].length_s * 1000LL;
        job->devices = lines[i].devices;
        job->user = job->team = job->class = -1;
        job->kinds = i == 3 ? 2 : 1;
    }
    if (workload_settle(&w, NULL) != 0 || policy_named(&policy, "greedy", NULL) != 0 ||
        pool_parse(&pool, "2x4:A,1x2:B", NULL) != 0)
        return;
    ask.policy = &policy;
    ask.pool = &pool;
    ask.work = &w;
    is_int(capacity_find(&a, &ask, NULL), 0, "nodes are looked for where none are enough");
    ok(!a.found && isinf(a.at_most) && isinf(a.today), "a job that never runs waits for ever");
    is_int((int)a.most, 2 * 8 / 4 + 2, "twice what all jobs need at once is tried");
    w.n_jobs = 3;
    is_int(capacity_find(&a, &ask, NULL), 0, "a pool that is enough is found");
    ok(a.found && a.nodes == 0 && a.tries == 1 && isnan(a.one_less) && a.steady,
       "one simulation tells that no node is missing");
    workload_done(&w);
    pool_done(&pool);
}

static void test_oom(void)
{
    struct capacity_ask ask = { .shape = { 4, "" },
                                .threads = 1,
                                .target = { CAPACITY_P90_WAIT, 60 } };
    struct workload w;
    struct policy policy;
    struct pool pool;
    int wrong = 0, rounds = 0;
    bool failed;

    if (make(&w, &pool, 2) < 0 || policy_named(&policy, "greedy", NULL) != 0)
        return;
    ask.policy = &policy;
    ask.pool = &pool;
    ask.work = &w;
    oom_restart();
    do {
        struct capacity_answer answer;
        int rc;

        oom_next();
        rc = capacity_find(&answer, &ask, NULL);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 50, "%d allocations fail, %d wrongly", rounds, wrong);
    workload_done(&w);
    pool_done(&pool);
}

int main(void)
{
    test_find();
    test_read();
    test_measure();
    test_most();
    test_oom();
    return done();
}
