/* Verdicts over made runs: what is first, what healthy ones are told, what absent signals do, and
 * every allocation failing once. */
#include "diagnose/verdict/judge.h"

#include <errno.h>

#include "diagnose/verdict/limits.h"
#include "oom.h"
#include "rules_thresholds_ini.h"
#include "run_made.h"
#include "tap.h"

enum { SEEDS = 20, HEALTHY = 100 };

/* Judge a made run; what stands first. */
static enum cause judge_made(struct made *m, struct verdict *v)
{
    struct run r, before = { .id = NULL };
    struct made past = *m;

    past.step_s = m->earlier_step_ms / 1e3;
    if (m->earlier_step_ms)
        made_build(&past, &before);
    made_build(m, &r);
    *v = (struct verdict){ .count = 0 };
    if (judge_run(&r, m->earlier_step_ms ? &before : NULL, v) != 0)
        abort();
    run_done(&r);
    run_done(&before);
    return v->items[0].cause;
}

static void describe(const struct verdict *v)
{
    printf("# %s\n", v->sentence);
    for (size_t i = 0; i < v->count; i++)
        printf("#   %s %.3f sure %.2f: %s [%s] -> %s\n", cause_name(v->items[i].cause),
               v->items[i].share, v->items[i].confidence, v->items[i].sentence,
               v->items[i].evidence, v->items[i].action ? v->items[i].action : "-");
}

static bool is_whole(const struct verdict *v)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct verdict_item *k = &v->items[i];

        if (!*k->sentence || !*k->evidence || k->confidence < 0 || k->confidence > 1 ||
            (k->share >= 0 && k->cause != CAUSE_NONE && !(k->gain >= 1)))
            return false;
    }
    return v->sentence && *v->sentence && v->count > 0;
}

/* Each cause that can be first, from many seeds: most are named first. */
static void test_confusion(void)
{
    int right = 0, all = 0, whole = 0;

    for (enum cause c = CAUSE_STORAGE_BANDWIDTH; c < CAUSE_UNKNOWN; c++) {
        int hits = 0;

        if (c == CAUSE_MEMORY_UNUSED)
            continue;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m = made_like(c, seed);
            struct verdict v;
            enum cause found = judge_made(&m, &v);

            if (found != c) {
                printf("# %s, seed %d:\n", cause_name(c), (int)seed);
                describe(&v);
            }
            hits += found == c;
            whole += is_whole(&v);
            all++;
            verdict_done(&v);
        }
        right += hits;
        ok(hits >= SEEDS * 9 / 10, "the cause %s comes first in %d of %d runs", cause_name(c), hits,
           SEEDS);
    }
    ok(all >= 300 && right >= all * 97 / 100, "the right cause comes first in %d of %d runs", right,
       all);
    is_int(whole, all, "every item has a sentence, evidence and a gain");
}

static void test_healthy(void)
{
    int wrong = 0;

    for (uint64_t seed = 0; seed < HEALTHY; seed++) {
        struct made m = made_like(CAUSE_NONE, seed);
        struct verdict v;

        if (judge_made(&m, &v) != CAUSE_NONE || v.count != 1 + (v.items[0].cause != CAUSE_NONE)) {
            describe(&v);
            wrong++;
        }
        verdict_done(&v);
    }
    is_int(wrong, 0, "no cause is found in %d healthy runs", HEALTHY);
}

/* No cause that needs signals is found without them. */
static void test_absent(void)
{
    static const bool from_steps[CAUSES] = {
        [CAUSE_NONE] = true,          [CAUSE_COMMUNICATION] = true,
        [CAUSE_SLOW_LINK] = true,     [CAUSE_IMBALANCE] = true,
        [CAUSE_SLOW_RANK] = true,     [CAUSE_CHECKPOINT] = true,
        [CAUSE_PAGEABLE_COPY] = true, [CAUSE_SLOWER_THAN_BEFORE] = true,
        [CAUSE_UNKNOWN] = true,       [CAUSE_BLAS] = true,
        [CAUSE_NUMA] = true,          [CAUSE_LOOP] = true,
    };
    int wrong = 0;

    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct made m = made_like(c, seed);
            struct verdict v;

            for (int s = 0; s < RUN_SIGNALS; s++)
                m.s[s] = (double)NAN;
            judge_made(&m, &v);
            for (size_t i = 0; i < v.count; i++)
                if (!from_steps[v.items[i].cause]) {
                    describe(&v);
                    wrong++;
                }
            verdict_done(&v);
        }
    is_int(wrong, 0, "without signals no cause that needs them is named");
}

