/* Verdicts over runs that look like those of tests/bench/diagnose.py: what real jobs taught the
 * rules. */
#include "judged.h"
#include "tap.h"

/* The process uses as much CPU time in both: its first thread tells which it is. */
static void test_first_thread(void)
{
    struct made m = small_node();

    is_int(judge_made(&m), CAUSE_NONE, "nothing is wrong with a job that computes");
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.5);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.25;
    m.s[RUN_CPU_BUSY] = 0.62;
    m.s[RUN_RANK_THREAD_CPU] = 0.98;
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "a loader that is always on a CPU decodes");
    m.s[RUN_RANK_THREAD_CPU] = 0.5;
    m.s[RUN_RANK_THREAD_WAIT] = 0.48;
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "what waits for a CPU does not sleep");
    m.s[RUN_RANK_THREAD_CPU] = 0.52;
    m.s[RUN_RANK_THREAD_WAIT] = 0.01;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "half of the time on a CPU: it sleeps");
}

static void test_remote(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.6);
    m.s[RUN_RANK_THREAD_CPU] = 0.45;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 0;
    m.s[RUN_JOB_IO_READ] = 60e6;
    m.s[RUN_JOB_READ_CALLS] = 400;
    m.s[RUN_JOB_BLOCKED] = 0.5;
    is_int(judge_made(&m), CAUSE_STORAGE_LATENCY, "files that no disk of the node has");
    m.s[RUN_JOB_READ_CALLS] = 20000;
    is_int(judge_made(&m), CAUSE_SMALL_FILES, "small files that no disk of the node has are named");
    m.s[RUN_JOB_BLOCKED] = 0.02;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "files that are not waited for");
    m.s[RUN_JOB_BLOCKED] = 0.5;
    m.s[RUN_JOB_IO_READ] = m.s[RUN_JOB_READ_CALLS] = 0;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "a loader without files waits for something else");
}

/* A limit on requests holds the job back; no delays of processes are accounted, and the disk is
 * idle: the kernel's I/O pressure is all that tells. */
static void test_held_back(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.6);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.6;
    m.s[RUN_CPU_BUSY] = 0.3;
    m.s[RUN_RANK_THREAD_CPU] = 0.36;
    m.s[RUN_JOB_IO_WAIT] = (double)NAN;
    m.s[RUN_JOB_BLOCKED] = 0.03;
    m.s[RUN_DISK_BUSY] = 0.03;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 12e6;
    m.s[RUN_JOB_IO_READ] = 9e6;
    m.s[RUN_DISK_REQUESTS] = 3000;
    m.s[RUN_JOB_READ_CALLS] = 6000;
    m.s[RUN_IO_PRESSURE] = 0.43;
    is_int(judge_made(&m), CAUSE_SMALL_FILES, "requests that are held back");
    m.s[RUN_IO_PRESSURE] = 0.05;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS,
           "requests that are not held back are no small files");
    made_stage(&m, BRIM_STAGE_WAIT, 0.21);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.58;
    m.s[RUN_JOB_BLOCKED] = 0;
    m.s[RUN_RANK_THREAD_CPU] = 0.84;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 90e6;
    m.s[RUN_DISK_REQUESTS] = 400;
    m.s[RUN_IO_PRESSURE] = 0.06;
    is_int(judge_made(&m), CAUSE_STORAGE_BANDWIDTH, "at 430 MB/s while it waits it is the disk");
    m.s[RUN_IO_PRESSURE] = 0.01;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "a fast disk that nobody waits for is no limit");
    m.s[RUN_IO_PRESSURE] = 0.06;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 15e6;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "a disk that gives 70 MB/s is no limit");
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 90e6;
    m.s[RUN_RANK_THREAD_CPU] = 0.97;
    is_int(judge_made(&m), CAUSE_LOADER_CPU,
           "a loader that is on a CPU while it reads is the limit");
}

/* Of a node of which one note is known; value NULL: it is not. */
static enum cause judge_noted(struct made *m, const char *name, const char *value)
{
    struct run_note note = { name, value };
    struct run r;
    struct verdict v;
    enum cause found;

    made_build(m, &r);
    r.environment = &note;
    r.n_environment = value != NULL;
    found = judge_built(&r, &v);
    verdict_done(&v);
    run_done(&r);
    return found;
}

