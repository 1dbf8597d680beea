/* Section [service]: replicas go first, and have a reserve of nodes (tiers.h). For src/sched alone.
 */
#ifndef BRIM_SCHED_FEATURE_SERVICE_H
#define BRIM_SCHED_FEATURE_SERVICE_H
#include "sched/core/feature.h"
#include "sched/place/free_capacity.h"

extern const struct feature feature_service;

/* Devices of a node that are a reserve. */
int service_reserve(const struct sched *s, uint32_t node);

/* By node: what the owners of a reserve have there, in thousandths of devices; NULL: there is no
 * reserve. */
const int32_t *service_had(const struct sched *s);

/* What others leave free of a node when its owners have so much there; at present, 0 without a
 * reserve. All that is kept on all nodes. */
int service_keeps(const struct sched *s, uint32_t node, int32_t had);
int service_keeps_now(const struct sched *s, uint32_t node);
int64_t service_keeps_all(const struct sched *s);

/* What a part of a running job takes there of a reserve that is its own, in thousandths. */
int32_t service_owned(const struct sched *s, uint32_t job, const struct part *part);

#endif
