#include "plan/model/memory.h"

#include <math.h>
#include <string.h>

#include "plan/model/eager.h"
#include "plan/model/finetune_memory.h"

/* The context of CUDA with its kernels and cuBLAS's workspace, and what a communicator of NCCL
 * keeps; measured tables differ by some hundred MB around these. */
static const double context_b = 0.9e9, communicator_b = 0.25e9;
/* DeepSpeed's buckets: reduce_bucket_size and allgather_bucket_size are 5e8 numbers each if nobody
 * says otherwise. */
static const double bucket_numbers = 5e8, buckets = 2;
/* Of what the allocator hands out and takes back, what lies in gaps. */
static const double gaps = 0.04;

/* ---- activations ---- */

/* Of the attention between the projections (kept unless recomputed), bytes a token on a GPU. */
static double core_bytes(const struct plan_job *job, const struct layout *l)
{
    const struct shape *s = &job->shape;
    double heads = (double)s->heads / l->tp;

    if (job->attention != ATTENTION_PLAIN)
        return 4 * heads; /* sums of exponentials, 32 bits */
    return heads * job->seq * (s->dropout ? 5 : 2);
}

/* Bytes of a number that goes into a matrix product: Transformer Engine keeps it in the format of
 * the product, torchao in 16 bits. */
static double input_bytes(const struct plan_job *job)
{
    return job->precision >= PLAN_FP8 && job->engine == ENGINE_MEGATRON ? 1 : 2;
}

/* What the projections work on and leave. */
static double projection_bytes(const struct plan_job *job, const struct layout *l)
{
    const struct shape *s = &job->shape;
    double t = l->tp, heads = s->heads / t, kv = fmax(s->kv_heads / t, 1);

    if (s->attention != SHAPE_LATENT)
        return s->head_dim * (2 * heads + 4 * kv + input_bytes(job) * heads);
    return 2.0 * (2 * s->q_rank + 2 * s->kv_rank + s->rope_dim) +
           2 * heads * (2 * (s->nope_dim + s->rope_dim) + 2 * s->v_dim);
}

/* lean: without what the activations give. */
static double expert_bytes(const struct plan_job *job, const struct layout *l, bool lean)
{
    const struct shape *s = &job->shape;
    double copies = (double)s->active / l->tp * fmax(job->imbalance, 1);
    double in = input_bytes(job), wide = (s->gated ? 4 : 2) + (lean ? 0 : in);

    /* Rows as they were received and returned; up, gate and product of each expert; the router's
     * scores in 32 bits. */
    return copies * (2.0 * s->hidden + l->etp * (in * s->hidden) + wide * s->expert_ffn) +
           wide * s->shared_ffn / l->tp + 4.0 * s->experts / l->tp;
}

double memory_layer(const struct plan_job *job, const struct layout *l, bool experts,
                    enum recompute recompute)
{
    const struct shape *s = &job->shape;
    double tokens = (double)job->seq / l->cp * l->micro_batch, h = s->hidden;
    double out = l->seq_parallel ? 1.0 / l->tp : 1, in = input_bytes(job), bytes;

    if (recompute == RECOMPUTE_FULL)
        return 2 * tokens * h * out;
    /* Inputs of the norms and of the projections behind them; masks of dropout. */
    bytes = h * out * ((s->parallel ? 1 : 2) * (2 + in) + (s->dropout ? 2 : 0));
    if (recompute == RECOMPUTE_NONE && eager_is(job))
        bytes += h * out * (s->parallel ? 1 : 2) * eager_norm_kept();
    if (recompute == RECOMPUTE_NORMS)
        bytes -= h * out * (s->parallel ? 1 : 2) * in;
    bytes += projection_bytes(job, l);
    if (recompute != RECOMPUTE_MLP && experts)
        bytes += expert_bytes(job, l, recompute == RECOMPUTE_NORMS);
    else if (recompute != RECOMPUTE_MLP)
        bytes += ((s->gated ? 4 : 2) + in) * s->ffn / l->tp;
    if (recompute != RECOMPUTE_SELECTIVE || job->attention != ATTENTION_PLAIN)
        bytes += core_bytes(job, l);
    if (recompute == RECOMPUTE_SELECTIVE && job->attention != ATTENTION_PLAIN)
        bytes = fmax(bytes * (1 - job->again), 2 * h * out);
    return tokens * bytes;
}

double memory_in_flight(const struct layout *l, int micro_batches, int stage)
{
    /* Overlapped with the backward pass of one, the forward pass of another keeps a chunk more. */
    double chunks, m = micro_batches, more = l->overlap_ep ? 1 : 0;

    if (l->schedule == SCHEDULE_GPIPE)
        return m;
    if (l->pp == 1)
        return fmin(1 + more, m);
    if (l->vpp == 1)
        return fmin(l->pp - stage + more, m);
    chunks = 2.0 * (l->pp - stage - 1) + (l->vpp - 1.0) * l->pp + 1 + more;
    return fmin(chunks, m * l->vpp) / l->vpp;
}

