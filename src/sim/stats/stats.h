/* What a simulation came to, for all jobs and for groups of them. */
#ifndef BRIM_SIM_STATS_STATS_H
#define BRIM_SIM_STATS_STATS_H
#include "sim/sim.h"

/* Times in seconds. Completion is from submission to end, wait all the time without devices,
 * slowdown completion to length, where a length below SIM_SHORT_S counts as that. Percentiles
 * interpolate between the two nearest. */
enum { SIM_SHORT_S = 10 };

struct sim_group {
    const char *name;
    size_t jobs;
    double completion, completion_p50, completion_p90, completion_p99;
    double wait, wait_p50, wait_p90, wait_p99, wait_max;
    double slowdown;
    double device_hours; /* that its jobs had, with what they did again */
    /* Of its jobs with a deadline: how many, how many ended, how many by it; how long after it
     * those that ended did in the mean, 0 in time. One that did not end has not met its own. */
    size_t due, due_ended, met;
    double tardiness, tardiness_max;
};

struct sim_breakdown {
    const char *by; /* "class" */
    struct sim_group *groups;
    size_t n;
};

struct sim_stats {
    struct arena arena;
    struct sim_group all;
    struct sim_breakdown main;         /* by class, or by devices where a trace has no classes */
    struct sim_breakdown users, teams; /* n is 0 where a trace has none */
    double allocated;                  /* share of the devices, up to the last submission */
    double allocated_all;              /* up to the last end */
    double busy;                       /* share that was busy, up to the last submission; NaN */
    double busy_all;                   /* up to the last end */
    double away; /* mean seconds without devices that nobody waited in: idle stretches */
    /* Jain's index of mean slowdowns, 1 when all are the same: of users, else teams, else classes,
     * else jobs. */
    double fairness;
    const char *fairness_of; /* "users" */
    double fragmented; /* of free devices, the share on nodes that are partly in use; NaN: none */
};

/* -ENOMEM. */
int sim_stats_make(struct sim_stats *ret, const struct sim_result *r, const struct pool *pool,
                   const struct workload *work, struct err *e) CHECK_RESULT;
void sim_stats_done(struct sim_stats *s);

#endif
