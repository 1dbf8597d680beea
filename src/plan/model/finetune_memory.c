#include "plan/model/finetune_memory.h"

#include <math.h>
#include <string.h>

/* ---- figures, fitted to the development rows of tests/fixtures/finetune.csv ---- */

/* Bytes of a logit where the loss takes most: 16 and 32 bits of it, of its logarithm, and of the
 * gradient. DeepSpeed has no autocast, so that all of them have 16 bits. */
static const double logit_b[] = {
    [FINETUNE_TRANSFORMERS] = 14, [FINETUNE_DEEPSPEED] = 6, [FINETUNE_LITGPT] = 12
};
/* RMSNorm works on a copy of 32 bits, which stays beside the input. LayerNorm keeps its input. */
static const double rms_norm_b = 6, layer_norm_b = 2;
/* bitsandbytes keeps the inputs of frozen matrices of 4 bits: once in releases of 2023, twice in
 * those of 2024. */
static const double unpacked_inputs = 1.6;
/* Libraries beside PyTorch: kernels of DeepSpeed, bitsandbytes, FlashAttention. */
static const double libraries_b = 0.3e9;

/* ---- figures that follow from how the programs work ---- */

/* A moment of 8 bits, and 32 bits for each 256 of them; two moments. */
static const double moments_8bit_b = 2 * (1 + 4. / 256);
/* DeepSpeed's ZeRO-3, where nobody says otherwise: weights that may be live, and two buckets. */
static const double live_weights_b = 2e9, buckets_b = 2e9;

static bool is_quantized(const struct finetune *f)
{
    return f->weights != FINETUNE_BF16;
}

static bool is_kind(const struct plan_job *job, enum finetune_kind kind)
{
    return job->tune.kind == kind;
}

/* ---- activations ---- */

/* Matrices of a layer: their number, and the largest of them. */
static double layer_linear(const struct shape *s, double *largest)
{
    double n = 0;

    *largest = 0;
    for (int i = 0; i < FINETUNE_MODULES; i++) {
        struct finetune_matrix m = finetune_matrix_of(s, i);

        if (1 << i == FINETUNE_QKV || 1 << i == FINETUNE_HEAD)
            continue;
        n += m.in * m.out;
        *largest = fmax(*largest, m.in * m.out);
    }
    return n;
}

/* Of attention, bytes a token. Fused attention keeps queries, keys, values and the outcome, and
 * the sums of exponentials; keys and values are repeated for heads that share them. */
static double attention_bytes(const struct plan_job *job)
{
    const struct shape *s = &job->shape;
    double q = (double)s->heads * s->head_dim, bytes = 8 * q + 4.0 * s->heads;

    /* LitGPT's values are a view, which keeps what it looks at: all three. */
    if (job->tune.program == FINETUNE_LITGPT && s->kv_heads == s->heads)
        bytes += 4 * q;
    if (job->attention == ATTENTION_PLAIN)
        bytes += 2.0 * s->heads * job->seq;
    return bytes;
}

/* The input of an adapter, which q, k and v (and gate and up) share. */
static int input_of(int module)
{
    switch (1 << module) {
    case FINETUNE_K:
    case FINETUNE_V:
    case FINETUNE_QKV:
        return 0;
    case FINETUNE_UP:
        return 5;
    default:
        return module;
    }
}

/* Of adapters, bytes a token: their inputs, behind dropout with its mask. */
static double adapter_bytes(const struct plan_job *job)
{
    const struct finetune *f = &job->tune;
    double wide = f->program == FINETUNE_TRANSFORMERS || f->program == FINETUNE_DEEPSPEED ? 4 : 2;
    unsigned seen = 0;
    double bytes = 0;

    for (int i = 0; i < FINETUNE_MODULES; i++) {
        struct finetune_matrix m = finetune_matrix_of(&job->shape, i);
        /* LitGPT has one adapter for q, k and v; PEFT has dropout for each of its own. */
        int at = f->program == FINETUNE_LITGPT && i <= 3 ? 0 : f->dropout > 0 ? i : input_of(i);

        if (!(f->modules >> i & 1) || 1 << i == FINETUNE_HEAD || seen >> at & 1)
            continue;
        seen |= 1U << at;
        bytes += m.in * (f->dropout > 0 ? wide + 1 : 2);
    }
    return bytes;
}

