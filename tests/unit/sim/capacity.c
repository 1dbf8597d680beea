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
    test_oom();
    return done();
}
