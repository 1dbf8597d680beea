/* Where the data of jobs are: a job goes to the best of the places that have them, if several are
 * as good by the policy; a start elsewhere may cost it the time to bring them. For src/sched. */
#ifndef BRIM_SCHED_FEATURE_DATA_H
#define BRIM_SCHED_FEATURE_DATA_H
#include "sched/core/feature.h"
#include "sched/place/free_capacity.h"

extern const struct feature feature_data;

/* Where the data of a job are; NULL: nobody said. Whether a running job has a node where they are
 * not. */
const struct nearby *data_of(const struct sched *s, uint32_t job);
bool data_is_away(const struct sched *s, uint32_t job);

/* What a job that waits pays at most for its data. */
int64_t data_most_ms(const struct sched *s, uint32_t job);

#endif