/* Inputs of the matrices of 4 bits that bitsandbytes keeps, bytes a token. */
static double unpacked_bytes(const struct plan_job *job)
{
    const struct shape *s = &job->shape;
    bool one_norm = s->parallel && (s->norms == 1 || s->norms == 0);

    if (job->tune.weights != FINETUNE_NF4 && job->tune.weights != FINETUNE_NF4_DQ)
        return 0;
    return unpacked_inputs *
           (2.0 * s->hidden * (one_norm ? 1 : 2) + 2.0 * s->heads * s->head_dim + 2.0 * s->ffn);
}

static double token_bytes(const struct plan_job *job)
{
    const struct shape *s = &job->shape;
    /* Norms beside each other have the same input. */
    double norms = s->parallel ? 1 : s->norms ? s->norms : 2;
    double bytes = norms * (s->norm_biases ? layer_norm_b : rms_norm_b) * s->hidden;

    bytes += attention_bytes(job) + adapter_bytes(job) + unpacked_bytes(job);
    return bytes + (s->gated ? 3 : 1) * 2.0 * s->ffn;
}

void finetune_bytes(const struct plan_job *job, const struct layout *l, struct layer_bytes *b)
{
    const struct shape *s = &job->shape;
    double tokens = (double)job->seq * l->micro_batch, layer = tokens * token_bytes(job);

    if (!is_kind(job, FINETUNE_LORA))
        return;
    b->kept_dense = l->recompute == RECOMPUTE_FULL ? 2 * tokens * s->hidden : layer;
    b->work = l->recompute == RECOMPUTE_FULL ? layer : 0;
    b->embedding = b->head = 0;
    b->logits = tokens * s->vocab * (job->fused_loss ? 1 : logit_b[job->tune.program]);
}

/* ---- states ---- */

struct widths {
    double weight, gradient, states;
};

static struct widths adapter_widths(const struct finetune *f)
{
    struct widths w = { 4, 4, 8 };

    if (f->program == FINETUNE_LITGPT)
        w = (struct widths){ 2, 2, 4 };
    else if (f->program == FINETUNE_DEEPSPEED)
        w = (struct widths){ 2, 2, 12 };
    if (f->optimizer == FINETUNE_ADAMW_8BIT)
        w.states = moments_8bit_b;
    else if (f->optimizer != FINETUNE_ADAMW)
        w.states = 0;
    return w;
}

/* Frozen weights: matrices of the layers as they are kept, and the rest, which PEFT makes 32 bits
 * wide where it prepares a model of 4 bits. */
static double frozen_bytes(const struct plan_job *job)
{
    const struct finetune *f = &job->tune;
    const struct shape *s = &job->shape;
    double largest, linear = s->layers * layer_linear(s, &largest),
                    head = (double)s->vocab * s->hidden;
    double all = shape_count(s).total, wide = 2;

    if (f->program == FINETUNE_LITGPT) {
        all += s->tied ? head : 0; /* its head is a matrix of its own, of 4 bits too */
        linear += is_quantized(f) ? head : 0;
    } else if (is_quantized(f)) {
        wide = 4;
    }
    return linear * finetune_weight_b(f->weights) + (all - linear) * wide;
}

/* Weights that are gathered or unpacked to compute with them. */
static double at_work(const struct plan_job *job, const struct layout *l)
{
    const struct finetune *f = &job->tune;
    double largest, layer = layer_linear(&job->shape, &largest), bytes = 0;

    if (f->program == FINETUNE_LITGPT)
        largest = fmax(largest, (double)job->shape.vocab * job->shape.hidden);
    if (is_quantized(f))
        bytes += 2 * largest;
    if (l->zero >= 3)
        bytes += 2 * 2 * layer;
    if (l->zero >= 3 && f->program == FINETUNE_DEEPSPEED)
        bytes += live_weights_b + buckets_b;
    return bytes;
}

