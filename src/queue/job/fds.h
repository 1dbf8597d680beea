/* Descriptors of a process that was forked and goes on as itself. */
#ifndef BRIM_QUEUE_JOB_FDS_H
#define BRIM_QUEUE_JOB_FDS_H
#include "base/compiler.h"

enum { QUEUE_LOW_FDS = 3 /* those of stdin, stdout, stderr */ };

/* Close all from one on: an engine's lock must not live on in another process. */
void queue_fds_close(int from);

/* Let the first n stand for /dev/null. 0 or a negative errno. */
int queue_fds_null(int n) CHECK_RESULT;

#endif
