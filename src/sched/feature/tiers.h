/* Replicas of services, batch jobs and spot jobs beside each other. A policy's [service] and [spot]
 * name classes; a job of neither is batch. Replicas go first: devices of nodes are kept for them
 * (their reserve), which batch leaves free. Spot jobs run on what is free, of the reserve too, and
 * give way to both others. Here is what service.c and spot.c share. For src/sched alone. */
#ifndef BRIM_SCHED_FEATURE_TIERS_H
#define BRIM_SCHED_FEATURE_TIERS_H
#include "base/err.h"
#include "sched/policy/policy.h"
#include "sched/core/sched_job.h"

struct ini_entry;
struct sched;

/* Room for what the two share, where it is not there yet. -ENOMEM. */
int tiers_open(struct sched *s, struct err *e) CHECK_RESULT;

/* The jobs of these classes are of a tier. */
void tiers_name(struct sched *s, const struct policy_classes *c, enum tier tier);

/* The place of a job's class in its section. */
size_t tiers_number(const struct sched *s, uint32_t job);

/* Devices by number or per cent of the pool's. Those that a job needs, in thousandths. */
int64_t tiers_devices(const struct sched *s, const struct policy_devices *d);
int64_t tiers_needs(const struct sched *s, uint32_t job);

/* A job of a tier that is not batch waits from now on, or no longer does. */
void tiers_queue(struct sched *s, uint32_t job);
void tiers_unqueue(struct sched *s, uint32_t job);

/* Find a place for one, and why it has it. 1, 0, -1. */
typedef int tiers_find_fn(struct sched *s, uint32_t job, int64_t now_ms, uint8_t *why);

/* Start those of a tier that wait and find a place, in the order of their submission. -ENOMEM. */
int tiers_sweep(struct sched *s, int64_t now_ms, enum tier tier, tiers_find_fn *find) CHECK_RESULT;

/* A key of [service] or [spot], or its head (tiers_read.c). -EINVAL with a sentence. */
int service_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int spot_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;

/* Whether what the sections [service], [spot] and [power] say goes with the rest of a policy
 * -EINVAL with a sentence. */
int tiers_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