static double adapters(const struct plan_job *job)
{
    const struct finetune *f = &job->tune;

    return (job->shape.layers - f->frozen) * finetune_adapter(f, &job->shape) +
           finetune_head_adapter(f, &job->shape);
}

/* All weights, or those behind the frozen layers; a moment of 8 bits steps weights of 16 bits. */
static void full_states(const struct plan_job *job, const struct layout *l,
                        const struct layer_bytes *b, struct memory *m)
{
    const double states[] = { [FINETUNE_ADAMW] = layout_state_bytes(job),
                              [FINETUNE_ADAMW_8BIT] = 2 * (1 + 4. / 256),
                              [FINETUNE_PAGED_8BIT] = 0,
                              [FINETUNE_SGD] = 0 };
    double shard = l->shard > 0 ? l->shard : l->dp, all = shape_count(&job->shape).total, layer;

    layer = b->dense_params > 0 ? b->dense_params : b->expert_params + b->own_experts;
    m->weights = 2 * all / (l->zero >= 3 ? shard : 1);
    m->gradients = job->gradient_b * finetune_trained(job, all) / (l->zero >= 2 ? shard : 1);
    m->states = l->offload ? 0
                           : states[job->tune.optimizer] * finetune_trained(job, all) /
                                 (l->zero >= 1 ? shard : 1);
    if (l->zero >= 3)
        m->gathered = fmax(layer * (4 + job->gradient_b),
                           b->embedding_params * (2 + job->gradient_b));
}

void finetune_states(const struct plan_job *job, const struct layout *l,
                     const struct layer_bytes *b, struct memory *m)
{
    double shard = l->shard > 0 ? l->shard : l->dp, n = adapters(job);
    struct widths w = adapter_widths(&job->tune);

    if (is_kind(job, FINETUNE_FULL)) {
        full_states(job, l, b, m);
        return;
    }
    m->weights = (frozen_bytes(job) + w.weight * n) / (l->zero >= 3 ? shard : 1);
    m->gradients = w.gradient * n / (l->zero >= 2 ? shard : 1);
    m->states = l->offload ? 0 : w.states * n / (l->zero >= 1 ? shard : 1);
    m->gathered = at_work(job, l);
}

double finetune_context(const struct plan_job *job)
{
    return is_kind(job, FINETUNE_LORA) && job->tune.program != FINETUNE_LITGPT ? libraries_b : 0;
}

double finetune_trained(const struct plan_job *job, double params)
{
    const struct shape *s = &job->shape;
    struct shape_params p;

    if (is_kind(job, FINETUNE_LORA))
        return adapters(job);
    if (is_kind(job, FINETUNE_NONE) || !job->tune.frozen)
        return params;
    p = shape_count(s);
    return params - p.embedding - job->tune.frozen * (p.attention + p.norms + p.mlp);
}

double finetune_weights(const struct plan_job *job, double all)
{
    return is_kind(job, FINETUNE_LORA) ? frozen_bytes(job) : all;
}

/* ---- time ---- */

double finetune_forward_traffic(const struct plan_job *job, double tokens)
{
    const struct finetune *f = &job->tune;
    double bytes = 0, largest;

    if (!is_kind(job, FINETUNE_LORA))
        return 0;
    /* An adapter reads its input and adds to the output. */
    for (int i = 0; i < FINETUNE_MODULES; i++)
        if (f->modules >> i & 1 && 1 << i != FINETUNE_HEAD) {
            struct finetune_matrix m = finetune_matrix_of(&job->shape, i);

            bytes += tokens * (2 * m.in + 4 * m.out);
        }
    if (is_quantized(f))
        bytes += layer_linear(&job->shape, &largest) * (2 + finetune_weight_b(f->weights));
    return bytes;
}

double finetune_backward_traffic(const struct plan_job *job, double tokens)
{
    double forward = finetune_forward_traffic(job, tokens), largest;

    if (!is_quantized(&job->tune))
        return 2 * forward;
    /* Twice what adapters move, but weights are unpacked once. */
    return 2 * forward -
           layer_linear(&job->shape, &largest) * (2 + finetune_weight_b(job->tune.weights));
}
