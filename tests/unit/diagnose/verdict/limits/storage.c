/* Why data is waited for: storage. */
#include <string.h>

#include "all.h"
#include "rows.h"

/* Whether any kind of storage is named. */
static bool is_storage(struct made *m)
{
    struct run r;
    uint64_t causes;

    made_build(m, &r);
    causes = limits_judge(&r, NULL).causes;
    return (causes >> CAUSE_STORAGE_BANDWIDTH | causes >> CAUSE_STORAGE_LATENCY |
            causes >> CAUSE_SMALL_FILES | causes >> CAUSE_STORAGE_CONTENTION) &
           1;
}

/* ---- whether it is waited for ---- */

static bool waits_in_io(double x)
{
    struct made m = limits_reading();

    m.s[RUN_WORKER_IO_WAIT] = x;
    return is_storage(&m);
}

/* A rank without workers waits for files only while data is waited for. */
static bool waits_in_io_alone(double x)
{
    struct made m = limits_reading();

    m.notes[1][1] = "0";
    m.s[RUN_WORKERS] = 0;
    m.s[RUN_WORKER_CPU] = m.s[RUN_WORKER_IO_WAIT] = (double)NAN;
    m.s[RUN_JOB_IO_WAIT] = x * 0.3;
    return is_storage(&m);
}

/* Little is waited for by processes, but the kernel tells of pressure. */
static struct made pressed(double pressure, double busy)
{
    struct made m = limits_reading();

    m.s[RUN_WORKER_IO_WAIT] = 0.1;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 5e6;
    m.s[RUN_IO_PRESSURE] = pressure;
    m.s[RUN_DISK_BUSY] = busy;
    return m;
}

static bool is_under_pressure(double x)
{
    struct made m = pressed(x, 0.75);

    return is_storage(&m);
}

static bool is_busy_under_pressure(double x)
{
    struct made m = pressed(0.105, x);

    limits_stage(&m, BRIM_STAGE_WAIT, 0.4);
    m.s[RUN_RANK_THREAD_CPU] = 0.58;
    return is_storage(&m);
}

static bool is_held_back_under_pressure(double x)
{
    struct made m = pressed(x / 3, 0.1);

    limits_stage(&m, BRIM_STAGE_WAIT, 0.45);
    m.s[RUN_RANK_THREAD_CPU] = 0.53;
    return is_storage(&m);
}

static bool is_pressed_while_it_sleeps(double x)
{
    struct made m = pressed(0.2, 0.75);

    m.s[RUN_WORKER_CPU] = x;
    return is_storage(&m);
}

static bool tells_pressure(double x)
{
    struct made m = limits_reading();

    m.s[RUN_IO_PRESSURE] = x;
    return limits_says(&m, "I/O pressure");
}

static bool streams(double x)
{
    struct made m = pressed(0.08, 0.1);

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = x * 0.3;
    return is_storage(&m);
}

static bool streams_under_pressure(double x)
{
    struct made m = pressed(x, 0.1);

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 50e6;
    return is_storage(&m);
}

static bool streams_while_it_sleeps(double x)
{
    struct made m = pressed(0.08, 0.1);

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 50e6;
    m.s[RUN_WORKER_CPU] = x;
    return is_storage(&m);
}

/* ---- which kind ---- */

static bool contends(double x)
{
    struct made m = limits_reading();

    m.s[RUN_OTHER_READ] = 50e6 * x / (1 - x);
    m.s[RUN_OTHER_WRITE] = 0;
    return limits_finds(&m, CAUSE_STORAGE_CONTENTION);
}

static bool contends_on_a_busy_disk(double x)
{
    struct made m = limits_reading();

    m.s[RUN_OTHER_READ] = 50e6;
    m.s[RUN_DISK_BUSY] = x;
    return limits_finds(&m, CAUSE_STORAGE_CONTENTION);
}

static bool contends_for_bytes(double x)
{
    struct made m = limits_reading();

    m.s[RUN_JOB_READ] = m.s[RUN_OTHER_READ] = x / 2;
    m.s[RUN_OTHER_WRITE] = 0;
    return limits_finds(&m, CAUSE_STORAGE_CONTENTION);
}