static void test_few_steps(void)
{
    struct made m = made_like(CAUSE_LOADER_CPU, 1);
    struct run empty = { .id = "x" };
    struct verdict v, few, none = { .count = 0 };

    judge_made(&m, &v);
    m = made_like(CAUSE_LOADER_CPU, 1);
    m.steps = 8;
    is_int(judge_made(&m, &few), CAUSE_LOADER_CPU, "eight steps are enough to name it");
    ok(few.items[0].confidence < v.items[0].confidence, "eight steps are not enough to be as sure");
    verdict_done(&few);
    m = made_like(CAUSE_LOADER_CPU, 1);
    m.steps = 1;
    is_int(judge_made(&m, &few), CAUSE_UNKNOWN, "one step is not");
    is_int(judge_run(&empty, NULL, &none), 0, "a run without anything is judged");
    is_int(none.items[0].cause, CAUSE_UNKNOWN, "a run without anything has an unknown cause");
    ok(is_whole(&none), "a run without anything has a whole sentence: %s", none.sentence);
    verdict_done(&v);
    verdict_done(&few);
    verdict_done(&none);
}

/* What the items say. */
static void test_texts(void)
{
    struct made m = made_like(CAUSE_SLOW_RANK, 3);
    struct verdict v;

    m.ranks = 4;
    m.steps = 200;
    for (size_t i = 0; i < MADE_RANKS; i++)
        m.slow[i] = i == 2 ? 1.6 : 1;
    m.slow_from = 90;
    judge_made(&m, &v);
    is_int(v.items[0].rank, 2, "the slow rank is rank 2");
    ok(strstr(v.sentence, "rank 2 on n1 is slow since step 9"),
       "the sentence names the slow rank: %s", v.sentence);
    verdict_done(&v);
    m.slow[2] = 1.15;
    m.steps = 100;
    m.slow_from = 50;
    m.step_s = 0.02;
    judge_made(&m, &v);
    for (size_t i = 0; i < v.count; i++)
        ok(v.items[i].cause != CAUSE_SLOW_RANK, "by 15 %% for a second: it may be chance");
    verdict_done(&v);

    m = made_like(CAUSE_LOADER_CPU, 1);
    m.share[BRIM_STAGE_WAIT] = 0;
    made_stage(&m, BRIM_STAGE_WAIT, 0.75);
    m.notes[0][0] = NULL;
    m.notes[1][0] = NULL;
    made_note(&m, "loader 1", "workers 0, batch 16, prefetch none");
    made_note(&m, "threads.intra", "1");
    m.s[RUN_WORKERS] = 0;
    m.s[RUN_RANK_CPU] = 0.98;
    m.s[RUN_WORKER_CPU] = (double)NAN;
    m.ranks = 1;
    judge_made(&m, &v);
    is_int(v.items[0].cause, CAUSE_LOADER_CPU, "a rank without workers that is on a CPU decodes");
    ok(strstr(v.items[0].action, "num_workers=4 "), "the advice is 1.15 * 0.75 / 0.25 workers: %s",
       v.items[0].action);
    ok(fabs(v.items[0].gain - 4) < 0.2, "the run is four times as fast at most: %.2f",
       v.items[0].gain);
    describe(&v);
    verdict_done(&v);
}

/* Warming up and the last step do not count; what is in no stage is unknown;
 * free memory is advice. */
static void test_edges(void)
{
    struct made m = made_like(CAUSE_NONE, 2);
    struct run r;
    struct verdict v = { .count = 0 };

    m.ranks = 1;
    m.steps = 40;
    m.step_s = 0.1;
    m.noise = 0;
    made_build(&m, &r);
    for (int i = 1; i < 10; i++) /* the first one is long already */
        r.ranks[0].steps[i].end_ns = r.ranks[0].steps[i].begin_ns + 900000000;
    r.ranks[0].steps[39].end_ns += 5000000000;
    r.ranks[0].steps[39].host_s[BRIM_STAGE_WAIT] += 5;
    is_int(judge_run(&r, NULL, &v), 0, "a slow begin and a long end");
    is_int(v.items[0].cause, CAUSE_NONE, "a slow begin and a long end are no cause");
    ok(fabs(v.steps_per_s - 10) < 0.01, "a slow begin and a long end are not in the rate: %.3f",
       v.steps_per_s);
    verdict_done(&v);
    run_done(&r);

    m = made_like(CAUSE_NONE, 2);
    made_stage(&m, BRIM_STAGE_OTHER, 0.5);
    is_int(judge_made(&m, &v), CAUSE_LOOP, "half of the step in no stage is the loop's");
    verdict_done(&v);

    for (uint64_t seed = 0; isnan((m = made_like(CAUSE_NONE, seed)).s[RUN_GPUS]); seed++)
        ;
    m.s[RUN_GPU_MEMORY] = 0.2;
    is_int(judge_made(&m, &v), CAUSE_NONE, "free memory is never first");
    ok(v.count == 2 && v.items[1].cause == CAUSE_MEMORY_UNUSED,
       "free memory is an item behind the first");
    verdict_done(&v);
}

