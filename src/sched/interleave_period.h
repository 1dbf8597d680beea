/* Jobs that take turns on the same devices: while one computes, another reads its data and a third
 * talks to its peers. How long a step of each then takes, as in the simulator of Muri (Zhao et al.,
 * SIGCOMM 2022). */
#ifndef BRIM_SCHED_INTERLEAVE_PERIOD_H
#define BRIM_SCHED_INTERLEAVE_PERIOD_H
#include "model/job/job_spec.h"

enum { INTERLEAVE_JOBS = 4 };

/* How long one step of each of n jobs takes when they share their devices, in ms; all advance by
 * one step in that time. Jobs have to say how long their stages take (model/job/job_spec.h). */
double interleave_period(const struct work *const *jobs, int n);

/* What a step of a job takes alone, in ms. */
double interleave_period_alone(const struct work *w);

#endif
