/* What /proc/PID says of a process. */
#ifndef BRIM_PROBE_PROCESS_TEXT_H
#define BRIM_PROBE_PROCESS_TEXT_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum { PROCESS_COMM = 32 };

/* /proc/PID/stat. Times are in clock ticks, those of threads that have ended among them; but
 * block_io_ticks, which are of the main thread. */
struct process_stat {
    char comm[PROCESS_COMM]; /* any bytes; what is too long is cut */
    char state;
    uint64_t parent;
    bool kernel_thread;
    uint64_t threads;
    uint64_t user_ticks, system_ticks;
    uint64_t waited_ticks; /* of children that ended and were waited for, and of theirs */
    uint64_t major_faults, waited_major_faults;
    uint64_t start_ticks; /* since boot: with the pid, it is the process */
    uint64_t resident_pages;
    uint64_t block_io_ticks;
};

/* 0 or -EINVAL; *ret is set only on success. */
int process_parse_stat(const char *text, struct process_stat *ret) CHECK_RESULT;

/* /proc/PID/io, of all threads and of children that were waited for. NaN: there is no such line. */
struct process_io {
    double read_bytes, written_bytes; /* of reads and writes, wherever they went */
    double read_calls, write_calls;
    double disk_read_bytes, disk_written_bytes; /* of block devices */
};

void process_parse_io(const char *text, struct process_io *ret);

/* Bytes of "Pss:" in /proc/PID/smaps_rollup; 0 where there is no such line: a process that has
 * ended. */
double process_parse_pss(const char *text);

#endif