/* One rank that waits for data is a slow rank, not a slow loader. */
static void test_one_loader(void)
{
    struct made m = made_like(CAUSE_NONE, 3);
    struct run r;
    struct verdict v = { .count = 0 };

    m.ranks = 4;
    m.steps = 100;
    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++)
        for (size_t k = 0; k < 4; k++) {
            struct step *s = &r.ranks[k].steps[i];
            double wait = 0.5 * m.step_s;

            s->host_s[k == 1 ? BRIM_STAGE_WAIT : BRIM_STAGE_COMMUNICATION] += wait;
            s->begin_ns += (int64_t)((double)i * wait * 1e9);
            s->end_ns += (int64_t)((double)(i + 1) * wait * 1e9);
        }
    is_int(judge_run(&r, NULL, &v), 0, "one rank waits for data");
    is_int(v.items[0].cause, CAUSE_SLOW_RANK,
           "the cause is a slow rank where one rank waits for data");
    is_int(v.items[0].rank, 1, "the rank that waits for data is the slow one");
    ok(strstr(v.items[0].action, "loader"), "with a look at its loader: %s", v.items[0].action);
    verdict_done(&v);
    r.ranks[1].host = "n7";
    is_int(judge_run(&r, NULL, &v), 0, "a slow rank of another host is judged");
    ok(strstr(v.sentence, "rank 1 on n7 "), "the sentence names the rank's host: %s", v.sentence);
    verdict_done(&v);
    r.ranks[1].host = r.host = NULL;
    is_int(judge_run(&r, NULL, &v), 0, "a slow rank of a host without a name is judged");
    ok(strstr(v.sentence, "rank 1 on its host "), "the sentence has no host: %s", v.sentence);
    verdict_done(&v);
    run_done(&r);
}

static enum cause judge_nfs(double queue_s, double round_trip_s, double calls)
{
    struct made m = made_like(CAUSE_LOADER_WAITS, 2);
    struct verdict v;
    enum cause found;

    m.s[RUN_NFS_OPS] = 400;
    m.s[RUN_NFS_QUEUE] = queue_s;
    m.s[RUN_NFS_ROUND_TRIP] = round_trip_s;
    m.s[RUN_NFS_EXECUTE] = queue_s + round_trip_s;
    m.s[RUN_JOB_IO_READ] = 4e6;
    m.s[RUN_JOB_READ_CALLS] = calls;
    m.s[RUN_JOB_BLOCKED] = 2 * (double)m.ranks;
    found = judge_made(&m, &v);
    ok(strstr(v.items[0].evidence, "NFS: ") || found == CAUSE_LOADER_WAITS,
       "the evidence names NFS unless nothing more is known: %s", v.items[0].evidence);
    verdict_done(&v);
    return found;
}

static void test_nfs(void)
{
    is_int(judge_nfs(0.001, 0.030, 40), CAUSE_STORAGE_LATENCY,
           "a slow NFS server is a matter of latency");
    is_int(judge_nfs(0.080, 0.030, 40), CAUSE_STORAGE_BANDWIDTH, "the client's slots are full");
    is_int(judge_nfs(0.001, 0.002, 4000), CAUSE_SMALL_FILES,
           "many reads with quick answers are small files");
}

