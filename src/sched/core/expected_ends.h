/* The running jobs by when they are expected to end; for src/sched alone. */
#ifndef BRIM_SCHED_CORE_EXPECTED_ENDS_H
#define BRIM_SCHED_CORE_EXPECTED_ENDS_H
#include <stdint.h>

struct sched;

/* A job that runs, by what is known to be left of it; while it is here, that does not change. */
void expected_ends_add(struct sched *s, uint32_t job);
void expected_ends_remove(struct sched *s, uint32_t job);

#endif
