/* How fast devices are below a limit of power, as measured: data/power_limits.csv. */
#ifndef BRIM_PLAN_CLUSTER_CURVES_H
#define BRIM_PLAN_CLUSTER_CURVES_H
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct curve_row {
    const char *name; /* of a device */
    double limit_w, speed;
};

struct curves {
    struct arena arena;
    struct curve_row *rows; /* those of a device side by side, the full limit first */
    size_t n_rows;
};

/* Read the table. -EINVAL with "power_limits.csv:LINE: ..." for limits that do not fall, or a first
 * speed that is not 1. */
int curves_load(struct curves *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void curves_done(struct curves *c);

/* The rows of a device, whatever the case of its name; how many there are, 0: none. */
const struct curve_row *curves_find(const struct curves *c, const char *name, size_t *n);

#endif