static enum cause judge_half(const char *smt, double cpus)
{
    struct made m = small_node();

    m.notes[0][0] = NULL;
    made_note(&m, "threads.intra", "1");
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = cpus;
    m.s[RUN_CPU_BUSY] = 0.52;
    return judge_noted(&m, "cpus.smt", smt);
}

static void test_half(void)
{
    is_int(judge_half("0", 1), CAUSE_CPU_THREADS, "one thread on two cores is too few");
    is_int(judge_half("1", 1), CAUSE_NONE, "one thread on a core that is two CPUs");
    is_int(judge_half("0", 1.6), CAUSE_NONE, "one thread and those of a BLAS are enough");
    is_int(judge_half(NULL, 1), CAUSE_NONE, "on CPUs of which that is not known");
}

/* As two threads of OpenMP and those of OpenBLAS measured on two CPUs: 88 ms a step, and 38 ms
 * with OMP_WAIT_POLICY=passive. */
static enum cause judge_waiting(const char *policy, double others)
{
    struct made m = small_node();

    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1.96;
    m.s[RUN_JOB_RUN_WAIT] = 1;
    m.s[RUN_OTHER_CPU] = others;
    return judge_noted(&m, "env.OMP_WAIT_POLICY", policy);
}

static void test_spinning(void)
{
    is_int(judge_waiting(NULL, 0.02), CAUSE_CPU_SPINNING,
           "threads that wait for CPUs which nobody else uses spin");
    is_int(judge_waiting("active", 0.02), CAUSE_CPU_SPINNING,
           "threads that are set to spin do spin");
    ok(judge_waiting("PASSIVE", 0.02) != CAUSE_CPU_SPINNING,
       "threads that are set to sleep do not spin");
    is_int(judge_waiting(NULL, 0.9), CAUSE_CPU_NEIGHBOURS,
           "threads that starve beside other processes do not spin");
}

static void test_network(void)
{
    struct made m = small_node();

    m.ranks = 2;
    m.step_s = 0.1;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, 0.5);
    m.collective_b = 0;
    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 20e6;
    is_int(judge_made(&m), CAUSE_SLOW_LINK, "DDP tells no bytes: the network does");
    m.s[RUN_JOB_RUN_WAIT] = 1;
    is_int(judge_made(&m), CAUSE_SLOW_LINK, "a short wait for CPUs does not excuse a slow link");
    m.s[RUN_RANK_THREAD_WAIT] = 0.4;
    is_int(judge_made(&m), CAUSE_COMMUNICATION,
           "threads that starve may be why communication is slow");
    m.s[RUN_RANK_THREAD_WAIT] = 0.02;
    m.s[RUN_JOB_RUN_WAIT] = 0.05;
    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 200e6;
    is_int(judge_made(&m), CAUSE_COMMUNICATION, "at 400 MB/s the link is none to blame");
    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 0.5e6;
    is_int(judge_made(&m), CAUSE_COMMUNICATION, "a link is not slow where little is sent");
}

/* Lengthen every so-manieth step of a rank. */
static void lengthen(struct run_rank *rank, size_t every, double seconds)
{
    for (size_t i = 0, moved = 0; i < rank->n_steps; i++) {
        rank->steps[i].begin_ns += (int64_t)((double)moved * seconds * 1e9);
        moved += i % every == every - 1;
        rank->steps[i].end_ns += (int64_t)((double)moved * seconds * 1e9);
    }
}

/* One rank of four saves in every tenth step, as DDP's tutorial has it: all wait for it. */
static void test_one_saves(void)
{
    struct made m = small_node();
    double saving = 5 * m.step_s;
    struct run r;
    struct verdict v;

    m.ranks = 4;
    m.noise = 0.01;
    made_build(&m, &r);
    for (size_t k = 0; k < 4; k++) {
        struct run_rank *rank = &r.ranks[k];

        lengthen(rank, 10, saving);
        for (size_t i = 9; i < rank->n_steps; i += 10)
            rank->steps[i].host_s[k == 2 ? BRIM_STAGE_CHECKPOINT : BRIM_STAGE_COMMUNICATION] +=
                saving;
    }
    is_int(judge_built(&r, &v), CAUSE_CHECKPOINT, "a rank that saves for all is the cause");
    ok(v.items[0].share > 0.3 && v.items[0].share < 0.37, "all wait while it saves: %.2f",
       v.items[0].share);
    ok(strstr(v.items[0].evidence, "one rank saves, the others wait for it"),
       "the evidence tells of one rank that saves");
    verdict_done(&v);
    run_done(&r);
}