/* What is said depends on how much it costs, and whether CPUs are free. */
static void test_severity(void)
{
    struct made m = made_like(CAUSE_LOADER_CPU, 2);
    struct verdict v;

    made_stage(&m, BRIM_STAGE_WAIT, 0.15);
    m.s[RUN_WORKER_CPU] = m.s[RUN_WORKERS] > 0 ? 1 : (double)NAN;
    judge_made(&m, &v);
    is_int(v.items[0].severity, SEVERITY_WARNING, "a wait of 15 %% of the step warns");
    verdict_done(&v);
    m = made_like(CAUSE_LOADER_CPU, 2);
    made_stage(&m, BRIM_STAGE_WAIT, 0.5);
    m.s[RUN_CPU_BUSY] = 0.95;
    judge_made(&m, &v);
    is_int(v.items[0].severity, SEVERITY_CRITICAL, "50 %% are critical");
    ok(strstr(v.items[0].action, "do less"), "the advice is no workers where CPUs are busy: %s",
       v.items[0].action);
    verdict_done(&v);
}

/* As many workers are advised as the CPUs carry: more than there are CPUs when they compute only a
 * part of the time. */
static void test_carried(void)
{
    struct made m = made_like(CAUSE_LOADER_CPU, 1);
    struct verdict v;

    m.ranks = 1;
    made_stage(&m, BRIM_STAGE_WAIT, 0.9);
    m.s[RUN_CPUS] = 4;
    m.s[RUN_CPU_BUSY] = 0.4;
    m.notes[0][0] = NULL;
    m.notes[1][0] = NULL;
    made_note(&m, "loader 1", "workers 1, batch 16, prefetch 2");
    m.s[RUN_WORKERS] = 1;
    m.s[RUN_WORKER_CPU] = 0.75;
    m.s[RUN_JOB_RUN_WAIT] = 0;
    judge_made(&m, &v);
    ok(strstr(v.items[0].action, "num_workers=5 "),
       "4 CPUs carry 5 workers that are 75 %% on one: %s", v.items[0].action);
    verdict_done(&v);
}

/* A job that sleeps most of the time loses little to others on its CPUs, however long it waits for
 * one when it wakes. */
static void test_sleeper(void)
{
    struct made m = made_like(CAUSE_LOADER_WAITS, 2);
    struct verdict v;

    m.ranks = 1;
    made_stage(&m, BRIM_STAGE_WAIT, 0.77);
    m.s[RUN_CPUS] = 2;
    m.s[RUN_OTHER_CPU] = 1.8;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 0.15;
    m.s[RUN_JOB_RUN_WAIT] = 0.075;
    is_int(judge_made(&m, &v), CAUSE_LOADER_WAITS,
           "the job's sleep costs more than its neighbours");
    ok(v.count == 1, "the others are no cause");
    verdict_done(&v);
}

/* So it is with workers and threads that wait for each other: those of a sleeper do not. */
static void test_sleeping_crowd(void)
{
    static const char *const told[][2] = { { "loader.workers", "3" }, { "threads.intra", "64" } };

    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        struct made m = made_like(CAUSE_NONE, 2);
        struct verdict v;

        m.ranks = 1;
        made_note(&m, told[i][0], told[i][1]);
        m.s[RUN_CPUS] = 2;
        m.s[RUN_OTHER_CPU] = 0.4;
        m.s[RUN_WORKERS] = i == 0 ? 3 : 0;
        m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = m.s[RUN_WORKER_CPU] = 0.0002;
        m.s[RUN_JOB_RUN_WAIT] = 0.02;
        ok(judge_made(&m, &v) != CAUSE_MANY_WORKERS,
           "workers that are starved when awake are not too many: %s", told[i][0]);
        ok(v.items[0].cause != CAUSE_CPU_THREADS, "threads that are seldom awake are not too many");
        describe(&v);
        verdict_done(&v);
    }
}

/* A job that launches too little at a time is not told to compile where it does. */
static void test_compiled(void)
{
    struct made m = made_like(CAUSE_SMALL_BATCH, 2);
    struct verdict v;

    made_note(&m, "torch.compile", "no");
    is_int(judge_made(&m, &v), CAUSE_SMALL_BATCH, "what launches too little is a small batch");
    ok(strstr(v.items[0].action, "; torch.compile or CUDA graphs"),
       "a job that compiles nothing is told of it: %s", v.items[0].action);
    verdict_done(&v);
    m = made_like(CAUSE_SMALL_BATCH, 2);
    made_note(&m, "torch.compile", "yes");
    is_int(judge_made(&m, &v), CAUSE_SMALL_BATCH, "what is compiled may launch too little, too");
    ok(strstr(v.items[0].action, "reduce-overhead"),
       "a job that compiles is told of the next thing: %s", v.items[0].action);
    verdict_done(&v);
}

