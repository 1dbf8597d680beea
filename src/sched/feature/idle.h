/* Section [idle]: batch jobs whose devices are idle: their owners are told, and what waits gets the
 * devices (reclaim.h). Idle is what worked for no more than a burst within a window that slides, so
 * that a job which worked once does not escape, nor one that twitches. For src/sched alone. Without
 * such a section no job is idle. */
#ifndef BRIM_SCHED_FEATURE_IDLE_H
#define BRIM_SCHED_FEATURE_IDLE_H
#include "sched/core/feature.h"

extern const struct feature feature_idle;

/* Whether a running job is idle now; whether its devices can be taken. */
bool idle_now(const struct sched *s, uint32_t job);
bool idle_due(const struct sched *s, uint32_t job, int64_t now_ms);

/* The running jobs that are idle, in no order; how many of them were due when the pass began. From
 * when on one of them is. */
const uint32_t *idle_list(const struct sched *s, size_t *n);
size_t idle_n_due(const struct sched *s);
int64_t idle_due_ms(const struct sched *s, uint32_t job);

/* Take the devices of one for another job, which waits. -ENOMEM. */
int idle_stop(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms) CHECK_RESULT;

/* A job whose devices were taken needs some again. */
void idle_wake(struct sched *s, uint32_t job, int64_t now_ms);

/* A key of [idle]; whether all that it needs was said, and goes with the rest (idle_read.c).
 * -EINVAL with a sentence. */
int idle_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int idle_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
