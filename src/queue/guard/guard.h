/* The guard of one attempt of a job: a process of its own, in a session of its own, that starts the
 * command, ends it when its time is over or it is asked to, and leaves word of how it ended. It
 * needs no engine: one that dies meanwhile finds the word when it comes back. */
#ifndef BRIM_QUEUE_GUARD_GUARD_H
#define BRIM_QUEUE_GUARD_GUARD_H
#include <stdbool.h>
#include <sys/types.h>

#include "queue/job/job.h"

struct queue_guard {
    const struct queue_job *job;
    const char *folder;      /* of the queue */
    const char *cpus;        /* that the job is bound to, as the kernel lists them; "": any */
    const char *const *give; /* variables for the job, name and value by turns; NULL behind them */
    bool watch;              /* under brim run */
};

/* Start one. Its pid, or a negative errno. */
pid_t queue_guard_start(const struct queue_guard *g) CHECK_RESULT;

/* Whether that a command could not be started may be otherwise the next time: the job waits
 * again. */
bool queue_guard_passes(int rc);

#endif
