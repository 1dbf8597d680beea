/* CPUs, threads, BLAS and NUMA. */
#include <stdio.h>

#include "all.h"
#include "rows.h"

/* Threads that wait for a CPU for that share of the time in which they could run. */
static void starve(struct made *m, double share)
{
    m->s[RUN_JOB_RUN_WAIT] = m->s[RUN_JOB_CPU] * share / (1 - share);
}

/* ---- a quota ---- */

static bool is_throttled(double x)
{
    struct made m = limits_plain();

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_CPU_QUOTA);
}

/* Half of the periods that are cut short is what it costs: as much as half of a wait of 0.3 is
 * explained by that. */
static bool costs_half_of_the_periods(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_LOADER_WAITS);
}

/* ---- others ---- */

static struct made beside(double others, double starved)
{
    struct made m = limits_plain();

    m.s[RUN_OTHER_CPU] = others;
    starve(&m, starved);
    return m;
}

static bool has_neighbours(double x)
{
    struct made m = beside(2 * x, 0.3);

    return limits_finds(&m, CAUSE_CPU_NEIGHBOURS);
}

static bool has_starving_neighbours(double x)
{
    struct made m = beside(1, x);

    return limits_finds(&m, CAUSE_CPU_NEIGHBOURS);
}

/* A job that sleeps most of the time loses as much less. */
static bool loses_to_neighbours(double x)
{
    struct made m = beside(1, 0.5);

    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = x;
    m.s[RUN_RANK_THREAD_CPU] = x;
    starve(&m, 0.5);
    return limits_finds(&m, CAUSE_CPU_NEIGHBOURS);
}

static bool tells_cpu_pressure(double x)
{
    struct made m = beside(1, 0.3);

    m.s[RUN_CPU_PRESSURE] = x;
    return limits_says(&m, "CPU pressure");
}

static bool is_stolen(double x)
{
    struct made m = limits_plain();

    m.s[RUN_CPU_STEAL] = x;
    return limits_finds(&m, CAUSE_CPU_NEIGHBOURS);
}

/* Others and a hypervisor at once: the hypervisor has to cost all that it explains. */
static bool is_explained_beside_steal(double x)
{
    struct made m = limits_waiting(0.28);

    m.s[RUN_OTHER_CPU] = 1;
    m.s[RUN_CPU_STEAL] = x;
    starve(&m, 0.25);
    return limits_finds(&m, CAUSE_LOADER_WAITS);
}

/* ---- few CPUs ---- */

static struct made bound(void)
{
    struct made m = limits_plain();

    m.s[RUN_CPU_BUSY] = 0.5;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.95;
    made_note(&m, "process.cpus", "1");
    return m;
}

