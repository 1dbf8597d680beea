/* Why data is waited for: the loader. */
#include "all.h"
#include "rows.h"

static bool hands_over(double x)
{
    struct made m = limits_waiting(0.25);

    m.step_s = x / 0.25;
    m.s[RUN_RANK_CPU] = 0.5; /* calls of operators do not cost most of such a short step */
    m.s[RUN_RANK_THREAD_CPU] = 0.7;
    return limits_says(&m, "to hand a batch over");
}

/* Of several tensors each takes its time, as long as that is little of the step. */
static bool hands_tensors_over(double x)
{
    struct made m = limits_waiting(0.15);

    m.step_s = x / 0.15;
    return limits_says(&m, "to hand a batch over");
}

static bool hands_a_small_share_over(double x)
{
    struct made m = limits_waiting(x);

    m.step_s = 0.0075;
    return limits_says(&m, "to hand a batch over");
}

static struct made working(double on_cpu, double busy)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_WORKER_CPU] = on_cpu;
    m.s[RUN_CPU_BUSY] = busy;
    return m;
}

static bool decodes(double x)
{
    struct made m = working(x, 0.5);

    return limits_finds(&m, CAUSE_LOADER_CPU);
}

static bool has_few_workers(double x)
{
    struct made m = working(x, 0.5);

    return limits_is_first(&m, CAUSE_FEW_WORKERS);
}

static bool has_sleeping_workers(double x)
{
    struct made m = working(x, 0.5);

    return limits_finds(&m, CAUSE_LOADER_WAITS);
}

static bool decodes_on_full_cpus(double x)
{
    struct made m = working(0.5, x);

    return limits_finds(&m, CAUSE_LOADER_CPU);
}

static bool would_decode_in_parallel(double x)
{
    struct made m = working(0.9, x);

    return limits_finds(&m, CAUSE_FEW_WORKERS);
}

static bool takes_four_workers_more(double x)
{
    struct made m = limits_waiting(x);

    return limits_says(&m, "num_workers=6 ");
}

/* Without workers the rank's own thread loads, while it does not compute. */
static struct made alone(double thread)
{
    struct made m = limits_waiting(0.4);

    m.notes[1][1] = "0";
    m.s[RUN_WORKERS] = 0;
    m.s[RUN_WORKER_CPU] = m.s[RUN_WORKER_IO_WAIT] = (double)NAN;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU];
    m.s[RUN_RANK_THREAD_CPU] = thread;
    return m;
}

static bool decodes_alone(double x)
{
    struct made m = alone(0.6 + x * 0.4);

    return limits_finds(&m, CAUSE_LOADER_CPU);
}

static bool sleeps_alone(double x)
{
    struct made m = alone(0.6 + x * 0.4);

    return limits_finds(&m, CAUSE_LOADER_WAITS);
}

/* What its threads use is known of all together only: between one and two of them compute. */
static bool guesses(double x)
{
    struct made m = alone((double)NAN);

    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = x;
    return limits_says(&m, "loads and computes");
}

static bool disks_are_idle(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_DISK_BUSY] = x;
    return limits_says(&m, "disks are");
}

static bool disks_are_not_waited_for(double x)
{
    struct made m = working(0.9, 0.5);

    m.s[RUN_JOB_IO_WAIT] = x * 0.3;
    return limits_says(&m, "disks are not waited for");
}

static bool sleeps_uninterruptibly(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_JOB_BLOCKED] = x * 0.3;
    return limits_says(&m, "sleep uninterruptibly");
}

static bool receives(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_NET_RECEIVED] = x;
    return limits_says(&m, "come in by network");
}

static const struct limit_row rows[] = {
    { "handing-over", 0.00102, 0.00098, hands_over,
      "so many seconds for a batch are its handing over", AT_HOLDS_NOT },
    { "handing-over", 0.00204, 0.00196, hands_tensors_over,
      "so many seconds for several tensors are their handing over", AT_HOLDS_NOT },
    { "wait-critical", 0.202, 0.198, hands_a_small_share_over,
      "such a share is handing over at twice its time", AT_HOLDS },
    { "loader-on-cpu", 0.595, 0.605, decodes, "so much of a worker's time on a CPU is decoding",
      AT_HOLDS },
    { "loader-on-cpu", 0.59, 0.61, decodes_alone, "so much of the waiting on a CPU is decoding" },
    { "loader-asleep", 0.395, 0.405, has_few_workers,
      "so much of a worker's time on a CPU is that of too few workers", AT_HOLDS_NOT },
    { "loader-asleep", 0.405, 0.395, has_sleeping_workers,
      "so much of a worker's time on a CPU is little", AT_HOLDS },
    { "loader-asleep", 0.41, 0.39, sleeps_alone, "so much of the waiting on a CPU is little" },
    { NULL, 0.83, 0.85, guesses, "so many CPUs of a rank leave open what its thread does",
      AT_HOLDS },
    { "cpus-free", 0.695, 0.705, decodes_on_full_cpus,
      "so much of the CPUs busy leave no room for workers that wait in turn", AT_HOLDS },
    { "cpus-free", 0.705, 0.695, would_decode_in_parallel,
      "so much of the CPUs busy leave room for more workers", AT_HOLDS_NOT },
    { "fetch-margin", 0.538, 0.542, takes_four_workers_more,
      "so much of the step waited for needs six workers where two are", AT_HOLDS_NOT },
    { "disk-idle", 0.605, 0.595, disks_are_idle, "so much of the disk busy is little",
      AT_HOLDS_NOT },
    { "io-waiting", 0.305, 0.295, disks_are_not_waited_for,
      "so much of the waiting in disks is little", AT_HOLDS_NOT },
    { "io-waiting", 0.295, 0.305, sleeps_uninterruptibly,
      "so much of the waiting in sleep of the kernel is told", AT_HOLDS },
    { "bytes-some", 0.99e6, 1.01e6, receives, "so many bytes a second by network are told",
      AT_HOLDS },
};
const struct limit_rows limits_loader = { rows, ARRAY_SIZE(rows) };
