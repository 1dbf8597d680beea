/* Copies, clocks, launches and the memory of devices. */
#include "all.h"
#include "rows.h"

/* ---- copies ---- */

static struct made copying(double share, double load, double width)
{
    struct made m = limits_gpu();

    limits_stage(&m, BRIM_STAGE_COPY, share);
    made_note(&m, "loader.pin", "no");
    m.s[RUN_GPU_PCIE] = load;
    m.s[RUN_GPU_PCIE_WIDTH] = width;
    return m;
}

static bool copies(double x)
{
    struct made m = copying(x, 0.1, 1);

    return limits_finds(&m, CAUSE_PAGEABLE_COPY);
}

static bool fills_the_link(double x)
{
    struct made m = copying(0.3, x, 1);

    return limits_finds(&m, CAUSE_PCIE);
}

static bool has_a_narrow_link(double x)
{
    struct made m = copying(0.3, 0.1, x);

    return limits_finds(&m, CAUSE_PCIE);
}

/* ---- clocks ---- */

static bool is_hot(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_THROTTLED] = x;
    return limits_finds(&m, CAUSE_THERMAL);
}

static bool is_hot_and_slow(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_THROTTLED] = 0.5;
    m.s[RUN_GPU_CLOCK] = x;
    return limits_says(&m, "clocks at");
}

static bool is_capped(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_CAPPED] = x;
    m.s[RUN_GPU_CLOCK] = 0.6;
    return limits_finds(&m, CAUSE_POWER_CAP);
}

static bool is_capped_and_slow(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_CAPPED] = 0.9;
    m.s[RUN_GPU_CLOCK] = x;
    return limits_finds(&m, CAUSE_POWER_CAP);
}

/* ---- launches ---- */

