/* What tiers.c, spot.c and spot_preempt.c keep together. */
#ifndef BRIM_SCHED_FEATURE_TIERS_PRIVATE_H
#define BRIM_SCHED_FEATURE_TIERS_PRIVATE_H
#include "sched/core/choose_victims.h"
#include "sched/feature/tiers.h"
#include "sched/place/free_capacity.h"

/* Jobs that wait, in the order of their submission. */
struct tiers_queue {
    uint32_t *jobs;
    size_t n;
};

/* Devices that a spot job was told to leave. */
struct tiers_leaving {
    int64_t due_ms;
    uint32_t part;
};

struct tiers {
    uint8_t *tier, *number; /* by class, plus 1: enum tier; its place in its section */
    struct tiers_queue waits[TIER_SPOT + 1];
    uint64_t *failed; /* by shape and number: the sweep in which one found no place */
    uint64_t sweep;
    /* Jobs that give way. */
    size_t n_spot;         /* that run */
    int64_t most;          /* devices that would be wholly free if they stopped, at most */
    int64_t used, ceiling; /* by them, in thousandths of devices; WORK_UNKNOWN: none */
    struct victim *victims;
    struct fit rest;               /* what a job leaves that gave way */
    struct tiers_leaving *leaving; /* owned */
    size_t n_leaving, room_leaving;
    int64_t ready_ms; /* when the place that was found is free of them; 0: at once */
};

#endif
