/* The pure parts of a run: who observes one job together, parts made into one, moments taken into
 * one. */
#include <math.h>
#include <stdbool.h>

#include "folder.h"
#include "live_ticks.h"
#include "run/archive/merge_runs.h"
#include "run/job/identity.h"
#include "run/moment/moment.h"
#include "tap.h"

#define S ((int64_t)1000000000)

/* ---- identity ---- */

static const char *key_of(char *const *env, int parent, struct identity *i)
{
    identity_read(i, env, parent);
    return i->key;
}

static void test_identity(void)
{
    char *none[] = { (char[]){ "HOME=/" }, NULL };
    char *torch[] = { (char[]){ "TORCHELASTIC_RUN_ID=a/b c" },
                      (char[]){ "MASTER_PORT=29500" },
                      (char[]){ "RANK=3" },
                      (char[]){ "LOCAL_RANK=1" },
                      (char[]){ "WORLD_SIZE=8" },
                      NULL };
    char *slurm[] = { (char[]){ "SLURM_JOB_ID=7" }, (char[]){ "SLURM_STEP_ID=0" },
                      (char[]){ "SLURM_PROCID=2" }, (char[]){ "SLURM_NTASKS=4" }, NULL };
    char *batch[] = { (char[]){ "SLURM_JOB_ID=7" }, (char[]){ "SLURM_NTASKS=4" }, NULL };
    char *mpi[] = { (char[]){ "PMIX_NAMESPACE=prterun-1@1" }, (char[]){ "PMIX_RANK=1" },
                    (char[]){ "OMPI_COMM_WORLD_SIZE=2" }, NULL };
    char *alone[] = { (char[]){ "MASTER_PORT=1" }, (char[]){ "RANK=0" }, (char[]){ "WORLD_SIZE=1" },
                      NULL };
    char *broken[] = { (char[]){ "MASTER_PORT=1" }, (char[]){ "RANK=x" },
                       (char[]){ "WORLD_SIZE=2" }, NULL };
    struct identity i;

    is_str(key_of(none, 1, &i), "", "a process without variables has no key");
    ok(i.rank == -1 && i.world == -1, "ranks are not known");
    is_str(key_of(torch, 42, &i), "torch-a_b_c-29500-42", "torchrun, as a part of a file's name");
    ok(i.rank == 3 && i.local_rank == 1 && i.world == 8 && !i.unique,
       "the variables of torchrun have its rank");
    is_str(key_of(slurm, 42, &i), "slurm-7.0", "a step of Slurm has a key of job and step");
    ok(i.rank == 2 && i.unique, "the identity of a Slurm step is the same on all nodes");
    is_str(key_of(batch, 42, &i), "", "the batch script of Slurm has no key");
    is_str(key_of(mpi, 42, &i), "mpi-prterun-1@1", "the variables of PMIx make a key");
    is_str(key_of(alone, 42, &i), "", "one rank alone has no key");
    is_str(key_of(broken, 42, &i), "", "a rank that is no number");
}

static void test_shared_id(void)
{
    struct identity a = { .key = "job" }, b = { .key = "job" }, c = { .key = "" };
    char folder[PATH_MAX], path[PATH_MAX + 16];
    int64_t now_ns;
    struct stat st;

    folder_make(folder);
    folder_text(folder, "clock", "");
    snprintf(path, sizeof(path), "%s/clock", folder);
    folder_need(stat(path, &st), path);
    now_ns = (int64_t)st.st_mtim.tv_sec * S;
    identity_make(&a, 0, 0x12345);
    is_str(a.id, "19700101-000000-2345", "an id is made of a time and chance");
    identity_make(&b, 1700000000 * S, 0xbeef);
    identity_make(&c, 1700000000 * S, 0xbeef);
    is_int(identity_share(&a, folder, now_ns, NULL), 0, "the first one sets it");
    is_int(identity_share(&b, folder, now_ns, NULL), 0, "the second observer shares the key");
    is_str(b.id, a.id, "the second observer takes the first one's id");
    is_int(identity_share(&c, folder, now_ns, NULL), 0, "an observer without a key shares no id");
    is_str(c.id, "20231114-221320-beef", "keeps its own");
    identity_make(&b, 1700000000 * S, 0xbeef);
    is_int(identity_share(&b, folder, now_ns + 300 * S, NULL), 0,
           "a later job shares the key of an earlier one");
    is_str(b.id, "20231114-221320-beef", "with a key that was used before has one of its own");
    ok(identity_share(&a, "/nonexistent/brim", now_ns, NULL) < 0, "a folder that is not there");
    folder_remove(folder);
}

