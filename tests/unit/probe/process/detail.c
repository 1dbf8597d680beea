/* What is reported of one process: units, and counters that may go back. */
#include "probe/process/detail.h"

#include <math.h>

#include "tap.h"

static const struct process_units units = { .tick_s = 0.01, .page_bytes = 4096, .boot_s = 1000 };

/* Equal, or both absent. */
static void is_near(double got, double want, const char *what)
{
    ok(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fabs(want), "%s is %g: %g", what, want,
       got);
}

static void test_stat(void)
{
    const struct process_stat stat = {
        .state = 'D',
        .threads = 3,
        .user_ticks = 110,
        .system_ticks = 220,
        .waited_ticks = 70,
        .major_faults = 7,
        .start_ticks = 5000,
        .resident_pages = 25,
        .comm = "python3",
    };
    struct process_detail d;

    process_detail_clear(&d);
    is_near(d.values[PROCESS_CPU_USER], (double)NAN, "what is not known of a process");
    process_detail_stat(&d, &stat, &units);
    is_str(d.comm, "python3", "a process has its name");
    is_near(d.values[PROCESS_CPU_USER], 1.1, "time in user mode");
    is_near(d.values[PROCESS_CPU_SYSTEM], 2.2, "time in the kernel");
    is_near(d.values[PROCESS_CHILDREN], 0.7, "time of children");
    is_near(d.values[PROCESS_RESIDENT], 25 * 4096, "resident memory");
    is_near(d.values[PROCESS_THREADS], 3, "the number of threads");
    is_near(d.values[PROCESS_MAJOR_FAULTS], 7, "the number of major faults");
    is_near(d.values[PROCESS_START], 1050, "the start");
    is_near(d.values[PROCESS_BLOCKED], 1, "a process in state D");
}

static void test_io(void)
{
    const struct process_io io = {
        .read_bytes = 1, .written_bytes = 2, .disk_read_bytes = 3, .disk_written_bytes = (double)NAN
    };
    struct process_detail d;

    process_detail_clear(&d);
    process_detail_io(&d, &io);
    is_near(d.values[PROCESS_READ], 1, "bytes of reads");
    is_near(d.values[PROCESS_WRITTEN], 2, "bytes of writes");
    is_near(d.values[PROCESS_DISK_READ], 3, "bytes from disks");
    is_near(d.values[PROCESS_DISK_WRITTEN], (double)NAN, "bytes to disks that are not told");
}

static void test_waits(void)
{
    struct taskstats_usage u = {
        .run_wait_ns = 1500000000,
        .block_io_wait_ns = 2500000000,
        .swap_in_wait_ns = 1000000000,
        .reclaim_wait_ns = 200000000,
        .thrashing_wait_ns = 30000000,
        .compact_wait_ns = 4000000,
        .voluntary_switches = 11,
        .involuntary_switches = 12,
    };
    struct process_detail d;

    process_detail_clear(&d);
    process_detail_waits(&d, &u, DELAYS_ON);
    is_near(d.values[PROCESS_RUN_WAIT], 1.5, "the wait for a CPU");
    is_near(d.values[PROCESS_IO_WAIT], 2.5, "the wait for block devices");
    is_near(d.values[PROCESS_MEMORY_WAIT], 1.234, "the sum of all waits for memory");
    is_near(d.values[PROCESS_VOLUNTARY], 11, "the number of voluntary switches");
    is_near(d.values[PROCESS_INVOLUNTARY], 12, "the number of involuntary switches");
    u.run_wait_ns = 1000000000; /* a thread ended */
    process_detail_waits(&d, &u, DELAYS_ON);
    is_near(d.values[PROCESS_RUN_WAIT], 1.5, "a sum that went back");
    u.run_wait_ns = 1250000000;
    process_detail_waits(&d, &u, DELAYS_ON);
    is_near(d.values[PROCESS_RUN_WAIT], 1.75, "a sum that grew again");
    process_detail_waits(&d, &u, DELAYS_ON);
    is_near(d.values[PROCESS_RUN_WAIT], 1.75, "a sum that stayed");
}

/* Waits that the kernel does not account are absent, and begin anew once it does. */
static void test_delays(void)
{
    struct taskstats_usage u = { .block_io_wait_ns = 500000000, .reclaim_wait_ns = 250000000 };
    struct process_detail d;

    process_detail_clear(&d);
    process_detail_waits(&d, &u, DELAYS_OFF);
    is_near(d.values[PROCESS_IO_WAIT], (double)NAN, "a wait that is not accounted");
    is_near(d.values[PROCESS_MEMORY_WAIT], (double)NAN, "a wait for memory that is not accounted");
    process_detail_waits(&d, &u, DELAYS_YOUNGER);
    is_near(d.values[PROCESS_IO_WAIT], 0.5, "a wait of younger threads");
    is_near(d.values[PROCESS_MEMORY_WAIT], 0.25, "a wait for memory of younger threads");
    u.block_io_wait_ns = 0;
    process_detail_waits(&d, &u, DELAYS_YOUNGER);
    is_near(d.values[PROCESS_IO_WAIT], (double)NAN, "no wait where older threads may have had one");
    process_detail_waits(&d, &u, DELAYS_ON);
    is_near(d.values[PROCESS_IO_WAIT], 0, "no wait of threads that are all accounted");
}

static void test_waits_stat(void)
{
    struct process_stat stat = { .threads = 1, .block_io_ticks = 30 };
    struct process_detail d;

    process_detail_clear(&d);
    process_detail_waits_stat(&d, &stat, &units, DELAYS_ON);
    is_near(d.values[PROCESS_IO_WAIT], 0.3, "the wait of the only thread");
    stat.threads = 2;
    process_detail_waits_stat(&d, &stat, &units, DELAYS_ON);
    is_near(d.values[PROCESS_IO_WAIT], (double)NAN, "the wait of one thread of two");
}

static void test_row(void)
{
    struct process_detail d;
    struct tick t = { .n_rows = 0 };

    process_detail_clear(&d);
    for (int i = 0; i < PROCESS_VALUES; i++)
        d.values[i] = i;
    snprintf(d.comm, sizeof(d.comm), "python3");
    snprintf(d.uid, sizeof(d.uid), "1000");
    snprintf(d.cgroup, sizeof(d.cgroup), "job_7");
    tick_begin(&t, 0, 0);
    is_int(process_detail_row(&d, 4194304, &t), 0, "a process makes a row");
    if (is_int((int)t.n_rows, 1, "a process makes one row")) {
        const struct signal_row *row = &t.rows[0];

        is_str(row->thing, "4194304", "the row is called by the number of the process");
        is_near(row->values[0], 0, "the first value of the row");
        is_near(row->values[PROCESS_VALUES - 1], PROCESS_VALUES - 1, "the last value of the row");
        is_str(signal_fact(row, "comm"), "python3", "the row has the name of the process");
        is_str(signal_fact(row, "uid"), "1000", "the row has the owner of the process");
        is_str(signal_fact(row, "cgroup"), "job_7", "the row has the group of the process");
        is_int((int)row->set->n_defs, PROCESS_VALUES, "the set has a signal for each value");
        is_int(row->set->keep_s, 10, "one row in ten seconds is kept");
    }
    tick_done(&t);
}

int main(void)
{
    test_stat();
    test_io();
    test_waits();
    test_delays();
    test_waits_stat();
    test_row();
    return done();
}
