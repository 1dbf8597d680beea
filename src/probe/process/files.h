/* Files of /proc/PID. */
#ifndef BRIM_PROBE_PROCESS_FILES_H
#define BRIM_PROBE_PROCESS_FILES_H
#include <sys/types.h>

#include "base/compiler.h"
#include "probe/process/text.h"

/* Paths of groups are the longest that is read. */
enum { PROCESS_TEXT = 4096 };

/* What stays open of a process that is reported; -1. It spares a third of what reading costs, and
 * tells when the pid has gone to another process: the files of one that ended cannot be read. */
struct process_files {
    int stat, io;
};

#define PROCESS_FILES_NONE ((struct process_files){ -1, -1 })

void process_files_close(struct process_files *f);

/* One file of a process below a descriptor of /proc into buf: a length, or a negative errno and buf
 * as it was. kept: where its descriptor is, or goes; NULL. */
int process_files_read(int proc, pid_t pid, const char *name, int *kept, char buf[PROCESS_TEXT]);

/* Its /proc/PID/stat below a descriptor of /proc: 0, -ENOENT when there is no such process, or
 * another negative errno. */
int process_stat_read(int proc, pid_t pid, struct process_stat *ret) CHECK_RESULT;

/* The same below /proc of this machine. */
int process_stat_here(pid_t pid, struct process_stat *ret) CHECK_RESULT;

#endif
