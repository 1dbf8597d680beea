/* What a layout is to run on: GPUs of one kind in nodes, the fast domain between some of them, and
 * the network between nodes. Rates are bytes a second in one direction; absent is NaN. */
#ifndef BRIM_PLAN_CLUSTER_CLUSTER_H
#define BRIM_PLAN_CLUSTER_CLUSTER_H
#include "base/err.h"

enum plan_precision {
    PLAN_FP16,
    PLAN_BF16,
    PLAN_FP8,        /* a scale for each tensor */
    PLAN_FP8_ROWS,   /* for each row and column: torchao's rowwise */
    PLAN_FP8_BLOCKS, /* for 1 x 128 numbers, and 128 x 128 of weights: DeepSeek-V3's */
    PLAN_MXFP8,
    PLAN_NVFP4,
    PLAN_PRECISIONS
};

/* Where the rates of a GPU's matrix products come from, from the least sure to the surest. */
enum plan_rates {
    RATES_LIKE,       /* of the measured GPU that is most like it */
    RATES_KERNELS,    /* of products that somebody published, scaled as on that GPU */
    RATES_OPERATIONS, /* of timed operations, scaled so */
    RATES_RUNS,       /* of measured steps */
};

enum { GPU_NAME = 48, CLUSTER_ASSUMED = 160, CLUSTER_PRICE_MOST = 1000000 };

/* A kind of GPU: data/gpus.csv, with what was fitted to measurements; NaN where nothing was. */
struct gpu {
    char name[GPU_NAME];
    double flops[PLAN_PRECISIONS]; /* dense, a second, as vendors state them; NaN: it has none */
    double memory_b, memory_rate;
    double link_rate; /* of its ports in the fast domain together */
    int domain;       /* GPUs that its links join at most; 1: none */
    int sms;          /* multiprocessors; 0: not known */
    double tdp_w;
    /* Fitted: a matrix product takes t0_s + the worse of computing and moving. */
    double gemm_best[PLAN_PRECISIONS]; /* share of flops that the best tiles reach */
    double gemm_k0[PLAN_PRECISIONS];   /* a depth of k0 takes as long as an empty one besides */
    double gemm_sustained[PLAN_PRECISIONS]; /* share of flops that its power leaves over a step */
    double gemm_t0_s;
    double memory_best;     /* share of memory_rate */
    double attention_best;  /* share of flops in fused attention, at 4,096 tokens */
    double attention_first; /* the same of its first generation of kernels */
    double attention_back;  /* rate of the backward pass next to the forward one */
    double attention_third; /* the same of kernels since FlashAttention-3 */
    double attention_half;  /* tokens at which it reaches half of what it has at the longest */
    double launch_s;        /* of a kernel, on the host: the floor of small layers */
    double link_best;       /* share of link_rate in large collectives of many GPUs */
    double link_few;        /* of n GPUs that gather, a share of link_few / n of it is missing */
    double link_fill_s;     /* what a large collective takes until it flows */
    double spread; /* standard deviation of a micro-batch's time from GPU to GPU, over its mean */
    enum plan_rates rates;
};

struct cluster {
    struct gpu gpu;
    int nodes, per_node; /* GPUs of a node */
    int domain;          /* GPUs of a fast domain: per_node, or more in a rack */
    double link_rate;    /* of one GPU in it */
    int nics;            /* of a node */
    double nic_rate;     /* of one */
    double nic_latency_s, link_latency_s;
    int leaf_nodes;                /* nodes below one switch; 0: one flat network */
    double oversubscribed;         /* of links above the leaves: 1 none, 2 half of the rate */
    double price;                  /* of a GPU for an hour; NaN: not known */
    double power_w;                /* limit of one GPU below its own; 0: none */
    double mtbf_s;                 /* of one GPU; NaN: not known */
    char assumed[CLUSTER_ASSUMED]; /* what nobody said, for the user: "8 ports of 400 Gbit/s a node,
                                      as in a DGX H100"; "": nothing */
};

/* What cannot be: -EINVAL with a sentence. */
int cluster_check(const struct cluster *c, struct err *e) CHECK_RESULT;

#endif
