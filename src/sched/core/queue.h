/* Jobs that wait, by the groups of those that need the same. For src/sched alone. */
#ifndef BRIM_SCHED_CORE_QUEUE_H
#define BRIM_SCHED_CORE_QUEUE_H
#include <stdint.h>

struct sched;

/* The group whose next job, by s->cursor, goes first; WAITING_NONE. */
uint32_t queue_first_group(const struct sched *s);

#endif
