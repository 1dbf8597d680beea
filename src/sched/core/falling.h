/* Jobs that run in an order by queues (las): when the next of them falls into a lower one, and what
 * stopping those of lower queues would free on each node. Kept where those that wait are kept in
 * order (scheduler.h), so that a pass in which nobody can be stopped looks at no job that runs. */
#ifndef BRIM_SCHED_CORE_FALLING_H
#define BRIM_SCHED_CORE_FALLING_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct sched;

struct falling {
    bool on;
    uint32_t n_queues;
    uint32_t *heap,
        *at;          /* jobs by when they fall; by job, its place there plus 1 (0: it has none) */
    int64_t *fall_ms; /* by job */
    uint32_t n;
    uint8_t *queue;    /* by job */
    uint32_t *devices; /* by node and queue: those of jobs that have whole ones */
};

/* Whether the order has queues that time changes: then it is kept. -ENOMEM. */
int falling_open(struct sched *s) CHECK_RESULT;

/* A job runs at its place since then; it gives the place up, which it still has. */
void falling_add(struct sched *s, uint32_t job, int64_t since_ms);
void falling_remove(struct sched *s, uint32_t job);

/* Let those fall that do by now. */
void falling_pass(struct sched *s, int64_t now_ms);

/* When the next one falls; WORK_UNKNOWN. */
int64_t falling_next_ms(const struct sched *s);

/* Whether a job of a queue could get so many devices on each of n nodes, at most: false is
 * certain. */
bool falling_may_free(const struct sched *s, int32_t queue, int32_t each, int32_t n);

#endif
