/* Limits of options, for what parses them and what prints them. */
#ifndef BRIM_BASE_OPT_PRIVATE_H
#define BRIM_BASE_OPT_PRIVATE_H
#include "base/opt.h"

struct opt_limit {
    char text[32];
};

/* Whether its value may be left out, and otherwise stands behind '='. */
bool opt_may_stand_alone(const struct opt *o);

/* Whether the row says what the least or the most is. */
bool opt_has_limits(const struct opt *o);

/* A value of that option as the command line takes it: "8", "250ms". */
struct opt_limit opt_limit(const struct opt *o, int64_t value);

#endif