/* A flush lies behind saving, where no stage is. */
static void test_flush(void)
{
    struct made m = small_node();
    struct run r;
    struct verdict v;

    m.noise = 0.01;
    made_build(&m, &r);
    lengthen(&r.ranks[0], 20, 5 * m.step_s);
    for (size_t i = 19; i < r.ranks[0].n_steps; i += 20) {
        r.ranks[0].steps[i].host_s[BRIM_STAGE_CHECKPOINT] = 0.01 * m.step_s;
        r.ranks[0].steps[i].host_s[BRIM_STAGE_OTHER] += 4.99 * m.step_s;
    }
    is_int(judge_built(&r, &v), CAUSE_CHECKPOINT,
           "a checkpoint that is flushed for long is the cause");
    ok(v.items[0].share > 0.1 && v.items[0].share < 0.25, "what that costs: %.2f",
       v.items[0].share);
    verdict_done(&v);
    run_done(&r);
}

/* Nobody waits for data, but the workers leave no CPU to compute on. */
static void test_taken(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "2");
    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = 0.3;
    m.s[RUN_RANK_CPU] = 1.3;
    m.s[RUN_JOB_CPU] = 1.9;
    m.s[RUN_JOB_RUN_WAIT] = 2;
    m.s[RUN_RANK_THREAD_CPU] = 0.45;
    m.s[RUN_RANK_THREAD_WAIT] = 0.53;
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "workers take the CPUs");
    m.s[RUN_OTHER_CPU] = 0.6;
    is_int(judge_made(&m), CAUSE_CPU_NEIGHBOURS, "workers do not take the CPUs that others use");
    m.s[RUN_OTHER_CPU] = 0.05;
    made_stage(&m, BRIM_STAGE_WAIT, 0.12);
    m.s[RUN_WORKER_CPU] = 0.43;
    is_int(judge_made(&m), CAUSE_LOADER_CPU,
           "a short wait and workers that are a little late count together");
    made_stage(&m, BRIM_STAGE_WAIT, 0);
    m.s[RUN_WORKER_CPU] = 0.05;
    ok(judge_made(&m) != CAUSE_LOADER_CPU, "workers that do little do not take the CPUs");
    m.s[RUN_WORKER_CPU] = 0.3;
    m.s[RUN_RANK_THREAD_CPU] = 0.9;
    m.s[RUN_RANK_THREAD_WAIT] = 0.05;
    is_int(judge_made(&m), CAUSE_NONE, "workers do not take CPUs where some are left");
}

enum { PATTERN = 12 }; /* steps, which come again and again */

/* Two ranks, each of which is late by so much in these steps. */
static enum cause judge_late(struct made *m, double late_s[2][PATTERN], struct verdict *v)
{
    int64_t late = 0;
    struct run r;
    enum cause found;

    m->ranks = 2;
    m->step_s = 0.02;
    m->noise = 0.1;
    made_build(m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        double longest_s = fmax(late_s[0][i % PATTERN], late_s[1][i % PATTERN]);

        for (size_t k = 0; k < 2; k++) {
            struct step *s = &r.ranks[k].steps[i];

            s->begin_ns += late;
            s->end_ns += late + (int64_t)(longest_s * 1e9);
            s->host_s[BRIM_STAGE_BACKWARD] += late_s[k][i % PATTERN];
            s->host_s[BRIM_STAGE_COMMUNICATION] += longest_s - late_s[k][i % PATTERN];
        }
        late += (int64_t)(longest_s * 1e9);
    }
    found = judge_built(&r, v);
    run_done(&r);
    return found;
}

/* A quota stops rank 1 for half of every tenth of a second: in some steps. Rank 0 stops at times,
 * too, for so long. */
static enum cause judge_bursts(double other_s, struct verdict *v)
{
    struct made m = small_node();
    double late_s[2][PATTERN];

    for (size_t i = 0; i < PATTERN; i++) {
        late_s[0][i] = i % 6 == 1 ? other_s : 0;
        late_s[1][i] = i % 4 == 3 ? 0.05 : 0;
    }
    return judge_late(&m, late_s, v);
}

