/* What brim sim lets fail: published rates, a rate, or a list. */
#ifndef BRIM_CMD_SIM_FAULTS_H
#define BRIM_CMD_SIM_FAULTS_H
#include "base/arena.h"
#include "model/job/job_spec.h"
#include "sim/outages.h"

struct sim_fault_opts {
    const char *failures, *windows;
    int64_t repair_ns, checkpoint_ns, cost_ns;
    uint64_t spares;
};

/* What was asked for; its list is in the arena. about: a sentence for people. */
struct sim_failing {
    struct outage_options options;
    struct outage *list; /* the same as that of the options */
    bool any;            /* failures, or a cost of checkpoints */
    char about[240];
};

/* Nodes that the list names are those of the pool. -EINVAL with a sentence. */
int sim_faults_find(struct sim_failing *ret, struct arena *a, const struct pool *pool,
                    const struct sim_fault_opts *o, uint64_t seed, struct err *e) CHECK_RESULT;

/* Jobs whose trace says nothing about checkpoints make them as --checkpoint says. */
void sim_faults_checkpoints(struct workload *w, const struct sim_fault_opts *o);

#endif