/* ---- parts ---- */

static void make_part(struct run *r, int rank, int64_t begin_ns, double cpu)
{
    struct run_rank *k;

    *r = (struct run){ .id = "x", .host = "a", .end = RUN_EXITED, .end_ns = begin_ns + 10 * S };
    k = r->ranks = arena_alloc(&r->arena, sizeof(*k));
    *k = (struct run_rank){ .rank = rank, .host = "a", .framework = "torch" };
    k->steps = arena_alloc(&r->arena, sizeof(*k->steps));
    k->n_steps = r->n_ranks = 1;
    k->steps[0] = (struct step){ .begin_ns = 5 * S, .end_ns = 6 * S };
    for (int i = 0; i < 10; i++) {
        struct run_moment *m = ARENA_PUSH(&r->arena, &r->moments, &r->n_moments);

        *m = (struct run_moment){ .wall_ns = begin_ns + (i + 1) * S, .seconds = 1 };
        for (int s = 0; s < RUN_SIGNALS; s++)
            m->values[s] = (double)NAN;
        m->values[RUN_JOB_CPU] = cpu;
        m->values[RUN_JOB_PSS] = i == 3 || rank ? 1e9 : (double)NAN;
        m->values[RUN_OTHER_CPU] = 3;
        m->values[RUN_CPU_BUSY] = 0.5;
        m->values[RUN_WORKERS] = rank + 1;
        m->values[RUN_WORKER_CPU] = rank ? 0.2 : 0.8;
    }
}

static void test_parts(void)
{
    struct archive_part here = { .host = "a", .offset_ns = 100 }, there = { .host = "b" };
    struct run a, b;

    make_part(&a, 0, 1000 * S, 1);
    make_part(&b, 1, 1000 * S + S / 10, 2);
    b.end = RUN_KILLED;
    b.status = 9;
    is_int(merge_runs_add(&a, &here, &b, &here), 0,
           "the parts of two observers on one node are merged");
    ok(a.n_ranks == 2 && a.ranks[1].rank == 1 && a.ranks[1].steps[0].begin_ns == 5 * S,
       "the run of two observers has both ranks");
    ok(a.n_moments == 10 && a.moments[3].values[RUN_JOB_CPU] == 3,
       "processes of both observers are added up");
    ok(a.moments[3].values[RUN_JOB_PSS] == 2e9 && isnan(a.moments[4].values[RUN_JOB_PSS]),
       "memory where both tell it");
    ok(a.moments[3].values[RUN_OTHER_CPU] == 1,
       "processes of one observer are no others to the second");
    ok(a.moments[3].values[RUN_CPU_BUSY] == 0.5, "the node counts once");
    ok(fabs(a.moments[3].values[RUN_WORKER_CPU] - 0.4) < 1e-9, "means by how many there are: %g",
       a.moments[3].values[RUN_WORKER_CPU]);
    ok(a.end == RUN_KILLED && a.status == 9, "a failure stays");
    run_done(&a);
    make_part(&a, 0, 1000 * S, 1);
    there.offset_ns = here.offset_ns + 7 * S;
    is_int(merge_runs_add(&a, &here, &b, &there), 0, "the part of another node is merged");
    is_int(a.ranks[1].steps[0].begin_ns / S, 12,
           "steps of another node get times of the first one's clock");
    ok(a.moments[3].values[RUN_JOB_CPU] == 1, "moments of another node are left out");
    there.offset_ns = INT64_MIN;
    is_int(merge_runs_add(&a, &here, &b, &there), 0, "a clock that cannot be");
    is_int(a.ranks[2].steps[0].begin_ns / S, 5, "a clock that cannot be is not used");
    run_done(&a);
    run_done(&b);
}

/* An observer was told of a rank on another host, and the one beside that has stored it as well. */
static void test_told_twice(void)
{
    const struct archive_part here = { .host = "a" }, there = { .host = "b" };
    struct run a, b;

    make_part(&a, 0, 1000 * S, 1);
    make_part(&b, 0, 1000 * S, 1);
    a.ranks[0].pid = b.ranks[0].pid = 4711;
    a.ranks[0].host = b.ranks[0].host = "b";
    a.ranks[0].total.number = 5;
    b.ranks[0].total.number = 5;
    is_int(merge_runs_add(&a, &here, &b, &there), 0, "a rank that is told twice is merged");
    is_int((long long)a.n_ranks, 1, "a rank that is told twice is one");
    b.ranks[0].total.number = 7;
    is_int(merge_runs_add(&a, &here, &b, &there), 0, "a rank with more steps is merged");
    ok(a.n_ranks == 1 && a.ranks[0].total.number == 7, "of a rank that is told twice more counts");
    b.ranks[0].host = "c";
    is_int(merge_runs_add(&a, &here, &b, &there), 0, "a rank of another host is merged");
    is_int((long long)a.n_ranks, 2, "the same number on another host is another rank");
    run_done(&a);
    run_done(&b);
}

