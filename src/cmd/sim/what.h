/* What other nodes would do: brim sim --what-if and --target. */
#ifndef BRIM_CMD_SIM_WHAT_H
#define BRIM_CMD_SIM_WHAT_H
#include "cmd/sim/money.h"
#include "sim/capacity.h"

/* The pool that a change makes of one: "nodes=+16" (as most of those that there are), "+4x8:A100",
 * "-8", "-8:A100" (the last ones), several parted by commas. -EINVAL with a sentence. */
int sim_what_pool(struct pool *ret, const struct pool *from, const char *change, struct err *e)
    CHECK_RESULT;

/* How many nodes of one kind meet a target. */
struct sim_need {
    struct capacity_shape shape;
    struct capacity_answer answer;
    double usd_hour; /* what the nodes cost in an hour; NaN: no price is known */
};

enum { SIM_NEEDS = 8 };

struct sim_needs {
    struct capacity_target target;
    struct sim_need list[SIM_NEEDS];
    size_t n;
    int fewest, cheapest; /* of the list; -1: none meets the target, or no price is known */
};

/* Find it for each kind of node that there is, or for those that are named: "8:H100,4:A100" (with).
 * The policy, what fails and the threads are those of ask. Texts are in the arena. ERR_USAGE with a
 * sentence, or what capacity_find() returns. */
int sim_what_needs(struct sim_needs *ret, struct arena *a, const struct capacity_ask *ask,
                   const char *with, struct device_prices *rates, struct err *e) CHECK_RESULT;

#endif
