/* What a simulation came to, for all jobs and for groups of them. */
#ifndef BRIM_ENGINE_SIM_STATS_H
#define BRIM_ENGINE_SIM_STATS_H
#include "engine/sim.h"

/* Times in seconds. Completion is from submission to end, wait all the time without devices.
 * Percentiles interpolate between the two nearest. */
struct sim_group {
    const char *name;
    size_t jobs;
    double completion, completion_p50, completion_p99;
    double wait, wait_p50, wait_p90, wait_p99, wait_max;
};

struct sim_stats {
    struct arena arena;
    struct sim_group all;
    const char *by; /* what the groups are: "class", or "devices" where a trace has no classes */
    struct sim_group *groups;
    size_t n_groups;
    double allocated;     /* share of the devices, up to the last submission */
    double allocated_all; /* up to the last end */
};

/* -ENOMEM. */
int sim_stats_make(struct sim_stats *ret, const struct sim_result *r, const struct pool *pool,
                   const struct workload *work, struct err *e) CHECK_RESULT;
void sim_stats_done(struct sim_stats *s);

#endif
