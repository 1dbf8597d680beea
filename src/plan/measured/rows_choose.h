/* What a table of measured runs does not say of a layout. */
#ifndef BRIM_PLAN_MEASURED_ROWS_CHOOSE_H
#define BRIM_PLAN_MEASURED_ROWS_CHOOSE_H
#include "plan/layout/layout.h"

/* Which fields nobody stated. */
struct row_free {
    bool micro_batch, vpp, pp, tp, ep; /* dp follows */
    bool recompute;                    /* none that is needed */
};

/* Who publishes a time has tuned what he does not state: *l becomes the fastest that fits, with as
 * little recompute as lets any fit, if that is free too. -EINVAL with a sentence when none does. */
int row_choose(const struct plan_job *job, const struct cluster *c, const struct row_free *f,
               struct layout *l, struct err *e) CHECK_RESULT;

#endif
