/* What services, spot jobs and a cap of power came to in a simulation. */
#ifndef BRIM_SIM_TIERS_H
#define BRIM_SIM_TIERS_H
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* Device time in ms. */
struct sim_tiers {
    uint64_t gave_way;     /* spot jobs, each time */
    uint64_t for_replicas; /* batch jobs, each time */
    double redone;         /* work that spot jobs lost */
    double spot, service;  /* what they had up to the last submission */
    double drawn;          /* mW x ms up to then; 0: nobody counts it */
    int64_t peak_mw;       /* at any time */
    uint64_t held;         /* jobs that waited for power alone, each time */
    uint64_t limited;      /* starts at a lower limit of power */
};

/* The replicas of a service; times in seconds from submission to the first start. */
struct sim_service {
    const char *name;
    size_t replicas, started;
    double wait, p50, p99, max; /* of those that started */
    double within;              /* share of all replicas that started in time */
};

struct sim_tier_stats {
    struct arena arena;
    struct sim_service *services; /* by class; where there are several, all of them last */
    size_t n_services;
    size_t spot_jobs, spot_ended;
    double done_hours; /* device-hours of work of the jobs that ended up to the last submission */
};

struct policy;
struct sim_result;
struct workload;

/* -ENOMEM. */
int sim_tier_stats_make(struct sim_tier_stats *ret, const struct sim_result *r,
                        const struct policy *policy, const struct workload *work, struct err *e)
    CHECK_RESULT;
void sim_tier_stats_done(struct sim_tier_stats *s);

#endif
