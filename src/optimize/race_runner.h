/* Runs a heat: a pilot of run/watch/observe.h that measures a job for a short while and has it
 * ended. */
#ifndef BRIM_OPTIMIZE_RACE_RUNNER_H
#define BRIM_OPTIMIZE_RACE_RUNNER_H
#include "optimize/race_run.h"
#include "run/watch/observe.h"

struct heat_run;

/* tries: the job is started with settings, and one that the shim refuses fails the heat. 0 or
 * -ENOMEM. */
int heat_run_new(struct heat_run **ret, const struct heat_plan *plan, bool tries) CHECK_RESULT;
void heat_run_free(struct heat_run *h);
DEFINE_CLEANUP(struct heat_run, heat_run_free)

/* Borrowed, both. */
const struct observe_pilot *heat_run_pilot(const struct heat_run *h);
const struct heat *heat_run_heat(const struct heat_run *h);

/* The user wants no more heats (SIGRTMIN). */
bool heat_run_stopped(const struct heat_run *h);

#endif
