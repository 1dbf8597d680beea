/* Devices for a job that waits, out of those that others hardly use: idle jobs give theirs up
 * (idle.h), and jobs of little use share theirs (device_sharing.h). For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_RECLAIM_H
#define BRIM_SCHED_FEATURE_RECLAIM_H
#include "sched/core/feature.h"

extern const struct feature feature_reclaim;

/* Find a place by taking devices of idle jobs, the longest idle first, and letting jobs of little
 * use share theirs; neither where there is a place without it. Spot jobs give way beside them. 1,
 * 0: there is none, and nothing was taken; -1 on failure. */
int reclaim_find(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

#endif
