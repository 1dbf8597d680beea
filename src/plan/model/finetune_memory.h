/* Memory of fine-tuning: frozen weights that may have 4 bits, adapters with their states, and what
 * PyTorch keeps for the backward pass when the inputs of frozen matrices are not needed. */
#ifndef BRIM_PLAN_MODEL_FINETUNE_MEMORY_H
#define BRIM_PLAN_MODEL_FINETUNE_MEMORY_H
#include "plan/model/memory.h"

/* Of a job with adapters: what a layer and the ends keep, in place of what layer_bytes() made of
 * them. */
void finetune_bytes(const struct plan_job *job, const struct layout *l, struct layer_bytes *b);

/* Of any fine-tuning: weights, gradients, states and what is gathered or unpacked. */
void finetune_states(const struct plan_job *job, const struct layout *l,
                     const struct layer_bytes *b, struct memory *m);

/* What its programs take of a GPU beside CUDA's context. */
double finetune_context(const struct plan_job *job);

/* Weights that are trained, of 'params' of a job's own. */
double finetune_trained(const struct plan_job *job, double params);

/* Bytes of all weights, of which 'all' are those without fine-tuning. */
double finetune_weights(const struct plan_job *job, double all);

/* Bytes that adapters and unpacked weights move in a layer, in the forward and in the backward
 * pass; 0 without adapters. */
double finetune_forward_traffic(const struct plan_job *job, double tokens);
double finetune_backward_traffic(const struct plan_job *job, double tokens);

#endif
