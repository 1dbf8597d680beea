/* What devices draw, for policies with a cap of power. */
#ifndef BRIM_CMD_SIM_POWER_H
#define BRIM_CMD_SIM_POWER_H
#include "base/arena.h"
#include "cmd/common/device_prices.h"
#include "model/machine/pool.h"
#include "sched/policy/policy.h"
#include "sched/core/watts.h"

/* By kind of the pool, in the arena; NULL for a policy without [power]. -ENOMEM, or -EINVAL with a
 * sentence that names a kind of which too little is known. */
int sim_power_find(const struct watts **ret, struct arena *a, const struct policy *policy,
                   const struct pool *pool, struct device_prices *rates, struct err *e)
    CHECK_RESULT;

#endif
