/* When a job that waits will have its place (EASY backfill). For src/sched alone. */
#ifndef BRIM_SCHED_PASS_PROMISE_H
#define BRIM_SCHED_PASS_PROMISE_H
#include <stdint.h>

struct sched;

/* Find when a job that has no place now will have one, from the expected ends, and what of each
 * node it leaves then. */
void promise_make(struct sched *s, uint32_t job, int64_t now_ms);

/* A job took its place for longer than until the promised start: less is to spare. */
void promise_use(struct sched *s, uint32_t job);

#endif
