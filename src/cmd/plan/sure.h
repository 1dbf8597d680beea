/* How sure a prediction is: how far measured runs of its class were off, and where it goes beyond
 * all of them. */
#ifndef BRIM_CMD_PLAN_SURE_H
#define BRIM_CMD_PLAN_SURE_H
#include "base/str.h"
#include "cmd/plan/search.h"

struct plan_sure {
    const char *runs;  /* "dense models on Hopper with Megatron-LM"; NULL: too few were compared */
    double mean, most; /* error of their steps; NaN without any */
};

/* The class of a layout of the job. */
struct plan_sure plan_sure_of(const struct plan_ask *a, const struct layout *l);

/* A sentence with the error to expect, and one for each doubt. */
void plan_sure_text(const struct plan_ask *a, const struct plan_one *one, struct str *out);

#endif
