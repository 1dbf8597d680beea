#include "probe/process/detail.h"

#include <errno.h>
#include <stdio.h>

static const struct signal_def defs[PROCESS_VALUES] = {
    [PROCESS_CPU_USER] = { "cpu_seconds_total", "CPU time used", SIGNAL_COUNTER, "mode=\"user\"" },
    [PROCESS_CPU_SYSTEM] = { "cpu_seconds_total", "CPU time used", SIGNAL_COUNTER,
                             "mode=\"system\"" },
    [PROCESS_RUN_WAIT] = { "run_wait_seconds_total",
                           "time that its threads could run and had no CPU", SIGNAL_COUNTER },
    [PROCESS_IO_WAIT] = { "io_wait_seconds_total",
                          "time that its threads waited for block devices; only of threads started "
                          "since kernel.task_delayacct is 1",
                          SIGNAL_COUNTER },
    [PROCESS_MEMORY_WAIT] = { "memory_wait_seconds_total",
                              "time that its threads waited for memory: swap, reclaim, thrashing, "
                              "compaction; only of threads started since kernel.task_delayacct is "
                              "1",
                              SIGNAL_COUNTER },
    [PROCESS_READ] = { "io_read_bytes_total",
                       "bytes of its reads, from wherever: page cache, network, pipes",
                       SIGNAL_COUNTER },
    [PROCESS_WRITTEN] = { "io_written_bytes_total", "bytes of its writes, to wherever",
                          SIGNAL_COUNTER },
    [PROCESS_DISK_READ] = { "read_bytes_total", "bytes fetched from storage for it",
                            SIGNAL_COUNTER },
    [PROCESS_DISK_WRITTEN] = { "write_bytes_total", "bytes of it that go to storage",
                               SIGNAL_COUNTER },
    [PROCESS_RESIDENT] = { "resident_bytes", "its pages that are in memory", SIGNAL_GAUGE },
    [PROCESS_THREADS] = { "threads", "threads", SIGNAL_GAUGE },
    [PROCESS_MAJOR_FAULTS] = { "major_faults_total", "page faults that had to read",
                               SIGNAL_COUNTER },
    [PROCESS_VOLUNTARY] = { "context_switches_total", "context switches", SIGNAL_COUNTER,
                            "kind=\"voluntary\"" },
    [PROCESS_INVOLUNTARY] = { "context_switches_total", "context switches", SIGNAL_COUNTER,
                              "kind=\"involuntary\"" },
    [PROCESS_START] = { "start_time_seconds", "when it was started, since 1970", SIGNAL_GAUGE },
    [PROCESS_BLOCKED] = { "blocked", "1 while its main thread waits and cannot be interrupted",
                          SIGNAL_GAUGE },
    [PROCESS_CHILDREN] = { "children_cpu_seconds_total",
                           "CPU time of its children that ended and were waited for, and of theirs",
                           SIGNAL_COUNTER },
};

static const char *const facts[] = { "comm", "uid", "cgroup", NULL };

/* One row in 10 s is kept: at 120 processes they are most of what is measured. */
const struct signal_set process_set = { "process", "pid", defs, PROCESS_VALUES, facts, 10 };

void process_detail_clear(struct process_detail *d)
{
    *d = (struct process_detail){ .named_ns = 0 };
    for (size_t i = 0; i < PROCESS_VALUES; i++)
        d->values[i] = d->said[i] = (double)NAN;
}

void process_detail_stat(struct process_detail *d, const struct process_stat *stat,
                         const struct process_units *units)
{
    snprintf(d->comm, sizeof(d->comm), "%s", stat->comm);
    d->values[PROCESS_CPU_USER] = (double)stat->user_ticks * units->tick_s;
    d->values[PROCESS_CPU_SYSTEM] = (double)stat->system_ticks * units->tick_s;
    d->values[PROCESS_RESIDENT] = (double)stat->resident_pages * units->page_bytes;
    d->values[PROCESS_THREADS] = (double)stat->threads;
    d->values[PROCESS_MAJOR_FAULTS] = (double)stat->major_faults;
    d->values[PROCESS_START] = units->boot_s + (double)stat->start_ticks * units->tick_s;
    d->values[PROCESS_BLOCKED] = stat->state == 'D';
    d->values[PROCESS_CHILDREN] = (double)stat->waited_ticks * units->tick_s;
}

void process_detail_io(struct process_detail *d, const struct process_io *io)
{
    d->values[PROCESS_READ] = io->read_bytes;
    d->values[PROCESS_WRITTEN] = io->written_bytes;
    d->values[PROCESS_DISK_READ] = io->disk_read_bytes;
    d->values[PROCESS_DISK_WRITTEN] = io->disk_written_bytes;
}

/* A sum over the threads that live goes back when one ends. The counter goes on from where it was;
 * what the thread had used since the last sample is lost. */
static void count(struct process_detail *d, size_t i, double sum)
{
    if (isnan(d->said[i]))
        d->values[i] = sum;
    else if (sum > d->said[i])
        d->values[i] += sum - d->said[i];
    d->said[i] = sum;
}

/* The same of a wait that the kernel may not account. */
static void count_delay(struct process_detail *d, size_t i, double sum, enum process_delays delays)
{
    if (delays == DELAYS_ON || (delays == DELAYS_YOUNGER && sum > 0))
        count(d, i, sum);
    else
        d->values[i] = d->said[i] = (double)NAN;
}

void process_detail_waits(struct process_detail *d, const struct taskstats_usage *usage,
                          enum process_delays delays)
{
    uint64_t memory_ns = usage->swap_in_wait_ns + usage->reclaim_wait_ns +
                         usage->thrashing_wait_ns + usage->compact_wait_ns;

    count(d, PROCESS_RUN_WAIT, (double)usage->run_wait_ns / 1e9);
    count(d, PROCESS_VOLUNTARY, (double)usage->voluntary_switches);
    count(d, PROCESS_INVOLUNTARY, (double)usage->involuntary_switches);
    /* Since Linux 5.18 a wait for swap is in both block I/O and swap, so they are not added. */
    count_delay(d, PROCESS_IO_WAIT, (double)usage->block_io_wait_ns / 1e9, delays);
    count_delay(d, PROCESS_MEMORY_WAIT, (double)memory_ns / 1e9, delays);
}

void process_detail_waits_stat(struct process_detail *d, const struct process_stat *stat,
                               const struct process_units *units, enum process_delays delays)
{
    count_delay(d, PROCESS_IO_WAIT, (double)stat->block_io_ticks * units->tick_s,
                stat->threads == 1 ? delays : DELAYS_OFF);
}

int process_detail_row(const struct process_detail *d, pid_t pid, struct tick *t)
{
    char thing[16];
    struct signal_row *row;

    snprintf(thing, sizeof(thing), "%d", pid);
    row = tick_add(t, &process_set, thing);
    if (!row)
        return -ENOMEM;
    for (size_t i = 0; i < PROCESS_VALUES; i++)
        row->values[i] = d->values[i];
    tick_fact(row, 0, d->comm);
    tick_fact(row, 1, d->uid);
    tick_fact(row, 2, d->cgroup);
    return 0;
}
