/* Verdicts over runs whose loader is what matters, as real jobs taught the rules: what sleeps, what
 * decodes, and what is only the start of a job. */
#include "judged.h"
#include "tap.h"

/* Twenty workers that sleep keep two CPUs busy by handing over; a number is no help. */
static void test_sleeping_workers(void)
{
    struct made m = small_node();

    m.notes[0][0] = NULL;
    made_note(&m, "loader.workers", "20");
    made_note(&m, "threads.intra", "1");
    made_stage(&m, BRIM_STAGE_WAIT, 0.4);
    m.s[RUN_WORKERS] = 20;
    m.s[RUN_WORKER_CPU] = 0.06;
    m.s[RUN_JOB_CPU] = 1.5;
    m.s[RUN_JOB_RUN_WAIT] = 0.5;
    ok(judge_made(&m) != CAUSE_MANY_WORKERS, "workers that sleep are not too many");
    m.s[RUN_JOB_RUN_WAIT] = 12;
    m.s[RUN_RANK_THREAD_CPU] = 0.2;
    m.s[RUN_RANK_THREAD_WAIT] = 0.5;
    is_int(judge_made(&m), CAUSE_MANY_WORKERS, "workers that wait for CPUs are too many");
    m.s[RUN_RANK_THREAD_CPU] = 0.35;
    ok(judge_made(&m) != CAUSE_MANY_WORKERS,
       "workers are not too many where their work and the rank's leave the CPUs little else");
}

/* Four workers that decode all the time, on two CPUs: the rank waits for what they decode, and
 * fewer would not decode it sooner. */
static void test_crowd_that_decodes(void)
{
    struct made m = small_node();

    m.notes[0][0] = NULL;
    made_note(&m, "loader.workers", "4");
    made_note(&m, "threads.intra", "1");
    made_stage(&m, BRIM_STAGE_WAIT, 0.9);
    m.s[RUN_WORKERS] = 4;
    m.s[RUN_WORKER_CPU] = 0.48;
    m.s[RUN_JOB_CPU] = 1.98;
    m.s[RUN_CPU_BUSY] = 1;
    m.s[RUN_JOB_RUN_WAIT] = 2.1;
    m.s[RUN_RANK_THREAD_CPU] = 0.06;
    m.s[RUN_RANK_THREAD_WAIT] = 0.04;
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "workers that all decode are not too many");
    made_stage(&m, BRIM_STAGE_WAIT, 0.5);
    m.s[RUN_RANK_THREAD_WAIT] = 0.3;
    is_int(judge_made(&m), CAUSE_LOADER_CPU,
           "workers are not too many where a rank waits for data longer than for CPUs");
}

/* A worker's queue takes half a millisecond, which is much of a step of four. */
static void test_handing_over(void)
{
    struct made m = small_node();

    m.notes[0][0] = NULL;
    made_note(&m, "loader.workers", "1");
    made_note(&m, "threads.intra", "2");
    made_stage(&m, BRIM_STAGE_WAIT, 0.14);
    m.step_s = 0.004;
    m.s[RUN_WORKERS] = 1;
    m.s[RUN_WORKER_CPU] = 0.12;
    is_int(judge_made(&m), CAUSE_NONE, "a batch is handed over");
    m.step_s = 0.04;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "ten times that is a wait");
    made_stage(&m, BRIM_STAGE_WAIT, 0.16);
    m.step_s = 0.0083;
    is_int(judge_made(&m), CAUSE_NONE, "of several tensors, while it is little");
    made_stage(&m, BRIM_STAGE_WAIT, 0.25);
    is_int(judge_made(&m), CAUSE_LOADER_WAITS,
           "a wait of a quarter of the step is no handing over");
}

