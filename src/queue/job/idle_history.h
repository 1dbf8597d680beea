/* When a job of the queue kept its devices busy (model/job/bursts.h), in what is stored of it: that
 * outlives the engine. Pure. */
#ifndef BRIM_QUEUE_JOB_IDLE_HISTORY_H
#define BRIM_QUEUE_JOB_IDLE_HISTORY_H
#include "model/job/bursts.h"
#include "queue/job/job.h"

enum { QUEUE_KEEP_MS = 60000 }; /* a look is stored when the last that was is so old */

/* What a job's text says, and when it was looked at last. */
void idle_history_read(const struct queue_job *j, struct bursts *ret);

/* A job starts, at j->since_ms: it is busy until it is seen not to be. */
void idle_history_begin(struct queue_job *j);

/* It was seen to be that busy, in thousandths; -1: that could not be told. Whether it began to work
 * or left off. A clock that went back makes the time before count as work. */
bool idle_history_note(struct queue_job *j, int64_t now_ms, int milli);

/* Whether what was noted is to be stored, as long as it is not. */
bool idle_history_due(const struct queue_job *j);

/* Since when its devices are idle, as far as anybody saw; 0: they are not. */
int64_t idle_history_idle_ms(const struct queue_job *j, int64_t now_ms);

#endif
