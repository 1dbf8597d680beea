/* What jobs do with the devices that they hold, as the stretches of a workload say: a part of the
 * time they keep them busy, then nobody does for a while. An idle stretch passes by the clock, with
 * devices or without: its owner is away. */
#ifndef BRIM_ENGINE_SIM_USE_H
#define BRIM_ENGINE_SIM_USE_H
#include "base/arena.h"
#include "model/work.h"

struct use_job {
    int64_t since_ms; /* counted up to then */
    int64_t left_ms;  /* of its present stretch */
    int64_t rest_ms;  /* of all stretches */
    double rate;      /* of its own speed, while it works */
    int64_t start_ms; /* of a start, during which nothing is done */
    uint32_t at;      /* its present stretch */
    uint32_t more;    /* those behind it */
    bool begun, holds;
};

struct use {
    const struct workload *work;
    struct use_job *jobs;  /* NULL: no job has stretches, and nothing is counted */
    int64_t submitted_ms;  /* the last submission */
    double busy, busy_all; /* device time in ms until then, and until the end */
};

/* Room in the arena. -ENOMEM. */
int use_open(struct use *u, struct arena *a, const struct workload *w) CHECK_RESULT;

/* Count up to now. Returns how much of the job's length has passed without devices. */
int64_t use_count(struct use *u, uint32_t job, int64_t now_ms);

/* From now on a job has its devices, or (holds false) has none; the next start costs cost_ms more.
 * Counts up to now, as use_count(). */
int64_t use_hold(struct use *u, uint32_t job, int64_t now_ms, bool holds, int64_t cost_ms);

/* How busy its devices are, in thousandths, when it has some and its start is over. */
int use_milli(const struct use *u, uint32_t job);

/* Whether its last stretch has passed: it may end without devices. */
bool use_over(const struct use *u, uint32_t job);

/* When that changes by itself, or it ends; without devices, when it could go on. WORK_UNKNOWN: it
 * does not. */
int64_t use_until_ms(const struct use *u, uint32_t job);

/* What is left of it, with its start. */
int64_t use_left(const struct use *u, uint32_t job);

/* Its speed while it works, from now on: 1 is its own. Counts up to now. */
void use_rate(struct use *u, uint32_t job, int64_t now_ms, double rate);

#endif
