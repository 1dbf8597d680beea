/* Time of matrix products and of fused attention on one GPU. */
#ifndef BRIM_PLAN_MODEL_GEMM_H
#define BRIM_PLAN_MODEL_GEMM_H
#include <stdbool.h>

#include "plan/cluster/cluster.h"

/* m x k times k x n, 'count' times beside each other in one kernel (attention's heads, experts). */
struct gemm {
    double m, n, k, count;
};

/* Seconds: the best of a few tiles, in waves over the multiprocessors, or the traffic of memory.
 * A precision that the GPU lacks counts as the next wider one that it has. */
double gemm_time(const struct gpu *g, enum plan_precision p, const struct gemm *x);

/* Bytes of a number that goes into its products: 1 of 8 bits. */
double gemm_bytes(const struct gpu *g, enum plan_precision p);

/* The dense rate that it works at: flops of that precision, or of the next wider one. */
double gemm_peak(const struct gpu *g, enum plan_precision p);

/* Causal fused attention, forward: tokens x (qk + v) dimensions for all heads of a GPU. */
struct flash {
    double queries, keys; /* tokens */
    double heads, qk_dim, v_dim, batch;
    double window; /* 0: none */
    bool first;    /* kernels of the first generation */
    bool second;   /* of the second, made for Ampere */
};

double flash_time(const struct gpu *g, const struct flash *f);

/* Its multiply-adds times two, of the causal half (or the window) only. */
double flash_flops(const struct flash *f);

#endif