static bool is_bound_beside_idle(double x)
{
    struct made m = bound();

    m.s[RUN_CPU_BUSY] = x;
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

static bool is_bound_without_others(double x)
{
    struct made m = bound();

    m.s[RUN_OTHER_CPU] = 2 * x;
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

static bool is_bound_without_quota(double x)
{
    struct made m = bound();

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

static bool is_bound_and_uses_all(double x)
{
    struct made m = bound();

    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = x;
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

static bool is_bound_and_computes(double x)
{
    struct made m = bound();

    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

static bool is_bound_and_starves(double x)
{
    struct made m = bound();

    m.notes[0][1] = "1"; /* no thread is too many: only waiting tells */
    starve(&m, x);
    return limits_finds(&m, CAUSE_CPU_BINDING);
}

/* ---- workers ---- */

static struct made crowded(void)
{
    struct made m = limits_waiting(0.05);

    m.notes[0][1] = "1";
    m.notes[1][1] = "22";
    m.s[RUN_WORKERS] = 22;
    m.s[RUN_WORKER_CPU] = 0.05;
    m.s[RUN_JOB_RUN_WAIT] = 16;
    m.s[RUN_RANK_THREAD_CPU] = 0.1;
    m.s[RUN_RANK_THREAD_WAIT] = 0.5;
    return m;
}

static bool waits_in_a_crowd(double x)
{
    struct made m = crowded();

    m.s[RUN_JOB_RUN_WAIT] = 20 * x; /* of 22 workers on 2 CPUs */
    return limits_finds(&m, CAUSE_MANY_WORKERS);
}

static bool works_in_a_crowd(double x)
{
    struct made m = crowded();

    m.s[RUN_WORKER_CPU] = 2 * x / 22;
    return limits_finds(&m, CAUSE_MANY_WORKERS);
}

static bool starves_in_a_crowd(double x)
{
    struct made m = crowded();

    m.s[RUN_JOB_CPU] = m.s[RUN_JOB_RUN_WAIT] * (1 - x) / x;
    return limits_finds(&m, CAUSE_MANY_WORKERS);
}

static bool waits_behind_a_crowd(double x)
{
    struct made m = crowded();

    m.s[RUN_RANK_THREAD_WAIT] = x;
    return limits_finds(&m, CAUSE_MANY_WORKERS);
}

static bool is_alone_in_a_crowd(double x)
{
    struct made m = crowded();

    m.s[RUN_OTHER_CPU] = 2 * x;
    return limits_finds(&m, CAUSE_MANY_WORKERS);
}

/* Data are there in time, but the workers have the CPUs. */
static struct made taking(void)
{
    struct made m = limits_waiting(0.05);

    m.s[RUN_WORKER_CPU] = 0.4;
    m.s[RUN_RANK_CPU] = 1.1;
    m.s[RUN_JOB_CPU] = 1.9;
    m.s[RUN_RANK_THREAD_CPU] = 0.55;
    m.s[RUN_RANK_THREAD_WAIT] = 0.4;
    return m;
}

static bool takes_cpus(double x)
{
    struct made m = taking();

    m.s[RUN_WORKER_CPU] = x; /* two workers on two CPUs */
    return limits_says(&m, "take CPUs from the training");
}

static bool takes_cpus_that_are_waited_for(double x)
{
    struct made m = taking();

    m.s[RUN_RANK_THREAD_WAIT] = x;
    return limits_says(&m, "take CPUs from the training");
}

static bool takes_cpus_of_nobody_else(double x)
{
    struct made m = taking();

    m.s[RUN_OTHER_CPU] = 2 * x;
    return limits_says(&m, "take CPUs from the training");
}

static bool takes_cpus_without_quota(double x)
{
    struct made m = taking();

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_says(&m, "take CPUs from the training");
}

static bool takes_cpus_from_few_threads(double x)
{
    struct made m = taking();

    m.notes[0][1] = "30";
    m.s[RUN_CPUS] = 30 / x;
    m.s[RUN_WORKER_CPU] = 6;
    return limits_says(&m, "take CPUs from the training");
}

static bool takes_cpus_in_time(double x)
{
    struct made m = taking();

    limits_stage(&m, BRIM_STAGE_WAIT, x);
    return limits_says(&m, "take CPUs from the training");
}

/* ---- threads ---- */

static struct made threads_on_a_hundred(double threads, char text[8])
{
    struct made m = limits_plain();

    snprintf(text, 8, "%.0f", 100 * threads);
    m.notes[0][1] = text;
    m.s[RUN_CPUS] = 100;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 49;
    return m;
}

static bool has_many_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(x, text);

    starve(&m, 0.3);
    return limits_says(&m, "more threads compute than there are CPUs");
}

static bool has_starving_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(2, text);

    starve(&m, x);
    return limits_says(&m, "more threads compute than there are CPUs");
}

static bool has_threads_alone(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(2, text);

    starve(&m, 0.3);
    m.s[RUN_OTHER_CPU] = 100 * x;
    return limits_says(&m, "more threads compute than there are CPUs");
}

static bool has_few_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(x, text);

    m.s[RUN_CPU_BUSY] = 0.5;
    return limits_finds(&m, CAUSE_CPU_THREADS);
}

static bool uses_few_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(0.3, text);

    m.s[RUN_CPU_BUSY] = 0.5;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 100 * x;
    return limits_finds(&m, CAUSE_CPU_THREADS);
}

static bool has_few_threads_beside_idle(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(0.3, text);

    m.s[RUN_CPU_BUSY] = x;
    return limits_finds(&m, CAUSE_CPU_THREADS);
}

static bool computes_on_few_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(0.3, text);

    m.s[RUN_CPU_BUSY] = 0.5;
    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_CPU_THREADS);
}

static bool computes_long_on_few_threads(double x)
{
    char text[8];
    struct made m = threads_on_a_hundred(0.3, text);

    m.s[RUN_CPU_BUSY] = 0.5;
    m.step_s = x;
    return limits_finds(&m, CAUSE_CPU_THREADS);
}

/* Two pools of threads on two CPUs that nobody else uses. */
static struct made spinning(double starved)
{
    struct made m = limits_plain();

    starve(&m, starved);
    return m;
}

