/* A job that runs already and marks nothing for us, watched for a while from outside. */
#ifndef BRIM_RUN_WATCH_OUTSIDE_H
#define BRIM_RUN_WATCH_OUTSIDE_H
#include <sys/types.h>

#include "base/clock.h"
#include "base/err.h"
#include "model/job/run.h"

struct outside {
    const struct clock *clock;
    pid_t pid; /* the job is this process and those that descend from it */
    int64_t for_ns;
};

/* Watch it and fill *ret: its command, moments of a second, and one rank for each process that
 * trains, with steps of the period at which it repeats itself, else with one step for each moment
 * (inferred_confidence is 0 then). 0, or a negative errno with a sentence; -ESRCH when it ended too
 * early. run_done(ret) in any case. */
int outside_watch(const struct outside *c, struct run *ret, struct err *e) CHECK_RESULT;

#endif
