/* A workload in virtual time where jobs share devices by turns (sched/interleave.h). */
#ifndef BRIM_SIM_SHARED_H
#define BRIM_SIM_SHARED_H
#include "sim/sim.h"

/* What sim_run() does, for a policy with interleave. */
int sim_shared_run(struct sim_result *ret, const struct policy *policy, const struct pool *pool,
                   const struct workload *work, const struct sim_options *options, struct err *e)
    CHECK_RESULT;

#endif