/* Which end counts of two, and what stays where one part tells nothing. */
static void test_part_ends(void)
{
    static const struct {
        enum run_end a, b, want;
        int a_status, b_status, status;
    } ends[] = {
        { RUN_EXITED, RUN_EXITED, RUN_EXITED, 0, 3, 3 },
        { RUN_EXITED, RUN_EXITED, RUN_EXITED, 2, 3, 2 },
        { RUN_EXITED, RUN_EXITED, RUN_EXITED, 2, 0, 2 },
        { RUN_KILLED, RUN_EXITED, RUN_KILLED, 9, 3, 9 },
        { RUN_EXITED, RUN_KILLED, RUN_KILLED, 3, 9, 9 },
        { RUN_KILLED, RUN_LOST, RUN_LOST, 9, 0, 0 },
        { RUN_LOST, RUN_KILLED, RUN_LOST, 0, 9, 0 },
        { RUN_LOST, RUN_RUNNING, RUN_RUNNING, 0, 0, 0 },
        { RUN_RUNNING, RUN_EXITED, RUN_RUNNING, 0, 1, 0 },
    };
    const struct archive_part here = { .host = "a" };

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        struct run a = { .end = ends[i].a, .status = ends[i].a_status, .end_ns = 5 };
        struct run b = { .end = ends[i].b, .status = ends[i].b_status, .end_ns = 7 };

        is_int(merge_runs_add(&a, &here, &b, &here), 0, "ends %zu are merged", i);
        ok(a.end == ends[i].want && a.status == ends[i].status, "ends %zu have the worse one", i);
        is_int(a.end_ns, a.end == RUN_RUNNING ? 0 : 7, "ends %zu have the later time", i);
    }
}

static void set(struct run_moment *m, enum run_signal s, double value)
{
    m->values[s] = value;
}

/* One moment of two parts, signal by signal. */
static void test_part_signals(void)
{
    static const struct {
        enum run_signal signal;
        double a, b, want; /* 1e30: not known */
    } cases[] = {
        { RUN_JOB_PROCESSES, 2, 3, 5 },  { RUN_JOB_PREEMPTIONS, 2, 3, 5 },
        { RUN_JOB_THREADS, 1e30, 3, 3 }, { RUN_JOB_CPU, 2, 1e30, 2 },
        { RUN_JOB_CPU_LIMIT, 2, 3, 2 },  { RUN_GPU_WORST_CLOCK, 2, 3, 2 },
        { RUN_JOB_PSS, 2, 1e30, 1e30 },  { RUN_JOB_PSS, 2, 3, 5 },
        { RUN_RANK_CPU, 2, 3, 2.5 },     { RUN_RANK_CPU, 1e30, 3, 3 },
        { RUN_RANK_CPU, 2, 1e30, 2 },    { RUN_WORKERS, 4, 1, 5 },
        { RUN_WORKERS, 1e30, 1, 1 },
    };
    const struct archive_part here = { .host = "a" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run_moment m[2];
        struct run a = { .moments = &m[0], .n_moments = 1 },
                   b = { .moments = &m[1], .n_moments = 1 };
        double got;

        for (int k = 0; k < 2; k++) {
            m[k] = (struct run_moment){ .wall_ns = 10 * S, .seconds = 1 };
            for (int s = 0; s < RUN_SIGNALS; s++)
                m[k].values[s] = (double)NAN;
            if ((k ? cases[i].b : cases[i].a) < 1e30)
                set(&m[k], cases[i].signal, k ? cases[i].b : cases[i].a);
        }
        is_int(merge_runs_add(&a, &here, &b, &here), 0, "moments %zu are merged", i);
        got = m[0].values[cases[i].signal];
        ok(cases[i].want < 1e30 ? got == cases[i].want : isnan(got),
           "signal %s of moments %zu is merged: %g", run_signal_name(cases[i].signal), i, got);
    }
}

