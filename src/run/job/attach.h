/* A job that runs already, found by one of its processes. */
#ifndef BRIM_RUN_JOB_ATTACH_H
#define BRIM_RUN_JOB_ATTACH_H
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* Whether that process is there and may be looked at. proc: a descriptor of /proc. 0, -ESRCH or
 * -EPERM with a sentence. */
int attach_check(int proc, pid_t pid, struct err *e) CHECK_RESULT;

/* The folder of the run that 'brim run' keeps of it, which is its nearest ancestor that has one
 * open: of a job whose folder of runs is another than ours, too. Empty when there is none. 0 or a
 * negative errno. */
int attach_folder(int proc, pid_t pid, struct str *folder) CHECK_RESULT;

#endif
