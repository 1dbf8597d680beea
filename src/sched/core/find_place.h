/* Places for jobs, with all that features have to say about it. For src/sched alone. */
#ifndef BRIM_SCHED_CORE_FIND_PLACE_H
#define BRIM_SCHED_CORE_FIND_PLACE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct sched;

/* Whether there is a place for a job, and it may have it; it is in s->fit then. */
bool sched_find_place(struct sched *s, uint32_t job);

/* The same, but where it has to, features free it. 1, 0: there is none, and nothing was taken; -1
 * on failure. */
int sched_free_place(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

#endif
