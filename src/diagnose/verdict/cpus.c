/* What keeps the job's threads from CPUs, and what keeps them from using these well. */
#include <stdio.h>
#include <string.h>

#include "diagnose/verdict/judge_private.h"

/* How much of the step is work of CPUs: all of it where there are no GPUs. */
static double cpu_part(const struct judge *j)
{
    return j->has_gpus ? fmin(1, j->wait + j->v->share[BRIM_STAGE_OTHER]) : 1;
}

/* The share of the step that waiting for CPUs costs: a job that sleeps most of the time loses
 * little. */
static double starving(const struct judge *j)
{
    double threads = judge_mean(j, RUN_JOB_CPU) + judge_mean(j, RUN_JOB_RUN_WAIT);

    return j->starved * fmin(1, threads / (double)j->n_ranks) * cpu_part(j);
}

static void tell_starved(struct judge *j, struct verdict_item *to)
{
    if (j->starved >= j->l.cpu_starved)
        judge_agrees(j, to, "its threads wait for a CPU %s of the time in which they could run",
                     quantity_share(j->starved).text);
}

static void judge_quota(struct judge *j)
{
    double throttled = judge_mean(j, RUN_JOB_THROTTLED);
    double limit = judge_mean(j, RUN_JOB_CPU_LIMIT);
    struct verdict_item *to;

    if (!(throttled >= j->l.cpu_throttled))
        return;
    to = judge_add(j, CAUSE_CPU_QUOTA, -1,
                   (j->starved >= 0 ? fmax(j->starved, throttled / 2) : throttled / 2) *
                       cpu_part(j));
    judge_says(j, to, "the CPU quota of its cgroup stops it");
    judge_agrees(j, to, "%s of the cgroup's periods are cut short", quantity_share(throttled).text);
    if (limit > 0)
        judge_agrees(j, to, "the limit is %.1f CPUs, %.1f are used", limit,
                     judge_mean(j, RUN_JOB_CPU));
    tell_starved(j, to);
    judge_advises(j, to, "raise cpu.max, or ask Slurm for more: --cpus-per-task");
}

static void judge_neighbours(struct judge *j)
{
    double others = judge_mean(j, RUN_OTHER_CPU), steal = judge_mean(j, RUN_CPU_STEAL);
    double cpus = judge_mean(j, RUN_CPUS);
    struct verdict_item *to;

    if (!(others >= j->l.others_cpu * cpus) || !(j->starved >= j->l.cpu_starved) ||
        !(starving(j) >= j->l.wait_warning))
        return;
    to = judge_add(j, CAUSE_CPU_NEIGHBOURS, -1, starving(j));
    judge_says(j, to, "other processes use its CPUs: %.1f of %.0f", others, cpus);
    judge_agrees(j, to, "other processes use %.1f CPUs", others);
    tell_starved(j, to);
    if (judge_mean(j, RUN_CPU_PRESSURE) >= j->l.cpu_starved)
        judge_agrees(j, to, "CPU pressure %s",
                     quantity_share(judge_mean(j, RUN_CPU_PRESSURE)).text);
    if (steal > 0)
        judge_tells(j, to, "%s stolen by the hypervisor", quantity_share(steal).text);
    judge_advises(j, to,
                  "see which: brim top --sort cpu; give the job CPUs of its own: taskset, "
                  "cpuset, --exclusive");
}

/* CPUs that the hypervisor gives to other machines: what runs on them stands still, and looks as if
 * it computed or slept for longer. */
static void judge_stolen(struct judge *j)
{
    double steal = judge_mean(j, RUN_CPU_STEAL), busy = judge_mean(j, RUN_CPU_BUSY);
    struct verdict_item *to;

    if (!(steal >= j->l.cpu_stolen) || judge_find(j, CAUSE_CPU_NEIGHBOURS))
        return;
    to = judge_add(j, CAUSE_CPU_NEIGHBOURS, -1, cpu_part(j) * steal / (busy + steal));
    judge_says(j, to, "the hypervisor gives its CPUs to other machines");
    judge_agrees(j, to, "%s of the CPUs' time is stolen, %s is used", quantity_share(steal).text,
                 quantity_share(busy).text);
    judge_advises(j, to, "ask for a machine whose CPUs are its own, or for another host");
}

/* The share of the step that a binding to so many CPUs costs: threads wait for them; or the only
 * rank computes on all of them, and has threads for more. */
static double bound_cost(const struct judge *j, double bound, double cpus)
{
    double waits = j->starved >= j->l.cpu_starved ? starving(j) : 0;

    if (j->n_ranks > 1 || j->has_gpus || !(j->threads > bound) ||
        !(judge_mean(j, RUN_RANK_CPU) >= 0.9 * bound) || !(j->compute >= j->l.compute_most))
        return waits;
    return fmax(waits, j->compute * (1 - bound / fmin(cpus, j->threads)));
}

