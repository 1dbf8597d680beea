/* Time of a training step, by parts. */
#ifndef BRIM_PLAN_MODEL_STEP_H
#define BRIM_PLAN_MODEL_STEP_H
#include "plan/model/layer.h"
#include "plan/model/memory.h"

struct plan_step {
    double time_s;
    double part[PARTS]; /* in sum time_s; what each means: plan_step_part_why() */
    double tokens_s;    /* of one GPU */
    double model_flops; /* of one GPU, a second: without recompute, attention's half seen */
    double mfu;         /* as papers count it: all of attention, over the vendor's flops */
    int micro_batches;
};

/* What does not change from layout to layout of one cell (plan/search/search.h). */
struct plan_tables {
    struct layer_costs costs;
    struct layer_bytes bytes;
    double flops; /* of a step, plan_step_flops() */
};

void plan_tables_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                      struct plan_tables *ret);

/* Of a layout that layout_check() passed, with the tables of its cell. */
void plan_step_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                    const struct plan_tables *t, struct plan_step *ret);

/* Floating-point operations of a step as papers count them: 6 for a parameter and token, and all
 * of attention. */
double plan_step_flops(const struct plan_job *job);

/* Of these, what goes into attention between the projections: causal, half of it is done, and some
 * papers count no more. */
double plan_step_attention_flops(const struct plan_job *job);

#endif
