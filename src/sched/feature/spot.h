/* Section [spot]: jobs that run on what nobody else wants (tiers.h). For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_SPOT_H
#define BRIM_SCHED_FEATURE_SPOT_H
#include "sched/core/feature.h"

extern const struct feature feature_spot;

#endif
