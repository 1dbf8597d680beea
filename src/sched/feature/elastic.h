/* Section [elastic]: jobs that can use more or fewer devices than they asked for. One that waits
 * may start on fewer; those that run give some to others that wait, and take more that nobody waits
 * for. Each resize costs them a start. For src/sched alone. Where no job is elastic nothing
 * happens. */
#ifndef BRIM_SCHED_FEATURE_ELASTIC_H
#define BRIM_SCHED_FEATURE_ELASTIC_H
#include "sched/core/feature.h"
#include "sched/place/free_capacity.h"

extern const struct feature feature_elastic;

/* Whether jobs are resized, so that those that run may have given devices up. */
bool elastic_resizes(const struct sched *s);

/* A job is taken up at a place: it has as many devices as that, which may be fewer than it asked
 * for. Before the place is taken. */
void elastic_arrive(struct sched *s, uint32_t job, const struct fit *place);

/* Whether a job could ever run on fewer devices than it asked for: nothing runs. */
bool elastic_possible(struct sched *s, uint32_t job);

/* A key of [elastic], or its head; whether all fits together (elastic_read.c). -EINVAL with a
 * sentence. */
int elastic_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int elastic_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
