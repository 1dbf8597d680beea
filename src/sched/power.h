/* A cap on what all nodes draw together: section [power]. What a job adds is what its devices draw
 * above idle; a job that would lift the sum above the cap does not start, or (action = limit)
 * starts at a lower limit of power and is slower. For src/sched alone. */
#ifndef BRIM_SCHED_POWER_H
#define BRIM_SCHED_POWER_H
#include <stdbool.h>

#include "base/err.h"
#include "sched/watts.h"

struct sched;

struct power {
    bool on;
    const struct watts *kinds; /* by kind, in the arena */
    int64_t *devices;          /* by kind */
    int64_t *drawn;            /* by job: what it adds while it runs */
    int64_t now_mw, idle_mw;   /* of all nodes; when nothing runs */
    int64_t waiting;           /* what waits, in thousandths of devices */
    double share;              /* the limit at which jobs start in this pass */
    double fit_speed;          /* of the place that was found */
    int64_t fit_mw;
    int64_t spare_mw;  /* what a job may add that is tried; WORK_UNKNOWN: up to the cap */
    double slowest;    /* the speed at the lowest limit of the slowest kind */
    uint32_t shortage; /* the first in this pass that found a place and no power; WAITING_NONE */
    int64_t short_mw;  /* what it would add */
    uint8_t *told;     /* by job: it was told while it waited */
    uint64_t limited;  /* starts below the full limit */
};

/* Before a pass: at what limit jobs start in it. */
void power_pass(struct sched *s);

/* After it: tell who waits for power alone. -ENOMEM. */
int power_tell(struct sched *s) CHECK_RESULT;

/* Whether what is in s->fit stays below the cap, and adds no more than is to spare. */
bool power_allows(struct sched *s, uint32_t job);

/* What a job adds at its lowest limit, at most, wherever it starts. */
int64_t power_least(const struct sched *s, uint32_t job);

/* A job waits from now on (1), or no longer does (-1). */
void power_wait(struct sched *s, uint32_t job, int sign);

/* It starts where s->fit says, or no longer runs: what it has left takes otherwise long. */
void power_start(struct sched *s, uint32_t job);
void power_stop(struct sched *s, uint32_t job);

/* Let a running job count as drawing nothing (up), or as before. */
void power_lift(struct sched *s, uint32_t job, bool up);

#endif
