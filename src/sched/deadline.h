/* Deadlines (order = deadline): who cannot meet its own any more, by what is known to be left of
 * it, goes as if it had none, so that it pushes nobody else over theirs. For src/sched alone. */
#ifndef BRIM_SCHED_DEADLINE_H
#define BRIM_SCHED_DEADLINE_H
#include "sched/waiting.h"

struct action;
struct sched;
struct str;

struct deadlines {
    struct waiting soon; /* without preemption: jobs that wait, by when they have to start */
};

/* Room for it, where the order looks at deadlines. -ENOMEM. */
int deadline_open(struct sched *s) CHECK_RESULT;

/* Without preemption: a job waits from now on, before its key is made; one that waits no longer
 * does. */
void deadline_queue(struct sched *s, uint32_t job, int64_t now_ms);
void deadline_unqueue(struct sched *s, uint32_t job);

/* Find who can no longer meet its deadline, before a pass. When the next one will not; WORK_UNKNOWN
 * when nobody waits with one. */
int64_t deadline_pass(struct sched *s, int64_t now_ms);

/* ---- sentences (reason_deadline.c) ---- */

/* What a job was the first in, of those that wait. */
const char *reason_first(const struct sched *s, uint32_t job);

/* Behind the sentence of an action, what deadlines have to do with it: nothing under other orders.
 *  */
void reason_deadline(const struct sched *s, const struct action *a, int64_t now_ms,
                     struct str *out);

#endif
