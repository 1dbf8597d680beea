/* How a model is laid out over GPUs, and the job that it does. */
#ifndef BRIM_PLAN_LAYOUT_LAYOUT_H
#define BRIM_PLAN_LAYOUT_LAYOUT_H
#include <stdbool.h>

#include "plan/cluster/cluster.h"
#include "plan/layout/finetune.h"
#include "plan/shape/shape.h"

enum context_kind {
    CONTEXT_RING,    /* keys and values go round while attention works */
    CONTEXT_ULYSSES, /* all-to-all from tokens to heads and back */
    CONTEXT_GATHER,  /* all keys and values are gathered first (Llama 3) */
};

/* In the order of the memory that is left. */
enum recompute {
    RECOMPUTE_NONE,
    RECOMPUTE_SELECTIVE, /* attention between the projections */
    RECOMPUTE_NORMS,     /* what norms and the activations of experts give */
    RECOMPUTE_MLP,       /* the MLP, or the experts with their collectives, from their input */
    RECOMPUTE_FULL,      /* whole layers, from their input */
};

enum schedule {
    SCHEDULE_1F1B, /* interleaved when vpp > 1 */
    SCHEDULE_GPIPE,
    SCHEDULE_ZERO_BUBBLE, /* ZB-H1: weight gradients fill the bubble, memory as in 1F1B */
};

/* Layers that the first and the last stage of a pipeline have fewer than those between, for the
 * embedding, and for the head and the loss. Where it does not come out, the first stages have one
 * more. With chunks, the first and the last chunk have them fewer. */
struct stage_split {
    int first, last;
};
extern const struct stage_split stages_even, stages_ends; /* 0 and 0; 1 and 1 */

/* Ranks lie as Megatron lays them: tp next to each other, then cp, then dp, then pp; experts over
 * tp x cp x dp: etp next to each other, then ep. */
struct layout {
    int tp, pp, vpp, cp, ep, etp, dp;
    enum context_kind context;
    int micro_batch;
    enum recompute recompute;
    int zero;  /* 0 none, 1 optimizer states, 2 and gradients, 3 and weights (FSDP) */
    int shard; /* GPUs of dp x cp over which zero divides; 0: all (otherwise HSDP, MiCS) */
    enum schedule schedule;
    struct stage_split less;
    bool seq_parallel;
    bool overlap_dp; /* gradients go while the backward pass still works */
    bool overlap_tp; /* collectives in pieces beside the matrix products */
    bool overlap_ep; /* all-to-all of experts beside the compute of another micro-batch */
    bool overlap_pp; /* sends and receives beside the compute */
    bool offload;    /* optimizer states are in the host's memory, and its processors step them */
};

enum plan_attention {
    ATTENTION_PLAIN,  /* scores in memory, a softmax kernel */
    ATTENTION_FLASH,  /* FlashAttention and its like, the forward pass made for the GPU */
    ATTENTION_SECOND, /* FlashAttention-2, made for Ampere: what PyTorch has */
    ATTENTION_FIRST,  /* their first generation (Triton, ALiBi), not made for this GPU */
    ATTENTION_THIRD,  /* FlashAttention-3, cuDNN 9.1: the backward pass is made for Hopper, too */
};

/* The program that trains, where it makes a difference that a layout does not say. */
enum plan_engine {
    ENGINE_MEGATRON,
    ENGINE_TORCH,     /* PyTorch's own parallelism: torchtitan, FSDP */
    ENGINE_DEEPSPEED, /* with its pipeline and its optimizers */
};

/* What is trained, apart from the layout. */
struct plan_job {
    struct shape shape;
    int seq;
    int global_batch; /* sequences of a step */
    enum plan_precision precision;
    enum plan_attention attention;
    enum plan_engine engine;
    int gradient_b;  /* bytes of a gradient while it is summed: 2 or 4 */
    int moment_b;    /* of each of Adam's two moments: 2, or 4; 0: 4 */
    bool fused;      /* norms, activations and adds are fused (Transformer Engine, torch.compile) */
    bool graphs;     /* CUDA graphs: the host's time for launches is hidden */
    bool fused_loss; /* the loss works in chunks: no logits of a whole micro-batch in memory */
    double logit_b;  /* bytes of a logit when the loss takes most; 0: 8, as Megatron's in place */
    double
        again; /* share of the forward pass that RECOMPUTE_SELECTIVE repeats with fused attention,
                     as PyTorch's does (every other product: 0.5); 0: nothing */
    struct finetune tune; /* what is trained, where not all of it is */
    double imbalance;     /* load of the fullest expert rank over the mean; 1: none */
};

/* -EINVAL with a sentence when the layout cannot be: degrees that do not divide, more GPUs than
 * there are, a batch that does not come out. */
int layout_check(const struct layout *l, const struct plan_job *job, const struct cluster *c,
                 struct err *e) CHECK_RESULT;

/* GPUs that it takes. */
int layout_gpus(const struct layout *l);

/* Whether each GPU has all weights and gradients of its stage from the first micro-batch to the
 * last, and gathers and scatters once a step, though ZeRO divides them. PyTorch's pipelines set
 * FSDP so (torch/distributed/pipelining/stage.py): it neither reshards nor reduces before the end.
 * No other program has ZeRO-3 in a pipeline: DeepSpeed and Megatron-LM refuse it. */
bool layout_keeps_stage(const struct layout *l, const struct plan_job *job);

/* The same of gradients alone: what micro-batches of a pipeline add to is whole until the last. */
bool layout_keeps_gradients(const struct layout *l, const struct plan_job *job);

/* Micro-batches of a pipeline in a step. */
int layout_micro_batches(const struct layout *l, const struct plan_job *job);

/* Layers of a stage; stages count from 0. */
int layout_layers(const struct layout *l, int layers, int stage);

/* Layers, and those that the ends have fewer: what is divided over the stages. */
int layout_slots(const struct layout *l, int layers);

/* Layers of a chunk, of which the first pp stages have one each, then the next pp. */
int layout_chunk_layers(const struct layout *l, int layers, int chunk);

bool stage_split_is(const struct stage_split *a, const struct stage_split *b);

/* Bytes of the optimizer's states for a parameter: the weight in 32 bits, both moments, and with
 * fp16 in Megatron-LM the gradient in 32 bits. */
double layout_state_bytes(const struct plan_job *job);

/* GPUs that hold the same expert weights. */
int layout_expert_dp(const struct layout *l);

#endif