/* ---- parameters ---- */

void layer_bytes(const struct plan_job *job, const struct layout *l, struct layer_bytes *ret)
{
    const struct shape *s = &job->shape;
    const struct shape_params p = shape_count(s);
    double tokens = (double)job->seq / l->cp * l->micro_batch;
    double out = l->seq_parallel ? 1.0 / l->tp : 1, layers = p.dense_layers + p.expert_layers;
    bool dense = p.dense_layers > 0, expert = p.expert_layers > 0;

    memset(ret, 0, sizeof(*ret));
    if (dense)
        ret->kept_dense = memory_layer(job, l, false, l->recompute);
    if (expert)
        ret->kept_expert = memory_layer(job, l, true, l->recompute);
    if (l->recompute == RECOMPUTE_FULL)
        ret->work = memory_layer(job, l, expert, RECOMPUTE_NONE);
    else if (l->recompute == RECOMPUTE_SELECTIVE && job->attention == ATTENTION_PLAIN)
        ret->work = tokens * core_bytes(job, l);
    else if (l->recompute == RECOMPUTE_SELECTIVE)
        ret->work = job->again * memory_layer(job, l, expert, RECOMPUTE_NONE);
    else if (l->recompute != RECOMPUTE_NONE)
        ret->work = memory_layer(job, l, expert, RECOMPUTE_NONE) -
                    memory_layer(job, l, expert, l->recompute);
    ret->embedding = s->dropout ? tokens * s->hidden * out : 0;
    ret->head = 4 * tokens * s->hidden * out; /* inputs of the last norm and of the head */
    /* 16 bits, 32 bits, and the gradient that takes the place of the first. */
    ret->logits = tokens * s->vocab / l->tp *
                  (job->fused_loss    ? 1
                   : job->logit_b > 0 ? job->logit_b
                                      : 8);
    ret->dense_params = (p.attention + p.mlp) / l->tp + p.norms;
    ret->expert_params = (p.attention + p.shared) / l->tp + p.norms + p.router;
    ret->own_experts = p.expert * s->experts / l->ep / l->etp;
    ret->embedding_params = p.embedding / l->tp;
    ret->head_params = (s->tied ? (double)s->vocab * s->hidden : p.head) / l->tp;
    ret->final_norm = p.final_norm;
    ret->expert_share = expert ? p.expert_layers / fmax(layers - s->dense_first, 1) : 0;
    if (job->tune.kind != FINETUNE_NONE)
        finetune_bytes(job, l, ret);
}

void memory_stage_layers(const struct plan_job *job, const struct layout *l, int stage,
                         double *dense, double *experts)
{
    const struct shape *s = &job->shape;
    int all = layout_layers(l, s->layers, stage), first = 0, every;

    *dense = all;
    *experts = 0;
    if (!s->experts)
        return;
    if (s->dense_first > 0) {
        int before = 0;

        for (int i = 0; i < stage && before < s->dense_first; i++)
            before += layout_layers(l, s->layers, i);
        first = MIN(MAX(s->dense_first - before, 0), all);
    }
    every = MAX(s->expert_every, 1);
    *experts = (double)(all - first) / every;
    *dense = all - *experts;
}

double memory_layers_params(const struct plan_job *job, const struct layout *l,
                            const struct layer_bytes *b, int stage, double dense, double experts)
{
    double params = dense * b->dense_params + experts * b->expert_params;
    bool first = stage == 0, last = stage == l->pp - 1;

    if (first)
        params += b->embedding_params;
    if (last)
        params += b->final_norm + (first && job->shape.tied ? 0 : b->head_params);
    return params;
}

double memory_stage_params(const struct plan_job *job, const struct layout *l,
                           const struct layer_bytes *b, int stage, double *own)
{
    double dense, experts;

    memory_stage_layers(job, l, stage, &dense, &experts);
    *own = experts * b->own_experts;
    return memory_layers_params(job, l, b, stage, dense, experts);
}

/* ---- a stage ---- */

static void add_states(const struct plan_job *job, const struct layout *l, double params,
                       double replicas, struct memory *m)
{
    double shard = l->shard > 0 ? fmin(l->shard, replicas) : replicas;
    bool kept = layout_keeps_stage(l, job), whole = layout_keeps_gradients(l, job);

    m->weights += 2 * params / (l->zero >= 3 && !kept ? shard : 1);
    m->gradients += job->gradient_b * params / (l->zero >= 2 && !whole ? shard : 1);
    /* Its optimizer in bf16 keeps gradients of 16 bits beside their sums. */
    if (job->engine == ENGINE_DEEPSPEED && job->gradient_b == 4)
        m->gradients += 2 * params / (l->zero >= 2 && !whole ? shard : 1);
    m->states += l->offload ? 0 : layout_state_bytes(job) * params / (l->zero >= 1 ? shard : 1);
}

