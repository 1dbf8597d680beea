/* A cap on what all nodes draw together: section [power]. What a job adds is what its devices draw
 * above idle; a job that would lift the sum above the cap does not start, or (action = limit)
 * starts at a lower limit of power and is slower. For src/sched alone. Without such a section
 * nothing is drawn, and nothing takes longer. */
#ifndef BRIM_SCHED_FEATURE_POWER_H
#define BRIM_SCHED_FEATURE_POWER_H
#include "sched/core/feature.h"
#include "sched/core/watts.h"

extern const struct feature feature_power;

/* For devices of these kinds. 1: it is on, 0: there is no such section; -ENOMEM, -EINVAL with a
 * sentence. */
int power_open(struct sched *s, const struct watts *kinds, struct err *e);

/* What a job adds at its lowest limit, at most, wherever it starts; what a running one adds. What
 * may be added yet up to the cap; what the place in s->fit adds, once it is accepted. */
int64_t power_least_mw(const struct sched *s, uint32_t job);
int64_t power_drawn_mw(const struct sched *s, uint32_t job);
int64_t power_left_mw(const struct sched *s);
int64_t power_fit_mw(const struct sched *s);

/* What all nodes draw; how many starts were at a lower limit. */
int64_t power_now_mw(const struct sched *s);
uint64_t power_limited(const struct sched *s);

/* What a job may add that is tried from now on; WORK_UNKNOWN: up to the cap. */
void power_spare(struct sched *s, int64_t spare_mw);

/* How long what takes so long at full power takes at the lowest limit, at most; what takes so long
 * then, at full power. */
int64_t power_longest_ms(const struct sched *s, int64_t length_ms);
int64_t power_shortest_ms(const struct sched *s, int64_t length_ms);

/* A key of [power], or its head (power_read.c). -EINVAL with a sentence. */
int power_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int power_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