/* What a start reads is not what the steps read. */
static void test_whole(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;
    struct run_moment *first;

    m.step_s = 0.1;
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.5);
    m.s[RUN_RANK_THREAD_CPU] = 0.5;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_READ_CALLS] = m.s[RUN_JOB_BLOCKED] = 0;
    made_build(&m, &r);
    first = &r.moments[0];
    first->monotonic_ns = r.ranks[0].steps[1].begin_ns + (int64_t)(first->seconds * 5e8);
    first->values[RUN_JOB_READ_CALLS] = 1e6;
    first->values[RUN_JOB_IO_READ] = 1e9;
    first->values[RUN_JOB_BLOCKED] = 100;
    is_int(judge_built(&r, &v), CAUSE_LOADER_WAITS, "a moment half before the steps is left out");
    verdict_done(&v);
    run_done(&r);
}

/* A short job: its imports and its first steps share a moment, in which its thread was busy. */
static void test_short(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;
    int64_t first;

    m.step_s = 0.02;
    m.steps = 60;
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.8);
    m.s[RUN_RANK_THREAD_CPU] = 0.2;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_READ_CALLS] = m.s[RUN_JOB_BLOCKED] = 0;
    made_build(&m, &r);
    first = r.ranks[0].steps[0].begin_ns;
    r.n_moments = 2;
    r.moments[0].seconds = r.moments[1].seconds = 1;
    r.moments[0].monotonic_ns = first + (int64_t)600000000;
    r.moments[1].monotonic_ns = first + (int64_t)1600000000;
    r.moments[0].values[RUN_RANK_THREAD_CPU] = 1;
    is_int(judge_built(&r, &v), CAUSE_LOADER_WAITS, "what a short job imports is not its loading");
    verdict_done(&v);
    r.n_moments = 1;
    is_int(judge_built(&r, &v), CAUSE_UNKNOWN,
           "a moment that imports share tells nothing of the loader");
    ok(v.items[0].action && strstr(v.items[0].action, "longer"),
       "a job whose start alone was measured should run for longer: %s", v.sentence);
    verdict_done(&v);
    run_done(&r);
}

/* A loader that sleeps, in the process itself or in a worker, on CPUs that others use up: it waits
 * for them as often as it wakes, and computes no more for that. */
static void test_sleep_among_others(void)
{
    struct made m = small_node();

    m.notes[0][0] = NULL;
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.95);
    m.s[RUN_CPU_BUSY] = 1;
    m.s[RUN_OTHER_CPU] = 1.9;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_READ_CALLS] = m.s[RUN_JOB_BLOCKED] = 0;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = m.s[RUN_RANK_THREAD_CPU] = 0.08;
    m.s[RUN_JOB_RUN_WAIT] = m.s[RUN_RANK_THREAD_WAIT] = 0.45;
    ok(judge_made(&m) != CAUSE_LOADER_CPU, "a loader that sleeps among others does not decode");
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = m.s[RUN_RANK_THREAD_CPU] = 0.4;
    m.s[RUN_JOB_RUN_WAIT] = m.s[RUN_RANK_THREAD_WAIT] = 0.6;
    is_int(judge_made(&m), CAUSE_CPU_NEIGHBOURS, "one that always wants a CPU does not sleep");
    m.notes[0][0] = NULL;
    made_note(&m, "loader.workers", "1");
    m.s[RUN_WORKERS] = 1;
    m.s[RUN_WORKER_CPU] = m.s[RUN_JOB_CPU] = 0.1;
    m.s[RUN_RANK_THREAD_CPU] = m.s[RUN_RANK_THREAD_WAIT] = 0.01;
    m.s[RUN_JOB_RUN_WAIT] = 0.4;
    ok(judge_made(&m) != CAUSE_LOADER_CPU, "a worker that sleeps among others does not decode");
    m.s[RUN_WORKER_CPU] = m.s[RUN_JOB_CPU] = 0.4;
    m.s[RUN_JOB_RUN_WAIT] = 0.6;
    is_int(judge_made(&m), CAUSE_CPU_NEIGHBOURS, "a worker that wants a CPU does not sleep");
}

int main(void)
{
    test_sleeping_workers();
    test_crowd_that_decodes();
    test_handing_over();
    test_whole();
    test_short();
    test_sleep_among_others();
    return done();
}
