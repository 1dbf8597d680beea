/* The list of features. For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_LIST_H
#define BRIM_SCHED_FEATURE_LIST_H
#include "sched/core/feature.h"

/* The list: in the order in which their functions are called. NULL behind the last. */
extern const struct feature *const features[];

/* Find who has what of those that are on: bit i of on for features[i]. */
void feature_hooks_make(struct feature_hooks *h, uint32_t on);

#endif
