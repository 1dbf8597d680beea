/* What programs do where nobody says otherwise: the same for what is planned and for rows of
 * measurements, but that rows may be older. */
#ifndef BRIM_PLAN_LAYOUT_USUAL_H
#define BRIM_PLAN_LAYOUT_USUAL_H
#include "plan/layout/layout.h"

/* What kernels there were. */
enum usual_time {
    USUAL_PLAIN, /* before 2023: each for itself */
    USUAL_FUSED, /* attention and norms are fused */
    USUAL_TODAY, /* since August 2024: with FlashAttention-3, or cuDNN's of the same speed */
};

/* Kernels, gradients, moments, loss and the load of experts, of a job whose engine, precision,
 * sequence and shape are set; 'kernels' are those of an engine that may be another. sharded: ZeRO-3
 * without a pipeline, with which PyTorch and DeepSpeed scatter gradients of 16 bits. */
void usual_job(struct plan_job *job, enum plan_engine kernels, enum usual_time time, bool sharded);

/* The same with torch.compile. */
void usual_compiled(struct plan_job *job, enum plan_engine kernels);

/* Whether collectives are beside the compute: of data parallelism with a ZeRO stage, of tensor
 * parallelism where it has sequence parallelism (fresh: on Hopper or later), and the sends of
 * stages that have chunks. */
bool usual_hides_dp(const struct plan_job *job, int zero, bool current);
bool usual_hides_tp(const struct plan_job *job, bool fresh);
bool usual_hides_pp(bool current);

#endif
