/* Section [quota]: shares of the devices: what a class, or a team, may have at any time, and what
 * it may lend of others while they do not need it. Replicas of services and spot jobs count in no
 * share. For src/sched alone. Without such a section every job is within its share. */
#ifndef BRIM_SCHED_FEATURE_QUOTA_H
#define BRIM_SCHED_FEATURE_QUOTA_H
#include "sched/core/feature.h"
#include "sched/core/action.h"

extern const struct feature feature_quota;

/* How many slots there are, at least one, and the one in which a job counts: one for each share,
 * and the last for all without one. */
uint32_t quota_slots(const struct sched *s);
uint32_t quota_slot(const struct sched *s, uint32_t job);

/* Whether a job would be within its share; whether it may start now. */
bool quota_within(const struct sched *s, uint32_t job);
bool quota_allows(const struct sched *s, uint32_t job);

/* Count a job that has devices of its own from now on (1), or no longer (-1). */
void quota_count(struct sched *s, uint32_t job, int sign);

/* Whether the class or team of a running job has more than its share. What is left of that of a
 * job, in devices. */
bool quota_above(const struct sched *s, uint32_t job);
int64_t quota_left(const struct sched *s, uint32_t job);

/* Where a job that waits would be above its share: add that, and say so. */
bool quota_says(const struct sched *s, uint32_t job, struct str *out);

/* Why a job starts: within its share, or above it; otherwise where there are none. */
enum action_why quota_why(const struct sched *s, uint32_t job, enum action_why otherwise);

/* Make room for a job within its share: stop jobs of those above theirs, the youngest first, and
 * none without which there would be a place, too; spot jobs give way to it beside them. Nothing
 * where shares are not lent, or the job is above its own. 1 when there is a place now, 0 when there
 * cannot be: nothing was stopped then; -1 on failure. */
int quota_reclaim(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* One pass: sweeps for those within their shares until nothing more is reclaimed, then one for
 * those that borrow. Without quotas, one. */
typedef int quota_sweep_fn(struct sched *s, int64_t now_ms);
int quota_sweeps(struct sched *s, int64_t now_ms, quota_sweep_fn *sweep) CHECK_RESULT;

/* A key of [quota]; whether all fits together (quota_read.c). -EINVAL with a sentence. */
int quota_take(struct policy *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int quota_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

#endif
