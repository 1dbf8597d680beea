/* The lowest priority of those that run: whether anybody that runs could come behind one that
 * waits. Kept where jobs stop others by need and ranks do not change by time alone, so that a pass
 * in which nobody can be stopped looks at no job that runs. */
#ifndef BRIM_SCHED_CORE_LOWEST_H
#define BRIM_SCHED_CORE_LOWEST_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct sched;

struct lowest {
    uint32_t *running; /* jobs that run, by priority; NULL: it is not kept */
    int32_t at;        /* the lowest of them; with none, it says nothing */
};

/* Whether the policy has a use for it: then it is kept. -ENOMEM. */
int lowest_open(struct sched *s) CHECK_RESULT;

/* A job runs; it does not any more, and is out of s->running. */
void lowest_add(struct sched *s, uint32_t job);
void lowest_remove(struct sched *s, uint32_t job);

/* Whether a job of that rank could stop any that runs: false is certain. */
bool lowest_may_stop(const struct sched *s, int32_t rank);

#endif
