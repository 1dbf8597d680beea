/* Deadlines (order = deadline): who cannot meet its own any more, by what is known to be left of
 * it, goes as if it had none, so that it pushes nobody else over theirs. For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_DEADLINE_H
#define BRIM_SCHED_FEATURE_DEADLINE_H
#include "sched/core/feature.h"

extern const struct feature feature_deadline;

#endif
