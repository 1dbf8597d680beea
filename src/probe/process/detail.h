/* What is reported of one process. */
#ifndef BRIM_PROBE_PROCESS_DETAIL_H
#define BRIM_PROBE_PROCESS_DETAIL_H
#include "model/signal/signal.h"
#include "probe/kernel/taskstats.h"
#include "probe/process/text.h"

enum {
    PROCESS_CPU_USER,
    PROCESS_CPU_SYSTEM,
    PROCESS_RUN_WAIT,
    PROCESS_IO_WAIT,
    PROCESS_MEMORY_WAIT,
    PROCESS_READ,
    PROCESS_WRITTEN,
    PROCESS_DISK_READ,
    PROCESS_DISK_WRITTEN,
    PROCESS_RESIDENT,
    PROCESS_THREADS,
    PROCESS_MAJOR_FAULTS,
    PROCESS_VOLUNTARY,
    PROCESS_INVOLUNTARY,
    PROCESS_START,
    PROCESS_BLOCKED,
    PROCESS_CHILDREN,
    PROCESS_VALUES
};

extern const struct signal_set process_set;

struct process_detail {
    double values[PROCESS_VALUES];
    double said[PROCESS_VALUES]; /* what the kernel said last, of counters that may go back */
    int64_t named_ns;            /* when uid and group were read; 0: never */
    bool absent;                 /* has no row in this tick */
    char comm[SIGNAL_THING];
    char uid[16];
    char cgroup[SIGNAL_THING];
};

/* What the units of /proc/PID/stat are, and when the host was started (NaN). */
struct process_units {
    double tick_s, page_bytes, boot_s;
};

/* Whether the kernel accounts waits for I/O and memory of a process. Threads that were started
 * before it did are left out, so a wait of 0 tells nothing of a process that is older. */
enum process_delays { DELAYS_OFF, DELAYS_YOUNGER, DELAYS_ON };

/* Nothing is known of it yet. */
void process_detail_clear(struct process_detail *d);

void process_detail_stat(struct process_detail *d, const struct process_stat *stat,
                         const struct process_units *units);
void process_detail_io(struct process_detail *d, const struct process_io *io);

/* The waits: of TASKSTATS, or what stat has of them, which is told only of a process with one
 * thread, since it is of the first one. */
void process_detail_waits(struct process_detail *d, const struct taskstats_usage *usage,
                          enum process_delays delays);
void process_detail_waits_stat(struct process_detail *d, const struct process_stat *stat,
                               const struct process_units *units, enum process_delays delays);

/* 0 or -ENOMEM */
int process_detail_row(const struct process_detail *d, pid_t pid, struct tick *t) CHECK_RESULT;

#endif