static bool spins(double x)
{
    struct made m = spinning(x);

    return limits_finds(&m, CAUSE_CPU_SPINNING);
}

static bool spins_and_computes(double x)
{
    struct made m = spinning(0.3);

    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_CPU_SPINNING);
}

static bool spins_alone(double x)
{
    struct made m = spinning(0.3);

    m.s[RUN_OTHER_CPU] = 2 * x;
    return limits_finds(&m, CAUSE_CPU_SPINNING);
}

static bool spins_without_workers(double x)
{
    struct made m = spinning(0.3);

    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = x;
    return limits_finds(&m, CAUSE_CPU_SPINNING);
}

static bool spins_without_quota(double x)
{
    struct made m = spinning(0.3);

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_CPU_SPINNING);
}

/* ---- BLAS and NUMA ---- */

/* A slow BLAS, and a quota that costs so much of the computing: what costs more stands first. */
static bool blas_costs_less(double x)
{
    struct made m = limits_plain();

    made_note(&m, "blas", "generic");
    m.s[RUN_JOB_THROTTLED] = 0.3;
    starve(&m, 0.98 * x);
    return limits_is_first(&m, CAUSE_CPU_QUOTA);
}

static bool blas_computes(double x)
{
    struct made m = limits_plain();

    made_note(&m, "blas", "generic");
    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_BLAS);
}

static bool blas_uses_few_cpus(double x)
{
    struct made m = limits_plain();

    made_note(&m, "blas", "generic");
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = x;
    return limits_says(&m, "threads are set");
}

static struct made remote(double share, char text[8])
{
    struct made m = limits_plain();

    snprintf(text, 8, "%.4f", share);
    made_note(&m, "numa.remote", text);
    return m;
}

static bool is_remote(double x)
{
    char text[8];
    struct made m = remote(x, text);

    return limits_finds(&m, CAUSE_NUMA);
}

static bool is_remote_and_computes(double x)
{
    char text[8];
    struct made m = remote(0.5, text);

    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_NUMA);
}

/* What it costs, by whether 20 % of the step are critical. */
static bool is_remote_at_a_cost(double x)
{
    char text[8];
    struct made m = remote(0.2 / x, text);
    struct run r;

    made_build(&m, &r);
    return limits_judge(&r, NULL).of[CAUSE_NUMA].severity == SEVERITY_CRITICAL;
}