/* Twenty workers on 2 CPUs that use them up between sleeps: those that are seldom awake are all
 * needed; of those that are awake for most of the time, as many are advised as do the same work
 * where none waits. */
static void test_crowd_that_fills(void)
{
    static const struct {
        double run_wait;
        const char *advice;
    } told[] = { { 1.5, NULL }, { 10, "num_workers=10" }, { 18, "num_workers=2" } };

    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        struct made m = made_like(CAUSE_NONE, 2);
        struct verdict v;
        bool many;

        m.ranks = 1;
        made_note(&m, "loader.workers", "20");
        m.s[RUN_CPUS] = 2;
        m.s[RUN_OTHER_CPU] = 0.1;
        m.s[RUN_WORKERS] = 20;
        m.s[RUN_WORKER_CPU] = 0.1;
        m.s[RUN_JOB_CPU] = 2;
        m.s[RUN_JOB_RUN_WAIT] = told[i].run_wait;
        many = judge_made(&m, &v) == CAUSE_MANY_WORKERS;
        ok(many == !!told[i].advice, "workers of which %.1f wait for a CPU are %stoo many",
           told[i].run_wait, told[i].advice ? "" : "not ");
        ok(!many || strstr(v.items[0].action, told[i].advice), "the advice is as told: %s",
           v.items[0].action);
        describe(&v);
        verdict_done(&v);
    }
}

/* A thread that never ran while it loads sleeps, whatever other threads of its process use. */
static void test_sleeping_thread(void)
{
    struct made m = made_like(CAUSE_LOADER_WAITS, 2);
    struct verdict v;

    m.ranks = 1;
    made_note(&m, "loader.workers", "0");
    m.s[RUN_WORKERS] = 0;
    m.s[RUN_WORKER_CPU] = m.s[RUN_WORKER_IO_WAIT] = (double)NAN;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1;
    m.s[RUN_RANK_THREAD_CPU] = m.s[RUN_RANK_THREAD_WAIT] = 0;
    is_int(judge_made(&m, &v), CAUSE_LOADER_WAITS, "a thread that never ran while it loads sleeps");
    describe(&v);
    verdict_done(&v);
}

/* A job may tell of workers that it does not have: no cause of anything. */
static void test_told_workers(void)
{
    struct made m = made_like(CAUSE_MANY_WORKERS, 2);
    struct verdict v;

    m.s[RUN_WORKERS] = 0;
    m.s[RUN_WORKER_CPU] = (double)NAN;
    judge_made(&m, &v);
    for (size_t i = 0; i < v.count; i++)
        ok(v.items[i].cause != CAUSE_MANY_WORKERS, "none is there: %s", v.items[i].sentence);
    verdict_done(&v);
}

static void test_limits(void)
{
    struct judge_limits l;
    struct err e = { "" };
    size_t n = 0;

    is_int(judge_limits_load(&l, "t", data_rules_thresholds_ini, data_rules_thresholds_ini_len, &e),
           0, "the thresholds that are built in: %s", e.text);
    while (judge_limits_name(n))
        n++;
    is_int((long long)n, (long long)(sizeof(l) / sizeof(double)),
           "each member of the limits has its threshold");
    is_int(judge_limits_load(&l, "t", "[x]\n", 4, &e), -EINVAL,
           "judge_limits_load refuses an unknown threshold");
    is_str(e.text, "t:1: unknown threshold 'x'", "the error names the unknown threshold");
    is_int(judge_limits_load(&l, "t", "[gc]\nvalue=a\n", 13, &e), -EINVAL,
           "judge_limits_load refuses a value that is no number");
    is_str(e.text, "t:2: 'a' is no number", "the error names the text that is no number");
    is_int(judge_limits_load(&l, "t", "[gc]\nvalue=1\nvalue=2\n", 21, &e), -EINVAL,
           "judge_limits_load refuses a value that stands twice");
    is_str(e.text, "t:3: 'value' of [gc] stands twice",
           "the error names the key that stands twice");
    is_int(judge_limits_load(&l, "t", "[gc]\nvalue=1\nunit=share\n", 24, &e), -EINVAL,
           "judge_limits_load refuses a threshold without a source");
    ok(strstr(e.text, "needs value, unit and source"), "the error names what a threshold needs: %s",
       e.text);
    is_int(judge_limits_load(&l, "t", "[gc]\nx=1\n", 9, &e), -EINVAL,
           "judge_limits_load refuses an unknown key");
    is_str(e.text, "t:2: unknown key 'x'", "the error names the unknown key");
    is_int(judge_limits_load(&l, "t", "[gc]\nunit=\n", 11, &e), -EINVAL,
           "judge_limits_load refuses an empty unit");
}

