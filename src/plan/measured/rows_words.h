/* What tables of measured runs say in words: kinds of GPUs, precisions. */
#ifndef BRIM_PLAN_MEASURED_ROWS_WORDS_H
#define BRIM_PLAN_MEASURED_ROWS_WORDS_H
#include "plan/cluster/gpus.h"

/* A GPU as a table calls it: a name of the catalogue, or a text with one in it, as
 * "8x NVIDIA H100 96GB (500 W)". *memory_b and *power_w are what it says of them, NaN when nothing.
 * -EINVAL with a sentence. */
int words_gpu(const struct gpus *g, const char *text, const struct gpu_row **ret, double *memory_b,
              double *power_w, struct err *e) CHECK_RESULT;

/* "500 W" in a text; NaN: nothing. */
double words_power(const char *text);

/* "bf16", "FP8-MX", "amp_bf16": -1: not known. */
int words_precision(const char *text);

#endif