/* Ranks are bound to few CPUs while others are idle. A rank that others wait for may have a
 * neighbour on its CPU: the cause is a slow rank then. */
static void judge_binding(struct judge *j)
{
    double bound = judge_number(j, "process", "cpus"), cpus = judge_mean(j, RUN_CPUS), cost;
    struct verdict_item *to;

    if (!(bound < cpus) || !(judge_mean(j, RUN_CPU_BUSY) < j->l.cpus_free) ||
        judge_mean(j, RUN_OTHER_CPU) >= j->l.others_cpu * cpus ||
        judge_mean(j, RUN_JOB_THROTTLED) >= j->l.cpu_throttled || judge_find(j, CAUSE_SLOW_RANK))
        return;
    cost = bound_cost(j, bound, cpus);
    if (!(cost >= j->l.wait_warning))
        return;
    to = judge_add(j, CAUSE_CPU_BINDING, -1, cost);
    judge_says(j, to, "it is bound to too few CPUs, while others are idle");
    if (j->n_ranks > 1 && !(j->threads > bound))
        judge_agrees(j, to, "each of %zu ranks may use %.0f of %.0f CPUs, and shares them",
                     j->n_ranks, bound, cpus);
    else if (j->n_ranks > 1)
        judge_agrees(j, to, "each of %zu ranks may use %.0f of %.0f CPUs, and has %.0f threads",
                     j->n_ranks, bound, cpus, j->threads);
    else
        judge_agrees(j, to, "it may use %.0f of %.0f CPUs, and has %.0f threads", bound, cpus,
                     j->threads);
    judge_agrees(j, to, "%s of the CPUs are busy",
                 quantity_share(judge_mean(j, RUN_CPU_BUSY)).text);
    tell_starved(j, to);
    judge_advises(j, to,
                  "see which: taskset -cp PID; give ranks CPUs of their own: --cpu-bind=cores "
                  "(srun), cpuset, numactl");
}

/* What workers that are too many cost: a rank that waits for a CPU, not one that waits for what
 * they decode, which fewer of them would not do sooner. */
static double crowding(const struct judge *j)
{
    double waits = judge_mean(j, RUN_RANK_THREAD_WAIT);

    return isnan(waits) ? starving(j) : fmin(starving(j), waits * cpu_part(j));
}

/* Whether the work of workers and ranks fills the CPUs, so that fewer workers could give back less
 * than half of what waiting for CPUs costs. What other threads of a rank do may be spinning. */
static bool is_full_of_work(const struct judge *j)
{
    double works = judge_mean(j, RUN_WORKER_CPU) * judge_mean(j, RUN_WORKERS) +
                   judge_mean(j, RUN_RANK_THREAD_CPU) * (double)j->n_ranks;

    return 1 - works / j->cpus < crowding(j) / 2;
}

/* More workers than CPUs, which wait for each other: not those that sleep most of the time, and not
 * where data is waited for more than CPUs are. Of the workers in the job's notes, only as many
 * count as there are processes. */
static void judge_many_workers(struct judge *j)
{
    const struct loader_need need = judge_loader_need(j);
    double workers = fmin(j->workers * (double)j->n_ranks, judge_mean(j, RUN_WORKERS));
    double fewer = loader_fewer(&need);
    struct verdict_item *to;

    if (!(workers > j->cpus) || !(fewer < need.workers) ||
        judge_mean(j, RUN_WORKER_CPU) * workers < j->l.workers_busy * j->cpus ||
        judge_mean(j, RUN_JOB_RUN_WAIT) < (workers - j->cpus) * j->l.workers_waiting ||
        !(j->starved >= j->l.cpu_starved) || !(crowding(j) >= j->l.wait_warning) ||
        judge_mean(j, RUN_RANK_THREAD_WAIT) < j->wait || is_full_of_work(j) ||
        judge_mean(j, RUN_OTHER_CPU) >= j->l.others_cpu * j->cpus)
        return;
    to = judge_add(j, CAUSE_MANY_WORKERS, -1, crowding(j));
    judge_says(j, to, "more loader workers than CPUs: %.0f on %.0f", workers, j->cpus);
    judge_agrees(j, to, "%.0f workers, %.0f CPUs", workers, j->cpus);
    tell_starved(j, to);
    judge_advises(j, to, "num_workers=%.0f", fewer);
}

