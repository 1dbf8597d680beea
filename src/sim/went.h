/* What really became of a workload, as accounting tells: the same as of one that was simulated, so
 * that both are summed up and printed by the same code. */
#ifndef BRIM_SIM_WENT_H
#define BRIM_SIM_WENT_H
#include "sim/sim.h"

/* Of each job when it started and ended (went, as the workload's jobs); of the options from_ms and
 * until_ms count. What accounting does not tell (preemptions, fragments, spans) is not there.
 * -ENOMEM. */
int sim_went(struct sim_result *ret, const struct work_went *went, const struct workload *work,
             const struct sim_options *options, struct err *e) CHECK_RESULT;

#endif