static void test_oom(enum cause c)
{
    struct made m = made_like(c, 1);
    struct run r;
    bool failed;
    int rc, bad = 0;

    made_build(&m, &r);
    oom_restart();
    do {
        struct verdict v = { .count = 0 };

        oom_next();
        rc = judge_run(&r, &r, &v);
        failed = oom_end();
        bad += failed ? rc != -ENOMEM : rc != 0;
        verdict_done(&v);
    } while (failed);
    is_int(bad, 0, "the cause %s fails with -ENOMEM for each of %d allocations", cause_name(c),
           oom_at - 1);
    run_done(&r);
}

/* What was measured with the job's BLAS on its machine is cited. */
static void test_measured_blas(void)
{
    struct run_note note = { "bench.blas.generic", "2.71 of 160 GFLOP/s" };
    struct made m = made_like(CAUSE_BLAS, 1);
    struct verdict v = { .count = 0 };
    struct run r;

    made_build(&m, &r);
    r.environment = &note;
    r.n_environment = 1;
    is_int(judge_run(&r, NULL, &v), 0, "a slow BLAS that was measured");
    ok(v.items[0].cause == CAUSE_BLAS &&
           strstr(v.items[0].evidence, "its products of matrices reach 2.71 of 160 GFLOP/s of a "
                                       "core ('brim bench compute')"),
       "the figure is cited: %s", v.items[0].evidence);
    verdict_done(&v);
    note.name = "bench.blas.openblas";
    is_int(judge_run(&r, NULL, &v), 0, "a run with the figure of another BLAS is judged");
    ok(!strstr(v.items[0].evidence, "GFLOP/s"), "the figure of another BLAS is not cited");
    verdict_done(&v);
    run_done(&r);
}

static void stepless(enum run_end end, int status, const char *want, const char *seen)
{
    struct run r = { .id = "a", .end = end, .status = status, .end_ns = 1500000000 };
    struct verdict v = { .count = 0 };

    ok(judge_run(&r, NULL, &v) == 0, "a run without a step is judged: end %d, %d", end, status);
    is_str(v.sentence, want, "the verdict of a run without a step says how it ended");
    ok(v.items[0].cause == CAUSE_UNKNOWN && !strcmp(v.items[0].evidence, seen),
       "a run without a step has no cause, and what was seen of it is told");
    verdict_done(&v);
}

/* A job that dies in its imports, one that is killed, and one like /bin/true. */
static void test_stepless(void)
{
    stepless(RUN_EXITED, 1, "it failed with exit status 1 before its first step", "it took 1.5 s");
    stepless(RUN_KILLED, 9, "signal 9 ended it before its first step", "it took 1.5 s");
    stepless(RUN_EXITED, 0, "it ended without a step that could be seen", "it took 1.5 s");
    stepless(RUN_RUNNING, 0, "no steps were seen", "0 ranks, 0 steady steps");
}

/* One that is looked at before its rank has ended a step. */
static void test_rank_without_steps(void)
{
    struct run_rank rank = { .steps = NULL };
    struct run r = { .id = "a", .end = RUN_RUNNING, .end_ns = 5, .ranks = &rank, .n_ranks = 1 };
    struct verdict v = { .count = 0 };

    ok(judge_run(&r, NULL, &v) == 0, "a run whose rank has not ended a step is judged");
    is_str(v.sentence, "no steps were seen", "a rank without a step has no verdict");
    verdict_done(&v);
    rank.total.number = 81; /* of which none is steady so far */
    ok(judge_run(&r, NULL, &v) == 0, "a run whose rank has ended its first steps is judged");
    is_str(v.sentence, "too few steps were seen to tell", "steps that were seen are not denied");
    verdict_done(&v);
}

/* A job that waited for its loader until a setting was kept in the middle of the run, and waits
 * again in a trial that loses behind it. */