/* Work that is unequal by so much, now of one and now of the other, beside communication. */
static enum cause judge_unequal(double by_s)
{
    struct made m = small_node();
    double late_s[2][PATTERN] = { { 0 } };
    struct verdict v;
    enum cause found;

    for (size_t i = 0; i < PATTERN; i++)
        late_s[i % 2][i] = by_s;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, 0.2);
    found = judge_late(&m, late_s, &v);
    verdict_done(&v);
    return found;
}

static void test_unequal(void)
{
    is_int(judge_unequal(0.008), CAUSE_IMBALANCE, "costs nearly as much as communication: first");
    is_int(judge_unequal(0.0063), CAUSE_COMMUNICATION, "less does not");
}

static void test_bursts(void)
{
    struct verdict v;

    is_int(judge_bursts(0, &v), CAUSE_SLOW_RANK, "a rank that is stopped now and then is slow");
    is_int(v.items[0].rank, 1, "the rank that stops now and then is the slow one");
    verdict_done(&v);
    is_int(judge_bursts(0.025, &v), CAUSE_SLOW_RANK,
           "a rank that stops at times is slow though the other one is late");
    verdict_done(&v);
    is_int(judge_bursts(0.07, &v), CAUSE_IMBALANCE,
           "a rank is not slow where the other one is late as much");
    verdict_done(&v);
}

/* A rank that is slow from the first step on is that, whatever changes at the end. */
static void test_slow_and_changes(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;
    size_t n;

    m.ranks = 2;
    m.step_s = 0.01;
    m.steps = 400;
    m.slow[1] = 2;
    made_build(&m, &r);
    n = r.ranks[0].n_steps;
    for (size_t i = n - 12, more = 0; i < n; i++, more++)
        for (size_t k = 0; k < 2; k++) {
            struct step *s = &r.ranks[k].steps[i];

            s->begin_ns += (int64_t)more * 6000000;
            s->end_ns += (int64_t)(more + 1) * 6000000;
            s->host_s[k == 1 ? BRIM_STAGE_BACKWARD : BRIM_STAGE_COMMUNICATION] += 0.006;
        }
    is_int(judge_built(&r, &v), CAUSE_SLOW_RANK, "slow, and a little slower at the end");
    ok(!strstr(v.sentence, "since"), "a rank that was always slow has no 'since': %s", v.sentence);
    verdict_done(&v);
    run_done(&r);
}

/* A rank that saves sleeps as one that waits for files does. */
static void test_saving(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.4);
    made_stage(&m, BRIM_STAGE_CHECKPOINT, 0.3);
    m.s[RUN_RANK_THREAD_CPU] = 0.4;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 0;
    m.s[RUN_JOB_READ_CALLS] = 40;
    m.s[RUN_JOB_BLOCKED] = 0.28;
    is_int(judge_made(&m), CAUSE_CHECKPOINT, "saving explains the sleep");
}

/* That it is slower is seen; why comes first. */
static void test_order(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;

    m.level = 1.8;
    m.slow_from = m.steps / 2;
    m.s[RUN_OTHER_CPU] = 0.9;
    m.s[RUN_JOB_CPU] = 1.1;
    m.s[RUN_JOB_RUN_WAIT] = 0.5;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_CPU_NEIGHBOURS, "others, since when it is slower");
    ok(v.count == 2 && v.items[1].cause == CAUSE_SLOWER_THAN_BEFORE,
       "the slowdown stands behind the neighbours");
    verdict_done(&v);
    run_done(&r);
}

/* Steps that take turns between fast and slow ones, as where threads get in each other's way, are
 * not slower since the turn that lasted a little longer; those that got slower are. */
