/* Who has what of the shares; for quota*.c alone. */
#ifndef BRIM_SCHED_FEATURE_QUOTA_PRIVATE_H
#define BRIM_SCHED_FEATURE_QUOTA_PRIVATE_H
#include "sched/core/choose_victims.h"
#include "sched/policy/policy.h"
#include "sched/feature/quota.h"

/* In slots, in thousandths of devices. */
struct quota {
    uint32_t n;    /* slots */
    uint8_t *slot; /* by number of a class or team, plus 1 */
    int64_t share[POLICY_SHARES + 1], used[POLICY_SHARES + 1];
    struct victim *victims; /* jobs that may have to stop */
    uint64_t reclaimed;     /* jobs that had to */
    bool lends;             /* jobs above their share start, too */
};

#endif
