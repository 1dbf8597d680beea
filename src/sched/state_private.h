/* A job's ways between waiting, running and away, with all that counts along; for src/sched alone.
 * The functions here say nothing of it: inside_start() and inside_stop() note the action too. */
#ifndef BRIM_SCHED_STATE_PRIVATE_H
#define BRIM_SCHED_STATE_PRIVATE_H
#include <stdint.h>

struct sched;

/* A job waits from now on; one that waits no longer does. */
void moves_queue(struct sched *s, uint32_t job, int64_t now_ms);
void moves_unqueue(struct sched *s, uint32_t job);

/* A job that has its place runs, since then; one that runs gives its place up. */
void moves_run(struct sched *s, uint32_t job, int64_t since_ms);
void moves_stop(struct sched *s, uint32_t job, int64_t now_ms);

/* Count that a job of its user has devices from now on (sign 1), or no longer (-1). */
void moves_count_user(struct sched *s, uint32_t job, int64_t now_ms, int sign);

#endif