static bool works_on_few(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_SM_ACTIVE] = x;
    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool is_idle_between(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_BUSY] = x;
    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool computes_between(double x)
{
    struct made m = limits_gpu();

    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    m.s[RUN_GPU_SM_ACTIVE] = 0.1;
    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool calls_on_a_cpu(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_SM_ACTIVE] = 0.1;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = m.s[RUN_RANK_THREAD_CPU] = x;
    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

/* Steps on CPUs that are short. */
static struct made short_steps(double step_s, double cpus)
{
    struct made m = limits_plain();

    m.step_s = step_s;
    m.steps = 1002;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = cpus;
    m.s[RUN_RANK_THREAD_CPU] = cpus < 0.98 ? cpus : 0.98;
    return m;
}

static bool is_short(double x)
{
    struct made m = short_steps(x, 1.2);

    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool is_short_on_one(double x)
{
    struct made m = short_steps(0.004, x);

    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool is_tiny(double x)
{
    struct made m = short_steps(x, 1.9);

    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

static bool is_tiny_and_busy(double x)
{
    struct made m = short_steps(0.002, x);

    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

/* In a tiny step the loader's call is one of those that cost, unless it takes longer than all. */
static bool is_tiny_and_loads(double x)
{
    struct made m = short_steps(0.002, 1);

    limits_stage(&m, BRIM_STAGE_WAIT, x);
    limits_stage(&m, BRIM_STAGE_COPY, 0.1);
    return limits_finds(&m, CAUSE_SMALL_BATCH);
}

/* Half of computing is what calls cost: it explains a loader that costs less. */
static bool launches_cost_less(double x)
{
    double wait = 0.98 * x / (1 + x);
    struct made m = limits_waiting(wait);

    m.step_s = 0.004;
    m.s[RUN_RANK_CPU] = 1;
    m.s[RUN_RANK_THREAD_CPU] = 0.98;
    m.s[RUN_WORKER_CPU] = 0.95;
    return limits_finds(&m, CAUSE_LOADER_CPU);
}

static bool launches_cost_a_gpu_less(double x)
{
    double wait = 0.98 * 0.8 * x / (1 + 0.8 * x);
    struct made m = limits_gpu();

    limits_stage(&m, BRIM_STAGE_WAIT, wait);
    made_note(&m, "loader.workers", "2");
    m.s[RUN_WORKERS] = 2;
    m.s[RUN_WORKER_CPU] = 0.95;
    m.s[RUN_GPU_SM_ACTIVE] = 0.2;
    return limits_finds(&m, CAUSE_LOADER_CPU);
}

/* ---- what a busy GPU tells ---- */

static bool loops_beside_a_gpu(double x)
{
    struct made m = limits_gpu();

    limits_stage(&m, BRIM_STAGE_OTHER, 0.3);
    m.s[RUN_GPU_BUSY] = x;
    return limits_finds(&m, CAUSE_LOOP);
}

static bool says_that_gpus_are_busy(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_BUSY] = x;
    return limits_says(&m, "GPUs are");
}

static bool says_that_ranks_are_busy(double x)
{
    struct made m = limits_plain();

    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = x;
    return limits_says(&m, "each rank uses");
}

static bool has_room(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_MEMORY] = x;
    return limits_finds(&m, CAUSE_MEMORY_UNUSED);
}

static bool has_room_and_computes(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_MEMORY] = 0.3;
    limits_stage(&m, BRIM_STAGE_COPY, 0.98 - x);
    return limits_finds(&m, CAUSE_MEMORY_UNUSED);
}

static const struct limit_row rows[] = {
    { "copy-warning", 0.099, 0.101, copies, "so much of the step copies", AT_HOLDS },
    { "pcie-load", 0.795, 0.805, fills_the_link, "so much of the link is full", AT_HOLDS },
    { "pcie-width", 0.995, 0.985, has_a_narrow_link, "so much of the link's rate is narrow",
      AT_HOLDS_NOT },
    { "gpu-throttled", 0.0495, 0.0505, is_hot, "so much of the time is throttled", AT_HOLDS },
    { "gpu-clock", 0.905, 0.895, is_hot_and_slow, "so much of the highest clock is slow",
      AT_HOLDS_NOT },
    { "gpu-capped", 0.495, 0.505, is_capped, "so much of the time is at the power limit",
      AT_HOLDS },
    { "gpu-clock-capped", 0.805, 0.795, is_capped_and_slow,
      "so much of the highest clock is slow at the power limit", AT_HOLDS_NOT },
    { "sm-active", 0.305, 0.295, works_on_few, "so much of the multiprocessors at work are few",
      AT_HOLDS_NOT },
    { "gpu-busy", 0.755, 0.745, is_idle_between, "so much of the time busy leaves launches",
      AT_HOLDS_NOT },
    { "compute-most", 0.595, 0.605, computes_between, "so much of the step launches",
      AT_HOLDS_NOT },
    { "launch-cpu", 0.895, 0.905, calls_on_a_cpu, "so much of a CPU launches", AT_HOLDS },
    { "short-step", 0.0051, 0.0049, is_short, "so many seconds of a step are short", AT_HOLDS_NOT },
    { NULL, 1.51, 1.49, is_short_on_one, "so many CPUs call in a short step", AT_HOLDS_NOT },
    { "launch-cpu", 0.895, 0.905, is_short_on_one, "so much of a CPU calls in a short step",
      AT_HOLDS },
    { "tiny-step", 0.00255, 0.00245, is_tiny, "so many seconds of a step are tiny on all CPUs",
      AT_HOLDS_NOT },
    { "launch-cpu", 0.79, 0.81, is_tiny_and_busy, "so much of a CPU calls in a tiny step",
      AT_HOLDS },
    { NULL, 0.445, 0.435, is_tiny_and_loads, "so much of a tiny step are the loader's call" },
    { "launch-cost", 0.49, 0.51, launches_cost_less, "so much of computing is more than calls cost",
      AT_HOLDS_NOT },
    { "launch-cost", 0.49, 0.51, launches_cost_a_gpu_less,
      "so much of a GPU's time is more than launches", AT_HOLDS },
    { "gpu-busy", 0.855, 0.845, loops_beside_a_gpu, "so much of the time busy leaves a loop",
      AT_HOLDS_NOT },
    { "gpu-busy", 0.845, 0.855, says_that_gpus_are_busy, "so much of the time busy is told",
      AT_HOLDS },
    { "launch-cpu", 0.895, 0.905, says_that_ranks_are_busy,
      "so much of a CPU used by ranks is told", AT_HOLDS },
    { "gpu-memory-unused", 0.505, 0.495, has_room, "so much of the memory used leaves room",
      AT_HOLDS_NOT },
    { "compute-most", 0.595, 0.605, has_room_and_computes, "so much of the step could use room",
      AT_HOLDS_NOT },
};
const struct limit_rows limits_devices = { rows, ARRAY_SIZE(rows) };