static void test_turns(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;
    size_t n;

    m.steps = 200;
    made_build(&m, &r);
    n = r.ranks[0].n_steps;
    for (size_t i = 0; i < n; i++) { /* every sixth one, then every second one, then few */
        struct step *s = &r.ranks[0].steps[i];
        bool slow = i % 20 < (i < n / 3 ? 3 : i < 2 * n / 3 ? 12 : 6);

        if (slow)
            s->begin_ns -= 2 * (s->end_ns - s->begin_ns);
    }
    is_int(judge_built(&r, &v), CAUSE_NONE, "steps of two kinds in turn are no change");
    verdict_done(&v);
    run_done(&r);
    m = small_node();
    m.level = 1.3;
    m.slow_from = 40;
    m.step_s = 0.05;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_NONE, "a level that rose for 4 s may fall again");
    ok(v.count > 1 && v.items[1].cause == CAUSE_SLOWER_THAN_BEFORE,
       "a level that rose for 4 s stands behind 'none'");
    verdict_done(&v);
    run_done(&r);
    m.step_s = 0.1;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_SLOWER_THAN_BEFORE, "one that rose and stayed is");
    verdict_done(&v);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) /* at the end: it did not stay long enough */
        if (r.ranks[0].n_steps - i > 15 && i >= 40)
            r.ranks[0].steps[i].begin_ns += (r.ranks[0].steps[i].end_ns -
                                             r.ranks[0].steps[i].begin_ns) *
                                            3 / 13;
    is_int(judge_built(&r, &v), CAUSE_NONE, "one of the last fifteen steps is not told yet");
    verdict_done(&v);
    run_done(&r);
}

/* Since when others take its CPUs, too little to starve it all the time. */
static void test_since_others(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;
    int64_t since;

    m.level = 1.4;
    m.slow_from = 50;
    m.s[RUN_CPU_BUSY] = 0.97;
    made_build(&m, &r);
    since = r.ranks[0].steps[50].begin_ns;
    for (size_t i = 0; i < r.n_moments; i++)
        if (r.moments[i].monotonic_ns > since)
            r.moments[i].values[RUN_OTHER_CPU] = 0.6;
    is_int(judge_built(&r, &v), CAUSE_CPU_NEIGHBOURS, "slower since others use the CPUs");
    ok(v.count == 1 && strstr(v.sentence, "since step 50"),
       "the sentence names the step since when others use the CPUs: %s", v.sentence);
    verdict_done(&v);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].values[RUN_CPU_BUSY] = 0.5;
    is_int(judge_built(&r, &v), CAUSE_SLOWER_THAN_BEFORE,
           "other processes do not slow a job where CPUs are free");
    verdict_done(&v);
    run_done(&r);
}

/* So short that calls cost most, on two CPUs: the loader's call is one of them. */
static void test_tiny(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;

    m.step_s = 0.0007;
    m.steps = 2000;
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.16);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.98;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_SMALL_BATCH, "a step of 0.7 ms is a small batch");
    ok(v.count == 1, "the loader of a tiny step is not named");
    verdict_done(&v);
    run_done(&r);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = m.s[RUN_RANK_THREAD_CPU] = 0.86;
    m.s[RUN_RANK_THREAD_WAIT] = 0.11;
    is_int(judge_made(&m), CAUSE_SMALL_BATCH,
           "a tiny step is a small batch where others take some of its CPU");
    m.s[RUN_RANK_THREAD_WAIT] = 0;
    is_int(judge_made(&m), CAUSE_SMALL_BATCH,
           "a tiny step whose threads wait for each other is a small batch");
    m = small_node();
    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.16);
    m.steps = 2000;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.98;
    m.step_s = 0.003;
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "one of 3 ms on both CPUs has work to do");
    m.step_s = 0.001;
    made_stage(&m, BRIM_STAGE_WAIT, 0.6);
    is_int(judge_made(&m), CAUSE_LOADER_CPU, "a short one that decodes most of the time");
}

/* Steps without stages, as they are found from outside. */
static enum cause judge_unmarked(struct made *m, struct verdict *v)
{
    struct run r;
    enum cause found;

    for (int s = 0; s < BRIM_STAGES; s++)
        m->share[s] = s == BRIM_STAGE_OTHER;
    made_build(m, &r);
    r.inferred = "no steps were marked";
    found = judge_built(&r, v);
    printf("# %s\n", v->sentence);
    run_done(&r);
    return found;
}