double judge_taken(const struct judge *j)
{
    double waits = judge_mean(j, RUN_RANK_THREAD_WAIT), cpus = j->l.others_cpu * j->cpus;
    double taken = judge_mean(j, RUN_WORKER_CPU) * judge_mean(j, RUN_WORKERS);

    if (!(waits >= j->l.cpu_starved) || !(taken >= cpus) || judge_mean(j, RUN_OTHER_CPU) >= cpus ||
        judge_mean(j, RUN_JOB_THROTTLED) >= j->l.cpu_throttled ||
        j->threads * (double)j->n_ranks >= j->l.threads_many * j->cpus)
        return 0;
    return waits * cpu_part(j);
}

void judge_tells_taken(struct judge *j, struct verdict_item *to)
{
    judge_agrees(j, to, "a rank's first thread waits for a CPU %s of the time",
                 quantity_share(judge_mean(j, RUN_RANK_THREAD_WAIT)).text);
    judge_agrees(j, to, "%.0f workers use %.2f CPUs each", judge_mean(j, RUN_WORKERS),
                 judge_mean(j, RUN_WORKER_CPU));
}

/* Data are there in time, but decoding takes the CPUs on which the ranks compute. */
static void judge_taking_workers(struct judge *j)
{
    double taken = judge_mean(j, RUN_WORKER_CPU) * judge_mean(j, RUN_WORKERS);
    double share = judge_taken(j);
    struct verdict_item *to;

    if (!(share > 0) || j->wait >= j->l.wait_warning || judge_find(j, CAUSE_MANY_WORKERS))
        return;
    to = judge_add(j, CAUSE_LOADER_CPU, -1, share);
    judge_says(j, to, "the loader's workers take CPUs from the training: %.1f of %.0f", taken,
               j->cpus);
    judge_tells_taken(j, to);
    tell_starved(j, to);
    judge_advises(j, to, "decode less, or leave workers a CPU: OMP_NUM_THREADS=%.0f",
                  fmax(1, floor(j->cpus / (double)j->n_ranks) - 1));
}

void judge_cpus(struct judge *j)
{
    judge_quota(j);
    judge_neighbours(j);
    judge_stolen(j);
    judge_binding(j);
    judge_many_workers(j);
    judge_taking_workers(j);
}

/* ---- threads, BLAS, NUMA ---- */

static void judge_many_threads(struct judge *j)
{
    double threads = j->threads * (double)j->n_ranks;
    struct verdict_item *to;

    if (!(threads >= j->l.threads_many * j->cpus) || !(j->starved >= j->l.cpu_starved) ||
        !(starving(j) >= j->l.wait_warning) ||
        judge_mean(j, RUN_OTHER_CPU) >= j->l.others_cpu * j->cpus || j->workers > j->cpus)
        return;
    to = judge_add(j, CAUSE_CPU_THREADS, -1, starving(j));
    judge_says(j, to, "more threads compute than there are CPUs: %.0f on %.0f", threads, j->cpus);
    judge_agrees(j, to, "%.0f ranks with %.0f threads each, %.0f CPUs", (double)j->n_ranks,
                 j->threads, j->cpus);
    tell_starved(j, to);
    judge_advises(j, to, "OMP_NUM_THREADS=%.0f", fmax(1, floor(j->cpus / (double)j->n_ranks)));
}

/* Threads of one pool wait for work by spinning, on the CPU that a thread of another pool needs:
 * OpenMP's, and those of a BLAS that has its own. There are not more of either than CPUs, no other
 * process uses these, and still a thread waits for a CPU always. */
static void judge_spinning(struct judge *j)
{
    const char *policy = judge_environment(j->r, "env.OMP_WAIT_POLICY");
    double threads = j->threads * (double)j->n_ranks;
    double loading = judge_mean(j, RUN_WORKERS) * judge_mean(j, RUN_WORKER_CPU);
    struct verdict_item *to;

    if (!(j->threads >= 2) || threads > j->cpus || !(j->starved >= j->l.cpu_starved) ||
        !(starving(j) >= j->l.wait_warning) || !(j->compute >= j->l.compute_most) ||
        judge_mean(j, RUN_OTHER_CPU) >= j->l.others_cpu * j->cpus ||
        loading >= j->l.others_cpu * j->cpus ||
        judge_mean(j, RUN_JOB_THROTTLED) >= j->l.cpu_throttled ||
        (policy && !strcasecmp(policy, "passive")))
        return;
    to = judge_add(j, CAUSE_CPU_SPINNING, -1, starving(j));
    judge_says(j, to,
               "its threads take CPUs from each other by waiting actively: OpenMP's spin while "
               "those of the BLAS work");
    judge_agrees(j, to, "%.0f ranks with %.0f threads each, %.0f CPUs, which nobody else uses",
                 (double)j->n_ranks, j->threads, j->cpus);
    tell_starved(j, to);
    judge_advises(j, to, "OMP_WAIT_POLICY=passive");
}

