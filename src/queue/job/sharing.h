/* Jobs that share devices, where a policy has [share]: what is seen of one with devices of its own,
 * and whether another one on them costs it too much. Pure.
 *
 * A driver tells how busy a device is, and not for whom: of two on one device steps tell who works.
 * A step that takes 20 times as long as usual is a pause, in which a job does nothing. */
#ifndef BRIM_QUEUE_JOB_SHARING_H
#define BRIM_QUEUE_JOB_SHARING_H
#include "queue/job/job.h"

enum { SHARING_COST = 100 /* thousandths that a job may be slower when the policy says nothing */ };

/* An attempt begins: nobody has looked. What was seen before counts, but of a job that may go on
 * with another number of devices, where its steps are others. */
void sharing_begin(struct queue_job *j);

/* What the time up to now counts as: alone, beside another one that works, or neither. */
enum sharing_time { SHARING_NEITHER, SHARING_ALONE, SHARING_BESIDE };

/* So many steps were done at a time of a clock that never steps (NaN: not known); look_ms: between
 * two looks. Sets whether it works, as far as steps tell. */
void sharing_note_steps(struct queue_job *j, int64_t now_ms, double steps, int64_t look_ms,
                        enum sharing_time time);

/* Its processes have waited for CPUs for so long so far, and those of the job beside it were on
 * some for so long; -1: not known. What of such waiting the other job does not explain is the
 * machine's doing, and is no cost of sharing. */
void sharing_note_waits(struct queue_job *j, int64_t waited_ms, int64_t other_ms,
                        enum sharing_time time);

/* It is that busy, in thousandths, with devices of its own, whose memory is in use so far; -1: not
 * known. */
void sharing_note_use(struct queue_job *j, int64_t now_ms, int milli, int memory_milli);

/* How busy it is at work, in thousandths; 0: that was not seen. */
int sharing_usual(const struct queue_job *j);

/* Whether enough is known of it to share: its steps, alone, for that long. */
bool sharing_is_known(const struct queue_job *j, int64_t after_ms);

/* By how much its steps take longer beside another one, without what they waited for CPUs that
 * others had, in thousandths, once it was seen so for that long: 1, and the count begins anew; 0:
 * not yet. */
int sharing_cost(struct queue_job *j, int64_t after_ms, int *milli);

#endif
