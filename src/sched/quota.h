/* Shares of the devices: what a class, or a team, may have at any time, and what it may lend of
 * others while they do not need it. For src/sched alone. */
#ifndef BRIM_SCHED_QUOTA_H
#define BRIM_SCHED_QUOTA_H
#include "base/ini.h"
#include "model/machine/pool.h"
#include "model/job/job_spec.h"
#include "sched/policy.h"
#include "sched/choose_victims.h"

struct sched;

/* Who has what: in slots, one by share, and the last for all without one. In thousandths of
 * devices. */
struct quota {
    uint32_t n;    /* slots; 0: there are no quotas */
    uint8_t *slot; /* by number of a class or team, plus 1 */
    int64_t share[POLICY_SHARES + 1], used[POLICY_SHARES + 1];
    struct victim *victims; /* jobs that may have to stop */
    uint64_t reclaimed;     /* jobs that had to */
    bool lends;             /* jobs above their share start, too */
};

/* A key of [quota]. -EINVAL with a sentence. */
int quota_take(struct policy_quota *q, const struct ini_entry *at, struct err *e) CHECK_RESULT;

/* Find the slots. -ENOMEM, or -EINVAL with a sentence when there are fewer devices than shares. */
int quota_open(struct sched *s, struct err *e) CHECK_RESULT;

/* The slot of a job. */
uint32_t quota_slot(const struct sched *s, uint32_t job);

/* Whether a job would be within its share; whether it may start now. */
bool quota_within(const struct sched *s, uint32_t job);
bool quota_allows(const struct sched *s, uint32_t job);

/* Count a job that starts (1) or no longer runs (-1). Replicas of services and spot jobs count in
 * no share. */
void quota_count(struct sched *s, uint32_t job, int sign);

/* Whether the class or team of a running job has more than its share. */
bool quota_above(const struct sched *s, uint32_t job);

/* The sum of all shares, in devices. */
int64_t quota_shares(const struct sched *s);

/* Make room for a job within its share: stop jobs of those above theirs, the youngest first, and
 * none without which there would be a place, too; spot jobs give way to it beside them. 1 when
 * there is one now, 0 when there cannot be: nothing was stopped then; -1 on failure. */
int quota_reclaim(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* One pass: sweeps for those within their shares until nothing more is reclaimed, then one for
 * those that borrow. */
typedef int quota_sweep_fn(struct sched *s, int64_t now_ms);
int quota_pass(struct sched *s, int64_t now_ms, quota_sweep_fn *sweep) CHECK_RESULT;

#endif
