/* When a job that runs kept its devices busy, for policies that look at that: the stretches of work
 * that the scheduler remembers, as a text that outlives the engine. What nobody saw counts as work,
 * so that no job loses its devices for what is not known. Pure. */
#ifndef BRIM_QUEUE_JOB_IDLE_HISTORY_H
#define BRIM_QUEUE_JOB_IDLE_HISTORY_H
#include "queue/job/job.h"

enum {
    QUEUE_BURSTS = 4,      /* that are remembered: as many as a scheduler does */
    QUEUE_GAP_MS = 120000, /* without a look for so long it counts as having worked */
    QUEUE_KEEP_MS = 60000, /* a look is stored when the last that was is so old */
};

/* Stretches of work, the newest last; it has no end while the job is busy. */
struct idle_history {
    struct queue_burst {
        int64_t from_ms, to_ms;
    } bursts[QUEUE_BURSTS];
    int n;
    bool busy;
};

/* What a job's text says: "100-170 300-" is work from 100 to 170 and from 300 on. One that cannot
 * be read is of a job that is busy since it started. */
void idle_history_read(const struct queue_job *j, struct idle_history *ret);

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
