/* Memory of the node and of a job's cgroup. */
#include "all.h"
#include "rows.h"

static bool is_pressed(double x)
{
    struct made m = limits_plain();

    m.s[RUN_MEMORY_PRESSURE] = x;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool waits_for_memory(double x)
{
    struct made m = limits_group();

    m.s[RUN_JOB_MEMORY_WAIT] = 2 * x;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool swaps(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_SWAP] = x;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static struct made faulting(double faults, double available)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_JOB_MAJOR_FAULTS] = faults;
    m.s[RUN_MEMORY_AVAILABLE] = available * m.s[RUN_MEMORY_TOTAL];
    return m;
}

static bool faults(double x)
{
    struct made m = faulting(x, 0.03);

    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool faults_in_little(double x)
{
    struct made m = faulting(200, x);

    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool tells_pressure(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_SWAP] = 5e6;
    m.s[RUN_MEMORY_PRESSURE] = x;
    return limits_says(&m, "memory pressure");
}

static bool tells_waits(double x)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_SWAP] = 5e6;
    m.s[RUN_JOB_MEMORY_WAIT] = x;
    return limits_says(&m, "wait for memory");
}

static bool tells_swap(double x)
{
    struct made m = limits_plain();

    m.s[RUN_MEMORY_PRESSURE] = 0.5;
    m.s[RUN_SWAP] = x;
    return limits_says(&m, "swapped");
}

static bool tells_faults(double x)
{
    struct made m = limits_plain();

    m.s[RUN_MEMORY_PRESSURE] = 0.5;
    m.s[RUN_JOB_MAJOR_FAULTS] = x;
    return limits_says(&m, "major faults");
}

static bool tells_available(double x)
{
    struct made m = faulting(0, x);

    m.s[RUN_MEMORY_PRESSURE] = 0.5;
    return limits_says(&m, "of the memory is available");
}

/* Files that its cgroup has no room for are read again. */
static struct made again(void)
{
    struct made m = limits_reading();

    m.s[RUN_REFAULTS] = 45e6;
    m.s[RUN_JOB_MEMORY_LIMIT] = 8e9;
    m.s[RUN_JOB_MEMORY] = 7.99e9;
    return m;
}

static bool is_full(double x)
{
    struct made m = again();

    m.s[RUN_JOB_MEMORY] = x * 8e9;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool reads_again(double x)
{
    struct made m = again();

    m.s[RUN_REFAULTS] = x * 50e6;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool reads_much_again(double x)
{
    struct made m = again();

    m.s[RUN_REFAULTS] = x;
    m.s[RUN_DISK_READ] = m.s[RUN_JOB_READ] = m.s[RUN_JOB_IO_READ] = 1.2e6;
    m.s[RUN_DISK_REQUESTS] = m.s[RUN_JOB_READ_CALLS] = 12;
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

static bool reads_again_and_waits(double x)
{
    struct made m = again();

    limits_stage(&m, BRIM_STAGE_WAIT, x);
    return limits_finds(&m, CAUSE_MEMORY_PRESSURE);
}

/* It read so many times what the node has room for, before it began again. */
static bool would_fit(double x)
{
    struct made m = again();
    struct run r;

    made_build(&m, &r);
    for (size_t i = 0; i < 3; i++)
        r.moments[i].values[RUN_REFAULTS] = 0;
    r.moments[1].values[RUN_JOB_READ] = x * m.s[RUN_MEMORY_AVAILABLE] / r.moments[1].seconds;
    return limits_judge(&r, NULL).causes >> CAUSE_MEMORY_PRESSURE & 1;
}

static const struct limit_row rows[] = {
    { "memory-pressure", 0.099, 0.101, is_pressed, "so much of pressure is too little memory",
      AT_HOLDS },
    { "memory-pressure", 0.099, 0.101, waits_for_memory,
      "so much of a rank's time waits for too little memory", AT_HOLDS },
    { "swapping", 0.99e6, 1.01e6, swaps, "so many bytes swapped a second are full memory",
      AT_HOLDS },
    { "major-faults", 99, 101, faults, "so many major faults a second are full memory", AT_HOLDS },
    { "memory-low", 0.0505, 0.0495, faults_in_little, "so much of the memory available is little",
      AT_HOLDS_NOT },
    { "memory-pressure", 0.099, 0.101, tells_pressure, "so much of pressure is told", AT_HOLDS },
    { "memory-pressure", 0.099, 0.101, tells_waits, "so much of the waits for memory is told",
      AT_HOLDS },
    { "swapping", 0.99e6, 1.01e6, tells_swap, "so many bytes swapped a second are told", AT_HOLDS },
    { "major-faults", 99, 101, tells_faults, "so many major faults a second are told", AT_HOLDS },
    { "memory-low", 0.101, 0.099, tells_available, "so much of the memory available is told",
      AT_HOLDS_NOT },
    { "memory-full", 0.945, 0.955, is_full, "so much of the limit is full", AT_HOLDS },
    { "read-again", 0.495, 0.505, reads_again, "so much of what disks read had been in memory",
      AT_HOLDS },
    { "bytes-some", 0.99e6, 1.01e6, reads_much_again, "so many bytes a second are read again",
      AT_HOLDS },
    { "wait-warning", 0.099, 0.101, reads_again_and_waits, "so much of the step waits for them",
      AT_HOLDS },
    { NULL, 1.02, 0.98, would_fit, "so much of the node's memory holds what it works on" },
};
const struct limit_rows limits_memory = { rows, ARRAY_SIZE(rows) };
