/* What a table of measured runs does not say of a layout. */
#ifndef BRIM_PLAN_MEASURED_ROWS_CHOOSE_H
#define BRIM_PLAN_MEASURED_ROWS_CHOOSE_H
#include "plan/layout/layout.h"

/* Which fields nobody stated. */
struct row_free {
    bool micro_batch, vpp, pp, tp, ep; /* dp follows */
    /* Settings that could have been others than those of the layout: */
    bool recompute;    /* any level that the job can have */
    bool zero;         /* stages 0 and 1 */
    bool seq_parallel; /* both, where tp is more than 1 */
    bool overlap_tp;   /* with sequence parallelism its collectives go beside the compute */
};

/* What could have been run; all are the same where all is stated. */
struct row_range {
    struct layout likely, fastest, slowest;
};

/* Who publishes a time has tuned what he does not state. Where a degree or the micro-batch is free,
 * the likely layout is the fastest that fits, of all levels of recompute and with and without
 * ZeRO-1 and sequence parallelism where these are free; else it is *l, with the fewest settings
 * changed that let it fit, or the fastest level of recompute that does. The range has the fastest
 * layout for each setting that could have been used and fits; more recompute than in *l only where
 * it makes a layout faster or lets one fit.
 * -EINVAL with a sentence when a layout is to be found and none fits. */
int row_choose(const struct plan_job *job, const struct cluster *c, const struct row_free *f,
               const struct layout *l, struct row_range *ret, struct err *e) CHECK_RESULT;

#endif
