/* A job's ways between waiting, running and away, with all that counts along; for src/sched alone.
 * The functions here say nothing of it: state_start() and state_evict() note the action too. */
#ifndef BRIM_SCHED_STATE_PRIVATE_H
#define BRIM_SCHED_STATE_PRIVATE_H
#include <stdint.h>

struct sched;

/* A job waits from now on; one that waits no longer does. */
void state_queue(struct sched *s, uint32_t job, int64_t now_ms);
void state_unqueue(struct sched *s, uint32_t job);

/* A job that has its place runs, since then; one that runs gives its place up. */
void state_run(struct sched *s, uint32_t job, int64_t since_ms);
void state_stop(struct sched *s, uint32_t job, int64_t now_ms);

/* Count that a job of its user has devices from now on (sign 1), or no longer (-1). */
void state_count_user(struct sched *s, uint32_t job, int64_t now_ms, int sign);

#endif