/* Means of workers by their number, and what one part takes off the others of the second. */
static void test_part_workers(void)
{
    const struct archive_part here = { .host = "a" };
    struct run_moment m[2];
    struct run a = { .moments = &m[0], .n_moments = 1 }, b = { .moments = &m[1], .n_moments = 1 };

    for (int k = 0; k < 2; k++) {
        m[k] = (struct run_moment){ .wall_ns = 10 * S, .seconds = 1 };
        for (int s = 0; s < RUN_SIGNALS; s++)
            m[k].values[s] = (double)NAN;
        set(&m[k], RUN_WORKERS, k ? 3 : 1);
        set(&m[k], RUN_WORKER_CPU, k ? 1 : 0.2);
        set(&m[k], RUN_WORKER_IO_WAIT, k ? 0.5 : 0.1);
        set(&m[k], RUN_JOB_CPU, k ? 2 : 1);
        set(&m[k], RUN_JOB_READ, k ? 20 : 10);
        set(&m[k], RUN_JOB_WRITE, k ? 200 : 100);
        set(&m[k], RUN_OTHER_CPU, k ? 9 : 3);
        set(&m[k], RUN_OTHER_READ, k ? 9 : 15);
        set(&m[k], RUN_OTHER_WRITE, k ? 9 : 700);
    }
    is_int(merge_runs_add(&a, &here, &b, &here), 0, "moments with workers are merged");
    ok(fabs(m[0].values[RUN_WORKER_CPU] - 0.8) < 1e-9, "CPU of workers: %g",
       m[0].values[RUN_WORKER_CPU]);
    ok(fabs(m[0].values[RUN_WORKER_IO_WAIT] - 0.4) < 1e-9, "waiting of workers: %g",
       m[0].values[RUN_WORKER_IO_WAIT]);
    ok(m[0].values[RUN_OTHER_CPU] == 1 && m[0].values[RUN_OTHER_READ] == 0 &&
           m[0].values[RUN_OTHER_WRITE] == 500,
       "what the second part did is no other's: %g, %g, %g", m[0].values[RUN_OTHER_CPU],
       m[0].values[RUN_OTHER_READ], m[0].values[RUN_OTHER_WRITE]);
    for (int k = 0; k < 2; k++) {
        set(&m[k], RUN_WORKERS, k ? 3 : 0);
        set(&m[k], RUN_WORKER_CPU, k ? 1 : 0.2);
    }
    is_int(merge_runs_add(&a, &here, &b, &here), 0, "moments of one part with workers are merged");
    ok(m[0].values[RUN_WORKER_CPU] == 1, "a first part without workers counts for nothing");
    for (int k = 0; k < 2; k++) {
        set(&m[k], RUN_WORKERS, k ? 0 : 3);
        set(&m[k], RUN_WORKER_CPU, k ? 1 : 0.2);
    }
    is_int(merge_runs_add(&a, &here, &b, &here), 0, "the other way round, too");
    ok(m[0].values[RUN_WORKER_CPU] == 0.2, "a second part without workers counts for nothing");
}

/* Which moments go together: the nearest within three quarters of one. */
static void test_part_times(void)
{
    static const struct {
        double apart_s;
        bool together;
    } cases[] = { { 0, true },       { 0.7499, true },   { -0.7499, true },
                  { 0.7501, false }, { -0.7501, false }, { 5, false } };
    const struct archive_part here = { .host = "a" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run_moment m[1] = { { .wall_ns = 100 * S, .seconds = 1 } }, more[4];
        struct run a = { .moments = m, .n_moments = 1 }, b = { .moments = more, .n_moments = 4 };
        static const double others[] = { -30, -20, 0, 30 };

        set(&m[0], RUN_JOB_CPU, 1);
        for (int k = 0; k < 4; k++) {
            more[k] = (struct run_moment){ .seconds = 1 };
            more[k].wall_ns = 100 * S + (int64_t)((k == 2 ? cases[i].apart_s : others[k]) * 1e9);
            set(&more[k], RUN_JOB_CPU, k == 2 ? 4 : 100);
        }
        is_int(merge_runs_add(&a, &here, &b, &here), 0, "moments %g s apart are merged",
               cases[i].apart_s);
        ok(m[0].values[RUN_JOB_CPU] == (cases[i].together ? 5 : 1),
           "moments %g s apart belong together or do not: %g", cases[i].apart_s,
           m[0].values[RUN_JOB_CPU]);
    }
}

/* ---- moments ---- */

