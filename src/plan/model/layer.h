/* Time of what one GPU does for one micro-batch in one layer, and in the embedding and the head. It
 * depends on few of a layout's fields (micro_batch, tp, cp, ep, etp, context, recompute,
 * seq_parallel and the overlaps but that of dp), so a search makes it once for many layouts. */
#ifndef BRIM_PLAN_MODEL_LAYER_H
#define BRIM_PLAN_MODEL_LAYER_H
#include <stdint.h>

#include "plan/layout/layout.h"

/* What the time of a step is made of, in the order in which it is told. */
enum step_part {
    PART_GEMM,       /* matrix products */
    PART_ATTENTION,  /* scores and their sums */
    PART_TRAFFIC,    /* norms, activations, adds, dropout: memory traffic */
    PART_LAUNCH,     /* the GPU waits for the host to launch */
    PART_RECOMPUTE,  /* forward again, in the backward pass */
    PART_HEAD,       /* embedding, head and loss */
    PART_ACCUMULATE, /* gradients are added to those of the micro-batch before */
    PART_TP,         /* collectives of tensor parallelism that nothing hides */
    PART_CP,         /* of context parallelism */
    PART_EP,         /* all-to-all of experts */
    PART_PP,         /* sends between stages */
    PART_BUBBLE,     /* stages that wait for others: filling, draining, uneven layers */
    PART_DP,         /* gradients and weights over replicas, exposed */
    PART_STRAGGLERS, /* replicas wait for the slowest of them */
    PART_OPTIMIZER,
    PARTS
};

/* "matrix products"; a sentence with the assumption behind it. */
const char *step_part_name(enum step_part p);
const char *plan_step_part_why(enum step_part p);

/* One layer and one micro-batch; 'part' of both passes, in sum forward + backward. */
struct layer_time {
    double forward, backward; /* with what is recomputed */
    double part[PARTS];
    double weight_gradient; /* the part of backward that a zero-bubble schedule can put off */
};

struct layer_costs {
    struct layer_time dense, expert; /* all 0 when the model has none */
    struct layer_time head;          /* with the loss: on the last stage */
    struct layer_time embedding;     /* on the first */
};

/* Bytes that the loss reads and writes for a logit in a pass. */
double layer_loss_bytes(const struct plan_job *job, bool backward);

void layer_costs(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                 struct layer_costs *ret);

#endif