static void test_unmarked(void)
{
    struct made m = small_node();
    struct verdict v;

    is_int(judge_unmarked(&m, &v), CAUSE_NONE,
           "a job that is on its CPUs all the time has no limit");
    verdict_done(&v);
    m.s[RUN_RANK_THREAD_CPU] = 0.1; /* threads of its own compute */
    is_int(judge_unmarked(&m, &v), CAUSE_NONE, "others of its threads are");
    verdict_done(&v);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.3;
    m.s[RUN_RANK_THREAD_CPU] = 0.3;
    m.s[RUN_CPU_BUSY] = 0.2;
    is_int(judge_unmarked(&m, &v), CAUSE_LOADER_WAITS,
           "a job without marks that sleeps waits for its loader");
    ok(!strstr(v.items[0].evidence, "of the step"),
       "the evidence of a job without marks is of the time: %s", v.items[0].evidence);
    verdict_done(&v);
    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = 0.9;
    is_int(judge_unmarked(&m, &v), CAUSE_LOADER_CPU, "while its workers work");
    verdict_done(&v);
    m.s[RUN_RANK_CPU] = m.s[RUN_RANK_THREAD_CPU] = m.s[RUN_RANK_THREAD_WAIT] = (double)NAN;
    is_int(judge_unmarked(&m, &v), CAUSE_UNKNOWN, "nobody knows what it does");
    verdict_done(&v);
}

/* Files that are read again and again, though the node had room for them. */
static void test_memory_limit(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.4);
    m.s[RUN_RANK_THREAD_CPU] = 0.6;
    m.s[RUN_JOB_BLOCKED] = 0.38;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 70e6;
    m.s[RUN_DISK_REQUESTS] = 140;
    m.s[RUN_DISK_BUSY] = 0.95;
    m.s[RUN_REFAULTS] = 68e6;
    m.s[RUN_JOB_MEMORY] = 182e6;
    m.s[RUN_JOB_MEMORY_LIMIT] = 183e6;
    m.wild[RUN_JOB_MEMORY] = m.wild[RUN_JOB_MEMORY_LIMIT] = 0;
    m.s[RUN_MEMORY_PRESSURE] = 0.02;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_MEMORY_PRESSURE,
           "the job's memory limit is the cause, not its disk");
    ok(v.count == 1 && strstr(v.sentence, "limit is too low"),
       "the sentence names the limit of memory alone: %s", v.sentence);
    verdict_done(&v);
    r.moments[0].values[RUN_REFAULTS] = 0; /* a first pass over 50 GB */
    r.moments[0].values[RUN_JOB_READ] = 50e9 / r.moments[0].seconds;
    is_int(judge_built(&r, &v), CAUSE_STORAGE_BANDWIDTH, "more files than the node has room for");
    verdict_done(&v);
    run_done(&r);
    m.s[RUN_REFAULTS] = 5e6;
    is_int(judge_made(&m), CAUSE_STORAGE_BANDWIDTH, "most of them are read for the first time");
    m.s[RUN_REFAULTS] = 68e6;
    m.s[RUN_JOB_MEMORY] = 100e6;
    is_int(judge_made(&m), CAUSE_STORAGE_BANDWIDTH,
           "a cgroup that has room does not make files be read again");
}

/* One rank shares its CPU: that is said, and of whom it is, as far as is known. */
static void test_lacks_a_cpu(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;

    m.ranks = 2;
    m.slow[1] = 1.6;
    m.s[RUN_RANK_CPU] = 0.6;
    m.s[RUN_RANK_THREAD_WAIT] = 0.25;
    m.s[RUN_OTHER_CPU] = 0.4;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_SLOW_RANK, "a rank beside other processes is slow");
    ok(strstr(v.items[0].evidence, "other processes use 0.4"),
       "the evidence names what other processes use: %s", v.items[0].evidence);
    verdict_done(&v);
    run_done(&r);
    m.s[RUN_OTHER_CPU] = 0.02;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_SLOW_RANK, "a rank that may use less");
    ok(strstr(v.items[0].evidence, "no other process uses them"),
       "the evidence has that no other process uses the CPUs: %s", v.items[0].evidence);
    verdict_done(&v);
    run_done(&r);
    m.s[RUN_RANK_THREAD_WAIT] = 0.02;
    made_build(&m, &r);
    is_int(judge_built(&r, &v), CAUSE_SLOW_RANK, "a rank that has more to do");
    ok(!strstr(v.items[0].evidence, "lacks"),
       "the evidence does not have that the rank lacks a CPU: %s", v.items[0].evidence);
    verdict_done(&v);
    run_done(&r);
}