static void test_merge(void)
{
    struct run_moment a = { .wall_ns = 10, .monotonic_ns = 1, .seconds = 1 };
    struct run_moment b = { .wall_ns = 20, .monotonic_ns = 2, .seconds = 3 };

    for (int s = 0; s < RUN_SIGNALS; s++)
        a.values[s] = b.values[s] = (double)NAN;
    a.values[RUN_JOB_CPU] = 1;
    b.values[RUN_JOB_CPU] = 5;
    a.values[RUN_SWAP] = 7;
    b.values[RUN_CPUS] = 2;
    moment_merge(&a, &b);
    ok(a.values[RUN_JOB_CPU] == 4, "means by length: %g", a.values[RUN_JOB_CPU]);
    ok(a.values[RUN_SWAP] == 7 && a.values[RUN_CPUS] == 2, "of one where the other lacks it");
    ok(isnan(a.values[RUN_GPUS]), "of none where both do");
    ok(a.wall_ns == 20 && a.monotonic_ns == 2 && a.seconds == 4,
       "merged moments end when the later one does");
}

#define GAUGED(thing, signal, value) \
    { \
        "gpu", thing, signal, NULL, value, value \
    }
#define USED(domain, joules) \
    { \
        "rapl", domain, "energy_joules_total", NULL, 1e6, 1e6 + (joules) \
    }

/* A device that draws 650 W and 250 W by turns: its counter tells the mean, a look at the power one
 * of them. */
static void test_energy(void)
{
    static const struct given counted[] = {
        GAUGED("0", "power_watts", 650),
        GAUGED("0", "power_limit_watts", 1060),
        { "gpu", "0", "energy_joules_total", NULL, 1e6, 1e6 + 530 },
        { .set = NULL },
    };
    static const struct given still[] = {
        GAUGED("0", "power_watts", 650),
        GAUGED("0", "energy_joules_total", 1e6),
        { .set = NULL },
    };
    const struct family_growth growth = { .processes = 1 };
    const struct moment_job job = { .cgroup = "" };
    struct tick ticks[2] = { { .n_rows = 0 } };
    struct run_moment m;

    made_ticks(counted, 10, ticks);
    moment_make(&ticks[0], &ticks[1], &growth, &job, &m);
    ok(fabs(m.values[RUN_GPU_WATTS] - 530) < 1e-6,
       "a counter of energy tells the mean power, not the last one: %g W", m.values[RUN_GPU_WATTS]);
    ok(fabs(m.values[RUN_GPU_POWER] - 0.5) < 1e-6, "the share of the limit is that of the mean");
    made_ticks(still, 20, ticks);
    moment_make(&ticks[0], &ticks[1], &growth, &job, &m);
    ok(fabs(m.values[RUN_GPU_WATTS] - 650) < 1e-6,
       "a counter that stands still leaves the look at the power: %g W", m.values[RUN_GPU_WATTS]);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static void test_power(void)
{
    static const struct given all[] = { GAUGED("0", "power_watts", 300),
                                        GAUGED("0", "memory_used_bytes", 5e9),
                                        GAUGED("1", "power_watts", 100),
                                        GAUGED("1", "memory_used_bytes", 1e9),
                                        USED("package-0", 50),
                                        USED("core-0", 40),
                                        USED("dram-0", 10),
                                        USED("psys", 70),
                                        { .set = NULL } };
    static const struct given some[] = { GAUGED("0", "power_watts", 300),
                                         GAUGED("1", "busy_ratio", 1),
                                         { .set = NULL } };
    const struct family_growth growth = { .processes = 1 };
    const struct moment_job job = { .cgroup = "" };
    struct tick ticks[2] = { { .n_rows = 0 } };
    struct run_moment m;

    made_ticks(all, 10, ticks);
    moment_make(&ticks[0], &ticks[1], &growth, &job, &m);
    ok(m.values[RUN_GPU_WATTS] == 400, "the power of both accelerators is added up: %g W",
       m.values[RUN_GPU_WATTS]);
    ok(m.values[RUN_GPU_MEMORY_USED] == 6e9, "the memory of both accelerators is added up");
    ok(fabs(m.values[RUN_CPU_WATTS] - 60) < 1e-6,
       "processors and memory, not their parts once more: %g W", m.values[RUN_CPU_WATTS]);
    made_ticks(some, 20, ticks);
    moment_make(&ticks[0], &ticks[1], &growth, &job, &m);
    ok(isnan(m.values[RUN_GPU_WATTS]) && isnan(m.values[RUN_CPU_WATTS]), "of one alone it is none");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

int main(void)
{
    test_identity();
    test_shared_id();
    test_parts();
    test_told_twice();
    test_part_ends();
    test_part_signals();
    test_part_workers();
    test_part_times();
    test_merge();
    test_power();
    test_energy();
    return done();
}
