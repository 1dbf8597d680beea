/* Which of some running jobs have to stop for another one. For src/sched alone. */
#ifndef BRIM_SCHED_CORE_CHOOSE_VICTIMS_H
#define BRIM_SCHED_CORE_CHOOSE_VICTIMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched;

struct victim {
    int64_t since_ms;
    uint32_t list, job;
};

/* Whether a job may still stop, after those before it did; NULL: any may. */
typedef bool choose_victims_may_fn(const struct sched *s, uint32_t job);

/* Let the devices of a running job count as free (up), or as its own again. */
void choose_victims_lift(struct sched *s, uint32_t job, bool up);

/* Of n jobs, those in front first, find those without which a job has no place. Returns how many,
 * moved to the front; 0 when all of them are not enough. Nothing is stopped. */
size_t choose_victims(struct sched *s, uint32_t job, struct victim *victims, size_t n,
                      choose_victims_may_fn *may);

#endif
