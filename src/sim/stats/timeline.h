/* What a simulation did over time: columns of equal spans from the first submission on, each the
 * mean over its span. */
#ifndef BRIM_SIM_STATS_TIMELINE_H
#define BRIM_SIM_STATS_TIMELINE_H
#include "sim/sim.h"

enum { TIMELINE_COLUMNS = 300, TIMELINE_GROUPS = 8 };

struct timeline {
    double used[TIMELINE_COLUMNS];    /* devices that jobs have */
    double waiting[TIMELINE_COLUMNS]; /* jobs that are there and have none */
    double wants[TIMELINE_COLUMNS];   /* devices that those want */
    /* Of used, by those that have had the most, the last one all others. */
    double group[TIMELINE_GROUPS][TIMELINE_COLUMNS];
};

/* Who the groups are: teams, users or classes, whatever a trace has, in the order of the device
 * time that their jobs take. */
struct timeline_groups {
    const char *by; /* "team"; NULL: the trace names none */
    const char *names[TIMELINE_GROUPS];
    size_t n;
    uint8_t *of; /* by number of a team, user or class, plus 1; its own */
};

/* -ENOMEM. timeline_groups_done() in any case. */
int timeline_groups_make(struct timeline_groups *ret, const struct workload *work, struct err *e)
    CHECK_RESULT;
void timeline_groups_done(struct timeline_groups *g);

/* Of a result with its spans, up to a time. */
void timeline_make(struct timeline *ret, const struct sim_result *r, const struct workload *work,
                   const struct timeline_groups *g, int64_t end_ms);

/* When 99 of 100 jobs have ended, or the last one was submitted: what is worth to be seen.
 * -ENOMEM. */
int timeline_end(int64_t *ret, const struct sim_result *r, const struct workload *work)
    CHECK_RESULT;

#endif