/* On a node with idle CPUs. */
static void test_bound(void)
{
    struct made m = small_node();

    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.99;
    m.s[RUN_CPU_BUSY] = 0.52;
    is_int(judge_made(&m), CAUSE_NONE, "a job that may use all CPUs, and uses one");
    made_note(&m, "process.cpus", "1");
    is_int(judge_made(&m), CAUSE_CPU_BINDING, "one with two threads that may use one");
    m.s[RUN_CPU_BUSY] = 0.9;
    is_int(judge_made(&m), CAUSE_NONE, "a binding does not matter where the other CPU is busy");
    m.s[RUN_CPU_BUSY] = 0.52;
    m.s[RUN_OTHER_CPU] = 0.6;
    is_int(judge_made(&m), CAUSE_NONE, "a binding does not matter where others may be on the CPU");
    m.s[RUN_CPUS] = 64;
    is_int(judge_made(&m), CAUSE_CPU_BINDING, "of 64 that is little");
    m.s[RUN_CPUS] = 2;
    m.s[RUN_OTHER_CPU] = 0.05;
    m.s[RUN_JOB_THROTTLED] = 0.3;
    is_int(judge_made(&m), CAUSE_CPU_QUOTA,
           "a quota is the cause where the job may not use more of any CPU");
    m.s[RUN_JOB_THROTTLED] = 0;
    m.ranks = 2;
    is_int(judge_made(&m), CAUSE_NONE,
           "a binding does not matter to two ranks that wait for no CPU");
    m.ranks = 1;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.5;
    is_int(judge_made(&m), CAUSE_NONE, "a binding does not matter where the job needs no more CPU");
}

/* A loader waits for a store, and its job may use one CPU of two. */
static void test_bound_and_waits(void)
{
    struct made m = small_node();

    made_note(&m, "process.cpus", "1");
    made_note(&m, "loader.workers", "2");
    made_stage(&m, BRIM_STAGE_WAIT, 0.6);
    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = 0.1;
    m.s[RUN_CPU_BUSY] = 0.4;
    m.s[RUN_RANK_CPU] = m.s[RUN_RANK_THREAD_CPU] = 0.4;
    m.s[RUN_JOB_CPU] = 0.6;
    m.s[RUN_JOB_RUN_WAIT] = 0.2;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "threads wait a little for that CPU: not for data");
    m.s[RUN_JOB_CPU] = 0.9;
    m.s[RUN_JOB_RUN_WAIT] = 1.2;
    is_int(judge_made(&m), CAUSE_CPU_BINDING,
           "threads that wait most of the time for their CPU are bound");
    m.notes[1][1] = "2";
    ok(judge_made(&m) != CAUSE_CPU_BINDING, "threads that may use all CPUs are not bound");
}

/* What stops it stops it while it communicates, too. */
static void test_stops_in_collectives(void)
{
    struct made m = small_node();

    m.ranks = 2;
    m.slow[1] = 1.5;
    m.s[RUN_RANK_CPU] = 0.6;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, 0.4);
    is_int(judge_made(&m), CAUSE_COMMUNICATION, "all wait longer for each other than for one");
    m.s[RUN_RANK_THREAD_WAIT] = 0.15;
    is_int(judge_made(&m), CAUSE_SLOW_RANK, "of which a third is that one rank lacks a CPU");
}

/* One rank is seen here; the others run elsewhere. */
static void test_ranks_elsewhere(void)
{
    for (int world = 1; world <= 3; world++) {
        struct made m = small_node();
        struct verdict v;
        struct run r;

        m.step_s = 0.1;
        made_stage(&m, BRIM_STAGE_COMMUNICATION, 0.5);
        made_build(&m, &r);
        r.ranks[0].world = world;
        is_int(judge_built(&r, &v) == CAUSE_COMMUNICATION, world > 1,
               "a rank of %d communicates or has nobody to communicate with", world);
        verdict_done(&v);
        run_done(&r);
    }
}

int main(void)
{
    test_first_thread();
    test_remote();
    test_held_back();
    test_half();
    test_spinning();
    test_network();
    test_one_saves();
    test_flush();
    test_order();
    test_bursts();
    test_unequal();
    test_lacks_a_cpu();
    test_bound();
    test_bound_and_waits();
    test_stops_in_collectives();
    test_ranks_elsewhere();
    test_taken();
    test_slow_and_changes();
    test_saving();
    test_turns();
    test_since_others();
    test_tiny();
    test_unmarked();
    test_memory_limit();
    return done();
}