static const struct limit_row rows[] = {
    { "cpu-throttled", 0.099, 0.101, is_throttled, "so much of the periods cut short are a quota",
      AT_HOLDS },
    { NULL, 0.305, 0.295, costs_half_of_the_periods,
      "so much of the periods cut short cost half of that", AT_HOLDS_NOT },
    { "others-cpu", 0.245, 0.255, has_neighbours,
      "so much of the CPUs used by others are neighbours", AT_HOLDS },
    { "cpu-starved", 0.199, 0.201, has_starving_neighbours,
      "so much of the time without a CPU is for neighbours", AT_HOLDS_NOT },
    { "wait-warning", 0.0995, 0.1005, loses_to_neighbours,
      "so many CPUs of a sleeper, half starved, lose to neighbours", AT_HOLDS },
    { "cpu-starved", 0.198, 0.202, tells_cpu_pressure, "so much of pressure is told", AT_HOLDS },
    { "cpu-stolen", 0.099, 0.101, is_stolen, "so much of the CPUs are stolen", AT_HOLDS },
    { "cpu-stolen", 0.099, 0.101, is_explained_beside_steal,
      "so much of the CPUs stolen explain only what costs less", AT_HOLDS },
    { "cpus-free", 0.705, 0.695, is_bound_beside_idle, "so much of the CPUs busy leave a binding",
      AT_HOLDS_NOT },
    { "others-cpu", 0.255, 0.245, is_bound_without_others,
      "so much of the CPUs used by others leave a binding", AT_HOLDS_NOT },
    { "cpu-throttled", 0.101, 0.099, is_bound_without_quota,
      "so much of the periods cut short leave a binding", AT_HOLDS_NOT },
    { NULL, 0.895, 0.905, is_bound_and_uses_all, "so much of its CPU is in use: bound to it",
      AT_HOLDS },
    { "compute-most", 0.595, 0.605, is_bound_and_computes,
      "so much of the step computes where it is bound", AT_HOLDS_NOT },
    { "cpu-starved", 0.199, 0.201, is_bound_and_starves,
      "so much of the time without a CPU is for the binding", AT_HOLDS_NOT },
    { "workers-waiting", 0.395, 0.405, waits_in_a_crowd,
      "so much of workers beyond the CPUs are too many", AT_HOLDS },
    { "workers-busy", 0.495, 0.505, works_in_a_crowd,
      "so much of the CPUs used by workers makes them too many", AT_HOLDS },
    { "cpu-starved", 0.199, 0.201, starves_in_a_crowd,
      "so much of the time without a CPU is for many workers", AT_HOLDS },
    { "wait-warning", 0.099, 0.101, waits_behind_a_crowd,
      "so much of the rank's time without a CPU is a crowd's doing", AT_HOLDS },
    { "others-cpu", 0.255, 0.245, is_alone_in_a_crowd,
      "so much of the CPUs used by others leave many workers", AT_HOLDS_NOT },
    { "others-cpu", 0.245, 0.255, takes_cpus, "so much of the CPUs are taken by workers",
      AT_HOLDS },
    { "cpu-starved", 0.199, 0.201, takes_cpus_that_are_waited_for,
      "so much of the first thread's time without a CPU is taken by workers", AT_HOLDS },
    { "others-cpu", 0.255, 0.245, takes_cpus_of_nobody_else,
      "so much of the CPUs used by others leave what workers take", AT_HOLDS_NOT },
    { "cpu-throttled", 0.101, 0.099, takes_cpus_without_quota,
      "so much of the periods cut short leave what workers take", AT_HOLDS_NOT },
    { "threads-many", 1.51, 1.49, takes_cpus_from_few_threads,
      "so many threads for a CPU leave what workers take", AT_HOLDS_NOT },
    { "wait-warning", 0.101, 0.099, takes_cpus_in_time,
      "so much of the step waits while workers take CPUs", AT_HOLDS_NOT },
    { "threads-many", 1.49, 1.51, has_many_threads, "so many threads for a CPU are many" },
    { "cpu-starved", 0.199, 0.201, has_starving_threads,
      "so much of the time without a CPU is for many threads", AT_HOLDS },
    { "others-cpu", 0.255, 0.245, has_threads_alone,
      "so much of the CPUs used by others leave many threads", AT_HOLDS_NOT },
    { "threads-few", 0.51, 0.49, has_few_threads, "so many threads for a CPU are few" },
    { "threads-few", 0.61, 0.59, uses_few_threads, "so much of the CPUs in use are few", AT_HOLDS },
    { "cpus-free", 0.705, 0.695, has_few_threads_beside_idle,
      "so much of the CPUs busy leave few threads", AT_HOLDS_NOT },
    { "compute-most", 0.595, 0.605, computes_on_few_threads,
      "so much of the step computes on few threads", AT_HOLDS_NOT },
    { "short-step", 0.0049, 0.0051, computes_long_on_few_threads,
      "so many seconds of a step are enough for threads", AT_HOLDS },
    { "cpu-starved", 0.199, 0.201, spins,
      "so much of the time without a CPU is for threads that spin", AT_HOLDS_NOT },
    { "compute-most", 0.595, 0.605, spins_and_computes,
      "so much of the step computes while threads spin", AT_HOLDS_NOT },
    { "others-cpu", 0.255, 0.245, spins_alone, "so much of the CPUs used by others leave spinning",
      AT_HOLDS_NOT },
    { "others-cpu", 0.255, 0.245, spins_without_workers,
      "so much of the CPUs used by workers leave spinning", AT_HOLDS_NOT },
    { "cpu-throttled", 0.101, 0.099, spins_without_quota,
      "so much of the periods cut short leave spinning", AT_HOLDS_NOT },
    { "blas-cost", 0.84, 0.86, blas_costs_less, "so much of computing costs as much as a slow BLAS",
      AT_HOLDS },
    { "compute-most", 0.595, 0.605, blas_computes, "so much of the step computes with a slow BLAS",
      AT_HOLDS_NOT },
    { NULL, 1.51, 1.49, blas_uses_few_cpus, "so many CPUs are few for two threads", AT_HOLDS_NOT },
    { "numa-remote", 0.295, 0.305, is_remote, "so much of the memory is remote" },
    { "compute-most", 0.595, 0.605, is_remote_and_computes,
      "so much of the step uses remote memory", AT_HOLDS_NOT },
    { "numa-cost", 0.305, 0.295, is_remote_at_a_cost, "so much of remote memory is its cost" },
};
const struct limit_rows limits_cpus = { rows, ARRAY_SIZE(rows) };
