/* What jobs took that were like one, and so how long it may take: of its user and size, else of its
 * user, else of its class and size, else of any. Knows what ended, nothing else. */
#ifndef BRIM_SCHED_FORECAST_H
#define BRIM_SCHED_FORECAST_H
#include "base/arena.h"
#include "model/job/job_spec.h"

enum { FORECAST_KEPT = 32, FORECAST_LEAST = 3, FORECAST_LEVELS = 4 };

struct forecast_group {
    int64_t took_ms[FORECAST_KEPT]; /* the last ones */
    uint32_t n;                     /* ever */
};

struct forecast {
    uint32_t *group[FORECAST_LEVELS]; /* by job; 0: it has none there */
    struct forecast_group *groups;    /* the first is nobody's */
    size_t n_groups;
};

/* Empty, for these jobs; it is the arena's. -ENOMEM. */
int forecast_init(struct forecast *f, struct arena *a, const struct workload *work) CHECK_RESULT;

/* A job ended by itself, after so long without interruptions. */
void forecast_learn(struct forecast *f, uint32_t job, int64_t took_ms);

/* What may be left of a job that has run for so long: what half of those that took longer took
 * more; as much again where none did. WORK_UNKNOWN before FORECAST_LEAST like it have ended. */
int64_t forecast_left(const struct forecast *f, uint32_t job, int64_t ran_ms);

#endif
