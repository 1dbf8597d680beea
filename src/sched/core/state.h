/* Changes of a job's state, and the counters that follow them. For src/sched alone. */
#ifndef BRIM_SCHED_CORE_STATE_H
#define BRIM_SCHED_CORE_STATE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "sched/core/sched_job.h"

struct action;
struct sched;

/* A job waits from now on; one that waits no longer does. */
void state_queue(struct sched *s, uint32_t job, int64_t now_ms);
void state_unqueue(struct sched *s, uint32_t job);

/* A job that has its place runs, since then; one that runs gives its place up. */
void state_run(struct sched *s, uint32_t job, int64_t since_ms);
void state_stop(struct sched *s, uint32_t job, int64_t now_ms);

/* Count that a job of its user has devices from now on (sign 1), or no longer (-1). */
void state_count_user(struct sched *s, uint32_t job, int64_t now_ms, int sign);

/* ---- with the action that says it ---- */

/* Move a job to its place, or away from it, and note the action. -ENOMEM. */
int state_start(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
    CHECK_RESULT;
int state_preempt(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
    CHECK_RESULT;

/* The same, or (parks) let it be away from then on. -ENOMEM. */
int state_evict(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why, bool parks)
    CHECK_RESULT;

/* Note an action that changes nothing here. -ENOMEM. */
int state_note(struct sched *s, const struct action *a) CHECK_RESULT;

/* The key of a job at a time. */
void state_key(const struct sched *s, uint32_t job, int64_t now_ms, struct order_key *ret);

/* Note who has waited for too long, and say when the next one will have; WORK_UNKNOWN. */
int64_t state_age(struct sched *s, int64_t now_ms);

/* Count what users have had up to now. */
void state_count_users(struct sched *s, int64_t now_ms);

#endif
