/* What brim optimize is to raise, by its options. */
#ifndef BRIM_CMD_OPTIMIZE_GOAL_OPTION_H
#define BRIM_CMD_OPTIMIZE_GOAL_OPTION_H
#include "base/clock.h"
#include "optimize/goal.h"

struct optimize_goal_words {
    const char *goal;                   /* NULL: throughput */
    const char *price_hour, *price_kwh; /* NULL: not told */
    const char *fake;                   /* as in struct sampler_env */
};

extern const char *const optimize_goals[];

/* 0; ERR_USAGE, or a negative errno when the goal needs a power meter and there is none: with a
 * sentence. */
int optimize_goal(const struct optimize_goal_words *w, const struct clock *clock, struct goal *ret,
                  struct err *e) CHECK_RESULT;

#endif