static struct made slow_disk(double await, double queue, double request)
{
    struct made m = limits_reading();

    m.s[RUN_DISK_AWAIT] = await;
    m.s[RUN_DISK_QUEUE] = queue;
    m.s[RUN_DISK_REQUESTS] = m.s[RUN_DISK_READ] / request;
    return m;
}

static bool takes_long(double x)
{
    struct made m = slow_disk(x, 1, 100e3);

    return limits_finds(&m, CAUSE_STORAGE_LATENCY);
}

static bool takes_long_in_no_queue(double x)
{
    struct made m = slow_disk(0.02, x, 100e3);

    return limits_finds(&m, CAUSE_STORAGE_LATENCY);
}

static bool takes_long_for_little(double x)
{
    struct made m = slow_disk(0.02, 1, x);

    return limits_finds(&m, CAUSE_STORAGE_LATENCY);
}

static bool asks_for_little(double x)
{
    struct made m = slow_disk(0.002, 1, x);

    return limits_finds(&m, CAUSE_SMALL_FILES);
}

static struct made calling(double calls, double call, double request)
{
    struct made m = limits_reading();

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = calls * call;
    m.s[RUN_JOB_READ_CALLS] = calls;
    m.s[RUN_DISK_REQUESTS] = m.s[RUN_DISK_READ] / request;
    return m;
}

static bool reads_little(double x)
{
    struct made m = calling(2000, x, 100e3);

    return limits_finds(&m, CAUSE_SMALL_FILES);
}

static bool reads_little_often(double x)
{
    struct made m = calling(x, 8192, 100e3);

    return limits_finds(&m, CAUSE_SMALL_FILES);
}

static bool reads_little_of_little(double x)
{
    struct made m = calling(2000, 8192, x);

    return limits_finds(&m, CAUSE_SMALL_FILES);
}

/* Most of what disks read is for files that are mapped: calls say nothing of them. */
static bool reads_little_by_calls(double x)
{
    struct made m = calling(2000, 8192, 100e3);

    m.s[RUN_JOB_IO_READ] = x * m.s[RUN_JOB_READ];
    return limits_finds(&m, CAUSE_SMALL_FILES);
}

/* An idle disk, at a rate that changes by so much from moment to moment. */
static bool is_held(double variation, double rate, double busy, double request)
{
    struct made m = limits_reading();
    struct run r;

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = rate;
    m.s[RUN_JOB_READ_CALLS] = 10;
    m.s[RUN_DISK_REQUESTS] = rate / request;
    m.s[RUN_DISK_BUSY] = busy;
    made_build(&m, &r);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].values[RUN_JOB_READ] *= 1 + (i % 2 ? variation : -variation);
    return strstr(limits_judge(&r, NULL).text, "holds it down") != NULL;
}

static bool is_held_flat(double x)
{
    return is_held(x, 20e6, 0.1, 100e3);
}

static bool is_held_at_a_rate(double x)
{
    return is_held(0.05, x, 0.1, 100e3);
}

static bool is_held_while_idle(double x)
{
    return is_held(0.05, 20e6, x, 100e3);
}

static bool is_held_with_requests(double x)
{
    return is_held(0.05, 20e6, 0.1, x);
}

/* A disk that is full agrees with what is found: one measurement more. */
static bool is_surer_of_a_full_disk(double x)
{
    struct made m = limits_reading();
    struct run full, part;

    m.s[RUN_DISK_BUSY] = 0.65;
    made_build(&m, &part);
    m.s[RUN_DISK_BUSY] = x;
    made_build(&m, &full);
    return limits_judge(&full, NULL).first.confidence > limits_judge(&part, NULL).first.confidence;
}

/* ---- file systems of other machines ---- */

static struct made nfs(double operations, double queue_s, double round_trip_s)
{
    struct made m = limits_waiting(0.3);

