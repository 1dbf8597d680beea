/* What is assumed of a GPU that nobody has measured, and of programs on it. */
#ifndef BRIM_PLAN_CLUSTER_CONSTANTS_H
#define BRIM_PLAN_CLUSTER_CONSTANTS_H
#include <stdbool.h>

#include "plan/cluster/cluster.h"

/* Replace the fitted figures that are NaN or 0 by those of the measured GPU that is most like it:
 * with 8-bit floats an H100, without an A100. Returns whether any was. */
bool gpu_assume(struct gpu *g);

/* A limit of power below the GPU's own: its clock falls with the cube root. For one that has all
 * figures, fitted or assumed. */
void gpu_limit(struct gpu *g, double power_w);

/* Hopper and what came after it, with stacks whose collectives of tensor parallelism go beside the
 * products (Transformer Engine's userbuffers) unless somebody says otherwise. */
bool gpu_is_new(const struct gpu *g);

#endif