/* What a second thread takes over of calls that are as short as those of a short step is less than
 * what sharing them out costs. */
static void judge_few_threads(struct judge *j)
{
    double share = j->threads * (double)j->n_ranks / j->cpus;
    double cost = j->compute * (1 - share) * (1 - j->l.short_step / j->v->step_s);
    const char *smt = judge_environment(j->r, "cpus.smt");
    /* half of the CPUs is all cores where two CPUs share one */
    bool few = smt && *smt == '0' ? share <= j->l.threads_few : share < j->l.threads_few;
    /* a BLAS may have threads of its own, which no note counts */
    double used = judge_mean(j, RUN_RANK_CPU) * (double)j->n_ranks / j->cpus;
    struct verdict_item *to;

    if (j->has_gpus || !few || used > j->l.threads_few + 0.1 ||
        !(j->compute >= j->l.compute_most) || !(judge_mean(j, RUN_CPU_BUSY) < j->l.cpus_free) ||
        !(j->v->step_s >= j->l.short_step))
        return;
    to = judge_add(j, CAUSE_CPU_THREADS, -1, cost);
    judge_says(j, to, "it computes on %.0f of %.0f CPUs", j->threads * (double)j->n_ranks, j->cpus);
    judge_agrees(j, to, "%.0f threads per rank", j->threads);
    judge_agrees(j, to, "%s of the CPUs are busy",
                 quantity_share(judge_mean(j, RUN_CPU_BUSY)).text);
    judge_agrees(j, to, "computes %s of the step", quantity_share(j->compute).text);
    judge_advises(j, to, "OMP_NUM_THREADS=%.0f", floor(j->cpus / (double)j->n_ranks));
}

/* Whether a BLAS of this name has no optimised kernels. */
static bool is_slow_blas(const char *name)
{
    static const char *const slow[] = { "generic", "reference", "ref", "netlib", "none", "eigen" };

    for (size_t i = 0; name && i < ARRAY_SIZE(slow); i++)
        if (!strcasecmp(name, slow[i]))
            return true;
    return false;
}

/* What 'brim bench compute' measured with this BLAS on this machine. */
static void tell_measured(struct judge *j, struct verdict_item *to, const char *name)
{
    char note[64];
    const char *measured;

    snprintf(note, sizeof(note), "bench.blas.%s", name);
    measured = judge_environment(j->r, note);
    if (measured)
        judge_tells(j, to, "its products of matrices reach %s of a core ('brim bench compute')",
                    measured);
}

static void judge_blas(struct judge *j)
{
    const char *name = run_note(j->ranks[0].r, "blas");
    struct verdict_item *to;

    if (!name)
        name = judge_setting(j, j->ranks[0].r, "process", "blas");
    if (j->has_gpus || !is_slow_blas(name) || !(j->compute >= j->l.compute_most))
        return;
    to = judge_add(j, CAUSE_BLAS, -1, j->compute * j->l.blas_cost);
    judge_says(j, to, "it computes with a BLAS that has no optimised kernels (%s)", name);
    judge_agrees(j, to, "BLAS: %s; computes %s of the step", name, quantity_share(j->compute).text);
    if (j->threads >= 2 && judge_mean(j, RUN_RANK_CPU) < 1.5)
        judge_agrees(j, to, "%.0f threads are set, %.1f CPUs are used", j->threads,
                     judge_mean(j, RUN_RANK_CPU));
    tell_measured(j, to, name);
    judge_advises(j, to,
                  "install OpenBLAS or MKL; on Debian: update-alternatives --config "
                  "libblas.so.3-x86_64-linux-gnu");
}

static void judge_numa(struct judge *j)
{
    double remote = judge_number(j, "numa", "remote");
    struct verdict_item *to;

    if (!(remote >= j->l.numa_remote) || !(j->compute + j->wait >= j->l.compute_most))
        return;
    to = judge_add(j, CAUSE_NUMA, -1, remote * j->l.numa_cost);
    judge_says(j, to, "%s of its memory is on another NUMA node than its CPUs",
               quantity_share(remote).text);
    judge_agrees(j, to, "remote memory %s", quantity_share(remote).text);
    judge_agrees(j, to, "computes %s of the step", quantity_share(j->compute).text);
    judge_advises(j, to, "numactl --cpunodebind=N --membind=N for each rank");
}

void judge_numerics(struct judge *j)
{
    judge_many_threads(j);
    judge_spinning(j);
    judge_few_threads(j);
    judge_blas(j);
    judge_numa(j);
}
