/* Which processes there are. */
#ifndef BRIM_PROBE_PROCESS_PIDS_H
#define BRIM_PROBE_PROCESS_PIDS_H
#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/compiler.h"

struct process_pids {
    pid_t *all; /* by number */
    size_t n, room;
};

void process_pids_done(struct process_pids *p);

/* What proc (a folder like /proc) lists now, at most so many, in place of what was there. 0;
 * -ENOMEM; another negative errno where proc cannot be read to its end: some are missing then. */
int process_pids_read(struct process_pids *p, DIR *proc, size_t most) CHECK_RESULT;

bool process_pids_has(const struct process_pids *p, pid_t pid);

#endif
