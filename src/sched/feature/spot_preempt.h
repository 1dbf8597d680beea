/* Jobs that give way: spot jobs to all others, batch jobs to replicas of services (tiers.h). Where
 * there are neither, nobody does. For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_SPOT_PREEMPT_H
#define BRIM_SCHED_FEATURE_SPOT_PREEMPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct sched;

/* Who gives way. */
enum yields {
    YIELDS_SPOT,  /* spot jobs */
    YIELDS_ABOVE, /* then batch jobs of those that are above their shares (quota.h) */
    YIELDS_BATCH, /* instead, then any batch jobs */
};

/* Let some of them give way so that there is a place for another job: the youngest, and none
 * without which there is one, too. 1: it is in s->fit; 0: there is none, and nobody stopped; -1 on
 * failure. */
int spot_preempt_find(struct sched *s, uint32_t job, int64_t now_ms, enum yields who) CHECK_RESULT;

/* The same for a place in s->fit that was found while spot jobs counted as free; for one that there
 * is as soon as spot jobs go, or there already. */
int spot_preempt_leave(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;
int spot_preempt_beside(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* Let all spot jobs count as free (up), or no longer. Whether any run. */
bool spot_preempt_lift(struct sched *s, bool up);

/* How long a place that they give up has to be waited for, if any run. */
int64_t spot_preempt_notice_ms(const struct sched *s);

/* How many have devices that they are leaving yet; the first part of the i-th of them. */
size_t spot_preempt_n_leaving(const struct sched *s);
uint32_t spot_preempt_leaving(const struct sched *s, size_t i);

/* What all of them are leaving, in thousandths of devices. */
int64_t spot_preempt_leaving_milli(const struct sched *s);

/* Give back what spot jobs have left by now; all that they are leaving on a node. */
void spot_preempt_settle(struct sched *s, int64_t now_ms);
void spot_preempt_drop(struct sched *s, uint32_t node);

/* When there is more to be given back; WORK_UNKNOWN. When all of it is; 0: there is nothing. */
int64_t spot_preempt_again(const struct sched *s);
int64_t spot_preempt_over(const struct sched *s);

#endif
