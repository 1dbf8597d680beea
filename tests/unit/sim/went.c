/* What really became of jobs, and up to when devices count for shares: of them, and of a simulation
 * of the same. */
#include "sim/went.h"

#include <stdlib.h>

#include "sim/stats/stats.h"
#include "tap.h"

enum { JOBS = 3, UNTIL_MS = 100000 };

static void check(int rc)
{
    if (rc < 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
}

/* Two devices; a takes both for 40 s, b one for 30 s from 20 s on, c one from 80 s on, beyond the
 * end. */
static struct work jobs[JOBS] = {
    { .name = "a", .length_ms = 40000, .devices = 2 },
    { .name = "b", .submit_ms = 20000, .length_ms = 30000, .devices = 1 },
    { .name = "c", .submit_ms = 80000, .length_ms = 50000, .devices = 1 },
};
static const struct work_went went[JOBS] = { { 0, 40000 }, { 60000, 90000 }, { 80000, 130000 } };

static void begin(struct workload *w, struct pool *pool)
{
    *w = (struct workload){ .jobs = jobs, .n_jobs = JOBS };
    *pool = (struct pool){ .n_nodes = 0 };
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i].milli = WORK_WHOLE;
        jobs[i].limit_ms = WORK_UNKNOWN;
        jobs[i].restart_ms = -1;
        jobs[i].user = jobs[i].team = jobs[i].class = -1;
    }
    check(pool_parse(pool, "1x2", NULL));
    check(workload_settle(w, NULL));
}

static void test_went(void)
{
    const struct sim_options options = { .until_ms = UNTIL_MS },
                             later = { .from_ms = 70000, .until_ms = UNTIL_MS };
    const struct sim_options none = { .until_ms = 0 };
    struct sim_result r;
    struct sim_stats s;
    struct workload w;
    struct pool pool;

    begin(&w, &pool);
    check(sim_went(&r, went, &w, &options, NULL));
    is_int((int)r.counted_ms, UNTIL_MS, "the window counts");
    is_int((int)r.used, 2 * 40000 + 30000 + 20000, "what jobs had of it");
    is_int((int)r.used_all, 2 * 40000 + 30000 + 50000, "what they had in all");
    is_int((int)r.end_ms, 130000, "the last end");
    is_int((int)r.jobs[1].wait_ms, 40000, "how long one waited");
    check(sim_stats_make(&s, &r, &pool, &w, NULL));
    ok(s.all.jobs == JOBS && s.all.wait > 13.33 && s.all.wait < 13.34,
       "what went is summed up as a simulation");
    ok(s.allocated > 0.649 && s.allocated < 0.651, "what went has a share of the devices");
    sim_stats_done(&s);
    sim_result_done(&r);
    check(sim_went(&r, went, &w, &later, NULL));
    is_int((int)r.counted_ms, 30000, "from a time on");
    is_int((int)r.used, 20000 + 20000, "what they had since then");
    sim_result_done(&r);
    check(sim_went(&r, went, &w, &none, NULL));
    is_int((int)r.counted_ms, 80000, "else up to the last submission");
    sim_result_done(&r);
    pool_done(&pool);
    workload_done(&w);
}

static void test_simulated(void)
{
    const struct sim_options options = { .until_ms = UNTIL_MS };
    struct sim_result r;
    struct workload w;
    struct policy p;
    struct pool pool;

    begin(&w, &pool);
    check(policy_named(&p, "slurm", NULL));
    check(sim_run(&r, &p, &pool, &w, &options, NULL));
    is_int((int)r.counted_ms, UNTIL_MS, "the window of a simulation counts");
    is_int((int)r.used, 2 * 40000 + 30000 + 20000, "what is behind the window does not count");
    is_int((int)r.jobs[1].start_ms, 40000, "a job starts when there is room");
    sim_result_done(&r);
    check(policy_named(&p, "interleave-las", NULL));
    check(sim_run(&r, &p, &pool, &w, &options, NULL));
    is_int((int)r.counted_ms, UNTIL_MS, "the window counts for jobs that take turns, too");
    sim_result_done(&r);
    pool_done(&pool);
    workload_done(&w);
}

int main(void)
{
    test_went();
    test_simulated();
    return done();
}
