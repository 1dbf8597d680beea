/* What tables of measured runs say in words: kinds of GPUs, networks, precisions. */
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

/* "800Gb/s", "4x100 Gbps", "8xHDR", "400 Gb/s per GPU", "Omni-Path": bytes a second of all network
 * cards of a node with so many GPUs, 0: not said. Where the rates of several GPUs are stated, the
 * one behind the name of this one. */
double words_network(const char *text, const char *gpu, int per_node);

/* "bf16", "FP8-MX", "amp_bf16": -1: not known. */
int words_precision(const char *text);

#endif
