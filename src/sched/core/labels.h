/* Places among equals under ties = list, where those that wait are kept in order (scheduler.h). The
 * place of one that waits is a label that does not change: who comes gets one behind all of them,
 * and those that run have theirs before all of them, in the order of the last pass, so that who is
 * stopped stands before its equals. So no pass numbers those that wait. */
#ifndef BRIM_SCHED_CORE_LABELS_H
#define BRIM_SCHED_CORE_LABELS_H
#include <stdbool.h>
#include <stdint.h>

struct order_key;
struct sched;

/* Whether places are kept so. */
bool labels_are_kept(const struct sched *s);

/* Set up, when it is known whether those that wait are kept in order. */
void labels_open(struct sched *s);

/* A pass begins: number all anew where there may be too few labels for it. */
void labels_pass(struct sched *s);

/* Number all anew, in the order that they have. */
void labels_compact(struct sched *s);

/* Whether a job that is there has by its key of this pass fallen into a lower queue: then it is the
 * last of that one from now on, by the key, too. */
bool labels_fall(struct sched *s, uint32_t job, struct order_key *key);

/* A job that is new waits: it is the last of its queue, and has not fallen there. */
void labels_submit(struct sched *s, uint32_t job);

/* Number those of s->ranked that run, before all that wait. Those that fell in this pass stay where
 * they are, behind their equals that wait, but for 'all'. */
void labels_number(struct sched *s, bool all);

/* A running job is stopped, and is to wait at the label that it has. */
void labels_stop(struct sched *s, uint32_t job);

#endif
