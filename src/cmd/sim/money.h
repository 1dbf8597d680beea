/* What a simulated cluster costs: energy and money. */
#ifndef BRIM_CMD_SIM_MONEY_H
#define BRIM_CMD_SIM_MONEY_H
#include "cmd/common/device_prices.h"
#include "sim/sim.h"

/* Up to the last submission: behind it a queue only drains. NaN: no figure is known of some
 * device. */
struct sim_money {
    double kwh; /* of busy devices at their power, and of idle ones where that is known; under a
                 * policy with [power] what it counted, with the nodes */
    double usd; /* of all devices, busy or not */
    double usd_idle, usd_redone; /* of that: of those that no job had; of work that was lost */
    double usd_spot;             /* and of those that spot jobs had */
};

/* -ENOMEM. */
int sim_money_find(struct sim_money *ret, struct device_prices *rates, const struct sim_result *r,
                   const struct pool *pool, struct err *e) CHECK_RESULT;

#endif
