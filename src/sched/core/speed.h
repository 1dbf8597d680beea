/* Jobs that are faster on some kinds of devices than on others. For src/sched alone. */
#ifndef BRIM_SCHED_CORE_SPEED_H
#define BRIM_SCHED_CORE_SPEED_H
#include "sched/core/scheduler.h"

/* Find a place for a job, on the fastest kind that has one where the policy says so; all its nodes
 * are of kinds on which it is equally fast. */
bool speed_find(struct sched *s, uint32_t job);

/* A job starts where s->fit says, or no longer runs: what it has left takes otherwise long. */
void speed_start(struct sched *s, uint32_t job);
void speed_stop(struct sched *s, uint32_t job);

/* What a job that waits has left on the slowest kind that suits it; WORK_UNKNOWN. */
int64_t speed_longest(const struct sched *s, uint32_t job);

/* The same on the fastest of those that the pool has. */
int64_t speed_shortest(const struct sched *s, uint32_t job);

#endif