static void build_optimized(struct run *r)
{
    struct made m = made_like(CAUSE_LOADER_WAITS, 3);
    int64_t now = 0;

    m.steps = 200;
    made_build(&m, r);
    for (size_t i = 0; i < m.steps; i++)
        for (size_t n = 0; n < r->n_ranks; n++) {
            struct step *s = &r->ranks[n].steps[i];
            double wait = s->host_s[BRIM_STAGE_WAIT] *
                          ((i >= 8 && i < 100) || (i >= 120 && i < 140) ? 1 : 0.01);
            int64_t ns = s->end_ns - s->begin_ns -
                         (int64_t)((s->host_s[BRIM_STAGE_WAIT] - wait) * 1e9);

            s->host_s[BRIM_STAGE_WAIT] = wait;
            s->begin_ns = now;
            s->end_ns = now + ns;
            if (n + 1 == r->n_ranks)
                now += ns;
        }
}

static enum cause judge_tuned(struct run *r, struct verdict *v)
{
    *v = (struct verdict){ .count = 0 };
    if (judge_run(r, NULL, v) != 0)
        abort();
    return v->items[0].cause;
}

/* What limited a job before a setting was kept is not what limits it. */
static void test_optimized(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    const struct step *steps;
    struct run_trial trials[2] = { { .knob = "loader.workers", .value = "9" },
                                   { .knob = "loader.workers", .value = "1" } };
    struct run_tuning t = { .trials = trials, .n_trials = 0 };
    enum cause found;

    build_optimized(&r);
    steps = r.ranks[0].steps;
    is_int(judge_tuned(&r, &v), CAUSE_LOADER_WAITS, "the whole run waits for its loader");
    ok(!(v.stretch_s > 0), "all of a run without a tuning is judged");
    verdict_done(&v);
    r.tuning = &t;
    is_int(judge_tuned(&r, &v), CAUSE_LOADER_WAITS, "without a trial the whole run is judged");
    verdict_done(&v);
    t.n_trials = 2;
    trials[0].begin_ns = steps[80].begin_ns;
    trials[0].end_ns = steps[100].begin_ns;
    trials[1].end = RUN_TRIAL_REJECTED;
    trials[1].begin_ns = steps[120].begin_ns;
    trials[1].end_ns = steps[140].begin_ns;
    found = judge_tuned(&r, &v);
    ok(found != CAUSE_LOADER_WAITS && v.share[BRIM_STAGE_WAIT] < 0.05,
       "the last stretch does not wait for its loader: %s", v.sentence);
    ok(fabs(v.stretch_s - (double)(steps[199].end_ns - steps[140].begin_ns) / 1e9) < 0.1,
       "the verdict says how long the stretch was: %.1f s", v.stretch_s);
    verdict_done(&v);
    trials[1].end = RUN_TRIAL_ADOPTED;
    trials[1].end_ns = steps[181].begin_ns;
    is_int(judge_tuned(&r, &v), CAUSE_LOADER_WAITS,
           "the whole run is judged where fewer than 20 steps came after the last setting");
    ok(!(v.stretch_s > 0), "the verdict says that it is of the whole run");
    verdict_done(&v);
    trials[1].end_ns = steps[180].begin_ns;
    ok(judge_tuned(&r, &v) != CAUSE_LOADER_WAITS && v.stretch_s > 0,
       "20 steps after the last setting are judged alone");
}

/* The setting that was kept is the one that is judged, not that of the job's start. */
static void test_optimized_setting(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    struct run_trial kept = { .knob = "loader.workers", .value = "31", .end = RUN_TRIAL_ADOPTED };
    const struct run_tuning t = { .trials = &kept, .n_trials = 1 };
    struct made m = made_like(CAUSE_LOADER_WAITS, 3);

    made_build(&m, &r);
    r.tuning = &t;
    judge_tuned(&r, &v);
    ok(strstr(v.items[0].evidence, "31 workers") != NULL, "the evidence has the workers of now: %s",
       v.items[0].evidence);
}

int main(void)
{
    test_stepless();
    test_rank_without_steps();
    test_limits();
    test_confusion();
    test_measured_blas();
    test_healthy();
    test_absent();
    test_few_steps();
    test_texts();
    test_nfs();
    test_severity();
    test_carried();
    test_sleeper();
    test_sleeping_crowd();
    test_crowd_that_fills();
    test_compiled();
    test_sleeping_thread();
    test_told_workers();
    test_edges();
    test_one_loader();
    test_oom(CAUSE_SLOW_RANK);
    test_oom(CAUSE_LOADER_CPU);
    test_optimized();
    test_optimized_setting();
    return done();
}