/* Parameters of the largest block of a stage. */
static double block_params(const struct layer_bytes *b, bool dense, bool experts)
{
    return fmax(dense ? b->dense_params : 0, experts ? b->expert_params + b->own_experts : 0);
}

/* Two blocks' weights and the gradients of one, or the embedding's; where a stage has them all, a
 * block's weights as they arrive, and its gradients before they are added to the others. */
static double gathered_bytes(const struct plan_job *job, const struct layout *l,
                             const struct layer_bytes *b, bool dense, bool experts)
{
    double block = block_params(b, dense, experts);

    if (layout_keeps_stage(l, job))
        return 4 * fmax(block, b->embedding_params);
    return fmax(block * (4 + job->gradient_b), b->embedding_params * (2 + job->gradient_b));
}

/* Weights, gradients and states of a stage, m->stage, and what ZeRO-3 gathers. */
static void add_weights(const struct plan_job *job, const struct layout *l,
                        const struct layer_bytes *b, double dense, double experts, struct memory *m)
{
    double own = experts * b->own_experts;
    double params = memory_layers_params(job, l, b, m->stage, dense, experts);

    add_states(job, l, params, (double)l->dp * l->cp, m);
    if (own > 0)
        add_states(job, l, own, layout_expert_dp(l), m);
    if (l->zero >= 3)
        m->gathered = gathered_bytes(job, l, b, dense > 0, experts > 0);
    else if (l->zero == 2 && l->pp == 1 && l->dp * l->cp > 1)
        m->gathered = job->gradient_b * block_params(b, dense > 0, experts > 0);
    if (job->engine == ENGINE_DEEPSPEED && l->zero >= 1 && l->dp * l->cp > 1)
        m->gathered += buckets * 2 * MIN(bucket_numbers, params + own);
}

void memory_stage(const struct plan_job *job, const struct layout *l, const struct layer_bytes *b,
                  int stage, struct memory *m)
{
    double dense, experts, flight, kept;
    int groups = (l->tp > 1) + (l->pp > 1) + (l->cp > 1) + (l->ep > 1) + (l->dp * l->cp > 1);

    memset(m, 0, sizeof(*m));
    m->stage = stage;
    m->context = context_b;
    memory_stage_layers(job, l, stage, &dense, &experts);
    if (job->tune.kind == FINETUNE_NONE) {
        add_weights(job, l, b, dense, experts, m);
    } else {
        finetune_states(job, l, b, m);
        m->context += finetune_context(job);
        dense -= job->tune.frozen; /* nothing is kept of them: the backward pass ends there */
    }
    flight = memory_in_flight(l, layout_micro_batches(l, job), stage);
    kept = dense * b->kept_dense + experts * b->kept_expert + (stage == 0 ? b->embedding : 0);
    m->activations = flight * kept + b->work;
    if (stage == l->pp - 1) {
        m->activations += b->head;
        m->logits = b->logits;
    }
    m->tensors = m->weights + m->gradients + m->states + m->gathered + m->activations + m->logits;
    m->communicators = groups * communicator_b;
    m->gaps = gaps * (m->activations + m->logits);
    m->overhead = m->context + m->communicators + m->gaps;
    m->total = m->tensors + m->overhead;
}

double memory_communicator(void)
{
    return communicator_b;
}

double memory_floor(const struct layer_bytes *b)
{
    double kept = b->kept_dense > 0 && b->kept_expert > 0 ? MIN(b->kept_dense, b->kept_expert)
                                                          : b->kept_dense + b->kept_expert;

    /* A layer of one micro-batch, and what the head works in. */
    return kept + b->work + b->head + b->logits + context_b;
}

void memory_make(const struct plan_job *job, const struct layout *l, const struct layer_bytes *b,
                 struct memory *ret)
{
    /* The first has the embedding and keeps most; the second may have a layer more; the last has
     * the head. Those between are like the second, with less in flight. */
    const int stages[] = { 0, 1, l->pp - 1 };
    struct memory m;

    memory_stage(job, l, b, 0, ret);
    for (size_t i = 1; i < ARRAY_SIZE(stages); i++) {
        if (stages[i] < 1 || stages[i] >= l->pp || (i == 2 && l->pp == 2))
            continue;
        memory_stage(job, l, b, stages[i], &m);
        if (m.total > ret->total)
            *ret = m;
    }
}
