/* Decisions about the jobs that wait in the order of the policy. For src/sched alone. -ENOMEM. */
#ifndef BRIM_SCHED_PASS_PASS_H
#define BRIM_SCHED_PASS_PASS_H
#include <stdint.h>

#include "base/compiler.h"

struct sched;

/* Without preemption: one after the other, and what may go ahead; each at its planned time. */
int pass_queue(struct sched *s, int64_t now_ms) CHECK_RESULT;
int pass_planned(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* With preemption: all that are there; those that go first take devices of others by need. Sets
 * when the order changes by time alone; WORK_UNKNOWN. */
int pass_ranked(struct sched *s, int64_t now_ms, int64_t *again_ms) CHECK_RESULT;
int pass_victims(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* In the order of s->ranked, or (where those that wait are kept in order) in that of all that are
 * there: a place for each in an empty cluster. What runs and gets one may have moved; what gets
 * none is not granted, and runs yet without a place. */
int pass_anew(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* As pass_victims(), where those that wait are kept in order: it looks at no more of them than have
 * a chance, and ranks those that run only when one might have to stop. What starts in a pass does
 * not stop in it. */
int pass_queued_victims(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* Where those that wait are kept in order: those that run, in the order of this pass, into
 * s->ranked (ranked.c). */
void rank_running(struct sched *s, int64_t now_ms);

/* Sort what is in s->ranked by its keys: quick when most of it is in order (ranked.c). */
void ranked_sort(struct sched *s);

#endif
