/* Runs a heat: a pilot of run/watch/observe.h that measures a job for a short while and has it
 * ended. */
#ifndef BRIM_OPTIMIZE_RACE_RUNNER_H
#define BRIM_OPTIMIZE_RACE_RUNNER_H
#include "optimize/race_run.h"
#include "run/watch/observe.h"

struct race_runner;

/* tries: the job is started with settings, and one that the shim refuses fails the heat. 0 or
 * -ENOMEM. */
int race_runner_new(struct race_runner **ret, const struct race_run_plan *plan, bool tries)
    CHECK_RESULT;
void race_runner_free(struct race_runner *h);
DEFINE_CLEANUP(struct race_runner, race_runner_free)

/* Borrowed, both. */
const struct observe_pilot *race_runner_pilot(const struct race_runner *h);
const struct race_run *race_runner_run(const struct race_runner *h);

/* The user wants no more heats (SIGRTMIN). */
bool race_runner_stopped(const struct race_runner *h);

#endif