    m.s[RUN_NFS_OPS] = operations;
    m.s[RUN_NFS_QUEUE] = queue_s;
    m.s[RUN_NFS_ROUND_TRIP] = round_trip_s;
    m.s[RUN_NFS_EXECUTE] = queue_s + round_trip_s;
    m.s[RUN_JOB_IO_READ] = 40e6;
    m.s[RUN_JOB_READ_CALLS] = 400;
    return m;
}

static bool executes_for_long(double x)
{
    struct made m = nfs(400, 0.4 * x, 0.6 * x);

    return is_storage(&m);
}

static bool travels_for_long(double x)
{
    struct made m = nfs(400, 0.001, x);

    return limits_finds(&m, CAUSE_STORAGE_LATENCY);
}

static bool does_not_queue(double x)
{
    struct made m = nfs(400, 0.05 * x, 0.05 * (1 - x));

    return limits_finds(&m, CAUSE_STORAGE_LATENCY);
}

static bool uses_nfs(double x)
{
    struct made m = nfs(x, 0.001, 0.03);

    return limits_says(&m, "NFS: ");
}

static bool waits_for_nfs(double x)
{
    struct made m = nfs(400, 0.001, 0.002);

    m.s[RUN_WORKER_IO_WAIT] = x;
    return is_storage(&m);
}

static bool reads_little_by_nfs(double x)
{
    struct made m = nfs(400, 0.001, 0.002);

    m.s[RUN_WORKER_IO_WAIT] = 0.8;
    m.s[RUN_JOB_IO_READ] = x * m.s[RUN_JOB_READ_CALLS];
    return limits_finds(&m, CAUSE_SMALL_FILES);
}

/* Neither a disk of this node nor NFS. */
static struct made remote(double disk_b, double calls, double waits)
{
    struct made m = limits_reading();

    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = disk_b;
    m.s[RUN_DISK_BUSY] = 0.05;
    m.s[RUN_JOB_READ_CALLS] = calls;
    m.s[RUN_WORKER_IO_WAIT] = waits;
    return m;
}

static bool is_remote(struct made *m)
{
    return limits_says(m, "on no disk of this node");
}

static bool reads_nothing_here(double x)
{
    struct made m = remote(x / 10, 100, 0.8);

    return is_remote(&m);
}

static bool calls_elsewhere(double x)
{
    struct made m = remote(0, x, 0.8);

    return is_remote(&m);
}

static bool waits_for_elsewhere(double x)
{
    struct made m = remote(0, 100, x);

    return is_remote(&m);
}

static bool leaves_disks_idle(double x)
{
    struct made m = remote(0, 100, 0.8);

    m.s[RUN_DISK_BUSY] = x;
    return is_remote(&m);
}

static bool reads_little_elsewhere(double x)
{
    struct made m = remote(0, 2000, 0.8);

    m.s[RUN_JOB_IO_READ] = x * m.s[RUN_JOB_READ_CALLS];
    return limits_finds(&m, CAUSE_SMALL_FILES);
}

static const struct limit_row rows[] = {
    { "io-waiting", 0.295, 0.305, waits_in_io,
      "so much of a worker's time in I/O is waiting for storage", AT_HOLDS },
    { "io-waiting", 0.295, 0.305, waits_in_io_alone,
      "so much of the waiting in I/O is waiting for storage", AT_HOLDS },
    { "io-pressure", 0.099, 0.101, is_under_pressure,
      "so much of pressure on a busy disk is storage", AT_HOLDS },
    { "disk-idle", 0.595, 0.605, is_busy_under_pressure, "so much of the disk busy is storage",
      AT_HOLDS },
    { NULL, 0.44, 0.46, is_held_back_under_pressure,
      "so many three times the pressure on an idle disk is storage" },
    { "loader-on-cpu", 0.605, 0.595, is_pressed_while_it_sleeps,
      "so much of a worker's time on a CPU leaves pressure to storage", AT_HOLDS_NOT },
    { "io-pressure", 0.099, 0.101, tells_pressure, "so much of pressure is told", AT_HOLDS },
    { "streaming", 0.99e8, 1.01e8, streams,
      "so many bytes a second while it waits come from storage", AT_HOLDS },
    { NULL, 0.074, 0.076, streams_under_pressure, "so much of pressure is enough beside many bytes",
      AT_HOLDS },
    { "loader-on-cpu", 0.605, 0.595, streams_while_it_sleeps,
      "so much of a worker's time on a CPU leaves many bytes to storage", AT_HOLDS_NOT },
    { "others-storage", 0.295, 0.305, contends, "so much of the bytes are moved for others",
      AT_HOLDS },
    { "disk-idle", 0.595, 0.605, contends_on_a_busy_disk,
      "so much of the disk busy is shared with others", AT_HOLDS },
    { "bytes-some", 0.99e6, 1.01e6, contends_for_bytes,
      "so many bytes a second are shared with others", AT_HOLDS },
    { "disk-await", 0.0099, 0.0101, takes_long, "so many seconds for a request are latency",
      AT_HOLDS },
    { "disk-queue", 4.05, 3.95, takes_long_in_no_queue, "so many requests waiting leave it latency",
      AT_HOLDS_NOT },
    { "request-large", 265000, 260000, takes_long_for_little,
      "so many bytes of a request are latency" },
    { "request-small", 66000, 65000, asks_for_little,
      "so many bytes of a request are small files" },
    { "call-small", 33000, 32500, reads_little, "so many bytes of a read are small files" },
    { "calls-many", 198, 202, reads_little_often, "so many reads a second are small files",
      AT_HOLDS },
    { "request-large", 265000, 260000, reads_little_of_little,
      "so many bytes of a request leave small reads to be small files" },
    { NULL, 0.49, 0.51, reads_little_by_calls, "so much of the bytes by calls are small files",
      AT_HOLDS },
    { "flat", 0.155, 0.145, is_held_flat, "so many deviation to mean of a rate is a limit" },
    { "bytes-some", 0.99e6, 1.01e6, is_held_at_a_rate, "so many bytes a second are a limit" },
    { "disk-idle", 0.605, 0.595, is_held_while_idle,
      "so much of the disk busy leaves a rate to a limit" },
    { "request-small", 65000, 66000, is_held_with_requests,
      "so many bytes of a request are no small files" },
    { "disk-busy", 0.895, 0.905, is_surer_of_a_full_disk, "so much of the disk busy agrees",
      AT_HOLDS },
    { "nfs-round-trip", 0.0099, 0.0101, executes_for_long,
      "so many seconds of an operation are storage", AT_HOLDS },
    { "nfs-round-trip", 0.0099, 0.0101, travels_for_long,
      "so many seconds of a round trip are latency", AT_HOLDS },
    { "nfs-queue", 0.505, 0.495, does_not_queue,
      "so much of an operation in the queue leaves latency", AT_HOLDS_NOT },
    { "nfs-operations", 9.9, 10.1, uses_nfs, "so many operations a second are NFS", AT_HOLDS },
    { "io-waiting", 0.295, 0.305, waits_for_nfs, "so much of a worker's time in I/O is NFS",
      AT_HOLDS },
    { "call-small", 33000, 32500, reads_little_by_nfs,
      "so many bytes of a read by NFS are small files" },
    { "bytes-some", 1.01e6, 0.99e6, reads_nothing_here,
      "so many tenth bytes a second leave disks out", AT_HOLDS_NOT },
    { "nfs-operations", 9.9, 10.1, calls_elsewhere, "so many reads a second are from elsewhere",
      AT_HOLDS },
    { "io-waiting", 0.295, 0.305, waits_for_elsewhere,
      "so much of a worker's time is for elsewhere", AT_HOLDS },
    { "disk-idle", 0.605, 0.595, leaves_disks_idle, "so much of the disk busy leaves elsewhere",
      AT_HOLDS_NOT },
    { "call-small", 33000, 32500, reads_little_elsewhere,
      "so many bytes of a read from elsewhere are small files" },
};
const struct limit_rows limits_storage = { rows, ARRAY_SIZE(rows) };
