#include "plan/model/layer.h"

#include <math.h>
#include <string.h>

#include "plan/model/collective.h"
#include "plan/model/eager.h"
#include "plan/model/finetune_memory.h"
#include "plan/model/gemm.h"

/* Operations that the host issues for a layer, views and autograd's nodes counted: Megatron-LM with
 * plain attention, and stacks with fused ones. The time of each is gpu.launch_s. */
static const double ops_forward = 86, ops_backward = 80;
static const double ops_lean_forward = 50, ops_lean_backward = 46;
static const double ops_again = 6; /* of norms, or of attention between projections, once more */
/* Of each expert on a GPU, whose products are started one by one: two forward, four backward with
 * the hooks of its gradients, and views of its rows. */
static const double ops_each_forward = 6, ops_each_backward = 16;
static const double ops_expert_forward = 40, ops_expert_backward = 50, ops_ends = 60;
/* A collective of tensor parallelism, for each of its GPUs: the last host starts it. */
static const double ops_tp = 0.7;
/* On the GPU, for a collective of which nothing is hidden: from its input to its first byte. */
static const double start_s = 60e-6;

/* Of a collective that matrix products hide, what stays: it starts after its input, and both are
 * slower for sharing the memory and the multiprocessors. */
static const double hidden_rest = 0.5;

/* Of the first kernels of fused attention, the rate of the backward pass next to the forward. */
static const double first_back = 0.87;

struct work {
    const struct plan_job *job;
    const struct cluster *c;
    const struct layout *l;
    double tokens; /* of a micro-batch on a GPU, before tensor parallelism */
    double t;      /* tp */
    double out;    /* share of the tokens that stay on a GPU outside the tensor-parallel parts */
    struct collective_group tp, cp, ep, etp;
    /* Sums of a layer. */
    double gemm_f, gemm_d, gemm_w; /* forward, for data, for weights */
    double attention_f, attention_b, traffic_f, traffic_b, core_f;
    double norms_f, mlp_f; /* of the forward pass: RECOMPUTE_NORMS, RECOMPUTE_MLP */
    double ops_f, ops_b;
    double tp_f, tp_b, cp_f, cp_b, ep_f, ep_b;
};

static const char *const part_names[PARTS] = {
    "matrix products", "attention",       "memory traffic",  "host launches",    "recompute",
    "head and loss",   "gradient sums",   "tensor parallel", "context parallel", "expert parallel",
    "pipeline sends",  "pipeline bubble", "data parallel",   "stragglers",       "optimizer",
};

static const char *const part_whys[PARTS] = {
    "tiles in waves over the multiprocessors, depth and power as fitted to measured products",
    "fused: causal half at the fitted share of the peak; plain: products and softmax traffic",
    "norms, activations, adds and dropout at the fitted share of the memory's rate",
    "operations of a layer times the host's time for one, where the GPU is done earlier",
    "the forward pass again: whole layers, or attention between the projections",
    "embedding, logits over the vocabulary, softmax and loss on the first and last stage",
    "every micro-batch reads and writes the sum of gradients",
    "collectives around attention and MLP that no product hides",
    "keys and values around the ring beyond what attention hides, or all-to-all",
    "tokens to their experts and back, with the imbalance of the routing",
    "activations and their gradients to the next stage and back",
    "(stages - 1) / vpp micro-batches, and stages with less work than the slowest",
    "gradients and weights over replicas beyond what the backward pass hides",
    "replicas wait for the slowest of them, which is slower the more there are",
    "Adam reads and writes states, master weights and gradients once",
};

const char *step_part_name(enum step_part p)
{
    return part_names[p];
}

const char *plan_step_part_why(enum step_part p)
{
    return part_whys[p];
}

/* ---- matrix products ---- */

/* tokens x in times in x out, with both products of the backward pass. */
static void add_linear(struct work *w, double tokens, double in, double out, double count)
{
    enum plan_precision p = w->job->precision;
    const struct gpu *g = &w->c->gpu;

    if (!(tokens * in * out > 0))
        return;
    w->gemm_f += gemm_time(g, p, &(struct gemm){ tokens, out, in, count });
    w->gemm_d += gemm_time(g, p, &(struct gemm){ tokens, in, out, count });
    w->gemm_w += gemm_time(g, p, &(struct gemm){ in, out, tokens, count });
}

static void add_traffic(struct work *w, double forward_b, double backward_b)
{
    double rate = w->c->gpu.memory_rate * w->c->gpu.memory_best;

    w->traffic_f += forward_b / rate;
    w->traffic_b += backward_b / rate;
}

/* Dimensions of queries and keys, and of values, of a head. */
static void head_dims(const struct shape *s, double *qk, double *v)
{
    *qk = s->attention == SHAPE_LATENT ? s->nope_dim + s->rope_dim : s->head_dim;
    *v = s->attention == SHAPE_LATENT ? s->v_dim : s->head_dim;
}

static void add_projections(struct work *w)
{
    const struct shape *s = &w->job->shape;
    double heads = s->heads / w->t, kv = fmax(s->kv_heads / w->t, 1), qk, v;

    head_dims(s, &qk, &v);
    if (s->attention == SHAPE_LATENT) {
        /* The ways down are the same on every GPU of the group; those up are divided. */
        double down = w->tokens * w->out;

        if (s->q_rank > 0)
            add_linear(w, down, s->hidden, s->q_rank, 1);
        add_linear(w, w->tokens, s->q_rank > 0 ? s->q_rank : s->hidden, heads * qk, 1);
        add_linear(w, down, s->hidden, s->kv_rank + s->rope_dim, 1);
        add_linear(w, w->tokens, s->kv_rank, heads * (s->nope_dim + s->v_dim), 1);
    } else {
        add_linear(w, w->tokens, s->hidden, (heads + 2 * kv) * s->head_dim, 1);
    }
    add_linear(w, w->tokens, heads * v, s->hidden, 1);
}

/* ---- attention between the projections ---- */

static double back_rate(const struct work *w)
{
    const struct gpu *g = &w->c->gpu;

    switch (w->job->attention) {
    case ATTENTION_FIRST:
        return first_back;
    case ATTENTION_THIRD:
        return g->attention_third;
    default:
        return g->attention_back;
    }
}

static void add_flash(struct work *w)
{
    const struct shape *s = &w->job->shape;
    const struct layout *l = w->l;
    double split = l->context == CONTEXT_ULYSSES ? l->cp : 1, qk, v, turned;
    struct eager_bytes rotary = { 4, 4 };
    struct flash f = { .window = s->window, .batch = l->micro_batch };

    f.first = w->job->attention == ATTENTION_FIRST;
    f.second = w->job->attention == ATTENTION_SECOND;
    head_dims(s, &qk, &v);
    f.qk_dim = qk;
    f.v_dim = v;
    f.heads = s->heads / w->t / split;
    f.keys = w->job->seq;
    f.queries = w->job->seq * split / l->cp;
    w->core_f = flash_time(&w->c->gpu, &f);
    if (s->window > 0 && s->full_every > 0) { /* a layer of the mean */
        f.window = 0;
        w->core_f += (flash_time(&w->c->gpu, &f) - w->core_f) / s->full_every;
    }
    w->attention_f += w->core_f;
    /* Five products instead of two, at a lower rate. */
    w->attention_b += w->core_f * 2.5 / back_rate(w);
    if (eager_is(w->job))
        rotary = eager_rotary();
    turned = s->learned_positions ? 0 : w->tokens * (s->heads + s->kv_heads) / w->t * qk;
    add_traffic(w, rotary.forward * turned, rotary.backward * turned);
}

static void add_plain(struct work *w)
{
    const struct shape *s = &w->job->shape;
    double heads = s->heads / w->t, seq = w->job->seq, own = seq / w->l->cp;
    double count = heads * w->l->micro_batch, qk, v, scores = count * own * seq, rate, time;
    const struct gpu *g = &w->c->gpu;
    struct gemm score, sum;

    head_dims(s, &qk, &v);
    score = (struct gemm){ own, seq, qk, count };
    sum = (struct gemm){ own, v, seq, count };
    rate = g->memory_rate * g->memory_best;
    time = gemm_time(g, PLAN_BF16, &score) + gemm_time(g, PLAN_BF16, &sum);
    /* Softmax with its mask reads and writes; dropout does so again and writes its mask. */
    w->core_f = time + scores * (s->dropout ? 9 : 4) / rate;
    w->attention_f += w->core_f;
    w->attention_b += 2 * time + scores * (s->dropout ? 11 : 6) / rate;
    /* Heads to the front and back: queries, keys, values and what comes out. */
    add_traffic(w, 4 * w->tokens * heads * (qk + v), 4 * w->tokens * heads * (qk + v));
}

/* ---- element by element ---- */

static void add_elements(struct work *w, double ffn)
{
    const struct shape *s = &w->job->shape;
    double rows = w->tokens * w->out * s->hidden, wide = w->tokens * ffn;
    double norms = s->norms ? s->norms : s->parallel ? 1 : 2, drop = s->dropout ? 1 : 0;
    struct eager_bytes norm = { 4, 6 };

    w->norms_f = norms * 4 * rows / (w->c->gpu.memory_rate * w->c->gpu.memory_best);
    if (w->job->fused) {
        /* The add goes with the norm: 8 bytes read and written; the activation with its product. */
        add_traffic(w, norms * 8 * rows + (s->gated ? 6 : 4) * wide + drop * 2 * rows,
                    norms * 12 * rows + (s->gated ? 10 : 6) * wide + drop * 2 * rows);
        return;
    }
    if (eager_is(w->job))
        norm = eager_norm();
    /* Norm: read, write. Dropout and add: two read, one written, the mask. */
    add_traffic(w, rows * (norms * norm.forward + 2 * (6 + drop)) + wide * (s->gated ? 10 : 4),
                rows * (norms * norm.backward + 2 * (6 + 5 * drop)) + wide * (s->gated ? 14 : 8));
}

/* ---- the MLP ---- */

static void add_mlp(struct work *w, double ffn)
{
    const struct shape *s = &w->job->shape;

    add_linear(w, w->tokens, s->hidden, ffn * (s->gated ? 2 : 1), 1);
    add_linear(w, w->tokens, ffn, s->hidden, 1);
}

/* To how many of the domains in which its experts lie a token goes at most: to those of as many
 * groups as its router picks first. */
static double most_domains(const struct shape *s, double domains)
{
    if (s->groups <= 1 || s->active_groups < 1)
        return domains;
    return s->active_groups * fmax(domains / s->groups, 1);
}

static void add_experts(struct work *w)
{
    const struct shape *s = &w->job->shape;
    const struct layout *l = w->l;
    double local = (double)s->experts / l->ep, ffn = (double)s->expert_ffn / l->etp;
    double sent = w->tokens / w->t * s->active;               /* copies of a GPU's own tokens */
    double done = sent * l->etp * fmax(w->job->imbalance, 1); /* rows its experts work on */
    double rows = sent * s->hidden, each = ceil(done / local / 8) * 8;
    double activated = done * ffn * (s->gated ? 6 : 4);

    add_linear(w, w->tokens / w->t, s->hidden, s->experts, 1);
    add_linear(w, each, s->hidden, ffn * (s->gated ? 2 : 1), local);
    add_linear(w, each, ffn, s->hidden, local);
    add_mlp(w, s->shared_ffn / w->t);
    /* Tokens are put in the order of experts and back, and weighed; the activation. */
    w->norms_f += activated / (w->c->gpu.memory_rate * w->c->gpu.memory_best);
    add_traffic(w, 4 * rows * 3 + activated, 4 * rows * 3 + done * ffn * (s->gated ? 10 : 6));
    if (l->ep > 1) {
        double one = dispatch_time(&w->ep, 2 * rows * fmax(w->job->imbalance, 1), s->active,
                                   most_domains(s, w->ep.domains));

        one *= l->overlap_ep ? hidden_rest : 1;
        w->ep_f += 2 * one;
        w->ep_b += 2 * one;
    }
    if (l->etp > 1) {
        double one = all_gather_time(&w->etp, 2 * rows * l->etp);

        w->ep_f += 2 * one;
        w->ep_b += 2 * one;
    }
    w->ops_f += ops_expert_forward + ops_each_forward * local;
    w->ops_b += ops_expert_backward + ops_each_backward * local;
}

/* ---- collectives ---- */

/* 'pairs' of the conjugate collectives around attention and MLP. */
static void add_tp(struct work *w, int pairs)
{
    double bytes = 2 * w->tokens * w->job->shape.hidden, hidden = hidden_rest, one, gather;

    if (w->l->tp == 1)
        return;
    w->ops_f += 2 * pairs * ops_tp * w->t;
    w->ops_b += 2 * pairs * ops_tp * w->t;
    one = start_s * (w->l->overlap_tp ? hidden : 1);
    w->tp_f += 2 * pairs * one;
    w->tp_b += pairs * one;
    if (w->l->seq_parallel) {
        /* Sums are scattered in 16 bits, inputs of products gathered in theirs. */
        one = all_gather_time(&w->tp, bytes);
        gather = all_gather_time(&w->tp, bytes * gemm_bytes(&w->c->gpu, w->job->precision) / 2);
        w->tp_f += pairs * (one + gather) * (w->l->overlap_tp ? hidden : 1);
        /* Backward: the gather of the row-parallel side is exposed; the scatter of the other and
         * the gather of what was not kept run beside the products of the weight gradients. */
        w->tp_b += pairs * (gather * (w->l->overlap_tp ? hidden : 1) + (one + gather) * hidden);
    } else {
        one = all_reduce_time(&w->tp, bytes);
        w->tp_f += pairs * one;
        w->tp_b += pairs * one * (w->l->overlap_tp ? hidden : 1);
    }
}

static void add_cp(struct work *w)
{
    const struct shape *s = &w->job->shape;
    double kv = fmax(s->kv_heads / w->t, 1), qk, v, own, all;
    const struct layout *l = w->l;

    if (l->cp == 1)
        return;
    head_dims(s, &qk, &v);
    own = 2 * w->tokens * (s->attention == SHAPE_LATENT ? s->heads / w->t : kv) * (qk + v);
    all = own * l->cp;
    if (l->context == CONTEXT_RING) {
        double one = all_gather_time(&w->cp, all), seen = (l->cp - 1.0) / l->cp;

        w->cp_f += fmax(one * hidden_rest, one - w->core_f * seen);
        w->cp_b += fmax(2 * one * hidden_rest, 2 * one - w->attention_b * seen);
    } else if (l->context == CONTEXT_GATHER) {
        w->cp_f += all_gather_time(&w->cp, all);
        w->cp_b += 2 * all_gather_time(&w->cp, all);
    } else {
        double heads = 2 * w->tokens * s->heads / w->t;

        w->cp_f += all_to_all_time(&w->cp, own + heads * qk) + all_to_all_time(&w->cp, heads * v);
        w->cp_b += all_to_all_time(&w->cp, own + heads * qk) + all_to_all_time(&w->cp, heads * v);
    }
}

/* ---- sums ---- */

static void work_init(struct work *w, const struct plan_job *job, const struct cluster *c,
                      const struct layout *l)
{
    memset(w, 0, sizeof(*w));
    w->job = job;
    w->c = c;
    w->l = l;
    w->t = l->tp;
    w->tokens = (double)job->seq / l->cp * l->micro_batch;
    w->out = l->seq_parallel ? 1.0 / l->tp : 1;
    w->tp = collective_group_make(c, l->tp, 1);
    w->cp = collective_group_make(c, l->cp, l->tp);
    w->etp = collective_group_make(c, l->etp, 1);
    w->ep = collective_group_make(c, l->ep, l->etp);
}

static void close_layer(const struct work *w, struct layer_time *ret)
{
    double gpu_f = w->gemm_f + w->attention_f + w->traffic_f + w->tp_f + w->cp_f + w->ep_f;
    double gpu_b = w->gemm_d + w->gemm_w + w->attention_b + w->traffic_b;
    double launch = w->job->graphs ? 0 : w->c->gpu.launch_s, again = 0, again_s = 0;
    double host_f = w->ops_f * launch, host_b = w->ops_b * launch;
    double *part = ret->part;

    gpu_b += w->tp_b + w->cp_b + w->ep_b;
    if (w->l->recompute == RECOMPUTE_FULL) {
        again = gpu_f;
        again_s = host_f;
    } else if (w->l->recompute == RECOMPUTE_SELECTIVE && w->job->attention == ATTENTION_PLAIN) {
        again = w->core_f;
        again_s = ops_again * launch;
    } else if (w->l->recompute == RECOMPUTE_SELECTIVE) {
        again = w->job->again * gpu_f;
        again_s = w->job->again * host_f;
    } else if (w->l->recompute == RECOMPUTE_NORMS) {
        again = w->norms_f;
        again_s = ops_again * launch;
    } else if (w->l->recompute == RECOMPUTE_MLP) {
        again = w->mlp_f;
        again_s = host_f / 2;
    }
    ret->forward = fmax(gpu_f, host_f);
    ret->backward = fmax(gpu_b + again, host_b + again_s);
    part[PART_GEMM] = w->gemm_f + w->gemm_d + w->gemm_w;
    part[PART_ATTENTION] = w->attention_f + w->attention_b;
    part[PART_TRAFFIC] = w->traffic_f + w->traffic_b;
    part[PART_TP] = w->tp_f + w->tp_b;
    part[PART_CP] = w->cp_f + w->cp_b;
    part[PART_EP] = w->ep_f + w->ep_b;
    part[PART_RECOMPUTE] = again;
    part[PART_LAUNCH] = ret->forward - gpu_f + ret->backward - gpu_b - again;
    ret->weight_gradient = w->gemm_w;
}

/* Weights that are frozen have no gradient; their adapters and the unpacking are memory traffic. */
static void add_frozen(struct work *w)
{
    if (w->job->tune.kind != FINETUNE_LORA)
        return;
    w->gemm_w = 0;
    add_traffic(w, finetune_forward_traffic(w->job, w->tokens),
                finetune_backward_traffic(w->job, w->tokens));
}

static void make_layer(struct work *w, bool experts, struct layer_time *ret)
{
    const struct shape *s = &w->job->shape;
    double ffn = experts ? s->shared_ffn : s->ffn, before;
    bool lean = w->job->fused || w->job->attention != ATTENTION_PLAIN;

    w->ops_f = lean ? ops_lean_forward : ops_forward;
    w->ops_b = lean ? ops_lean_backward : ops_backward;
    add_projections(w);
    if (w->job->attention != ATTENTION_PLAIN)
        add_flash(w);
    else
        add_plain(w);
    add_elements(w, ffn / w->t);
    before = w->gemm_f + w->traffic_f;
    if (experts)
        add_experts(w);
    else
        add_mlp(w, s->ffn / w->t);
    w->mlp_f = w->gemm_f + w->traffic_f - before + w->ep_f;
    add_tp(w, experts || s->parallel ? 1 : 2);
    if (!experts) /* gathered and scattered again */
        w->mlp_f += w->tp_f / 2;
    add_cp(w);
    add_frozen(w);
    close_layer(w, ret);
}

/* To 32 bits, the greatest, the sum of exponentials; the gradient and back to 16 bits. */
double layer_loss_bytes(const struct plan_job *job, bool backward)
{
    if (backward)
        return job->fused_loss ? 4 : 14;
    return job->fused_loss ? 6 : 22;
}

static void make_head(struct work *w, struct layer_time *ret)
{
    const struct shape *s = &w->job->shape;
    double vocab = s->vocab / w->t, rows = w->tokens * w->out * s->hidden;
    double rate = w->c->gpu.memory_rate * w->c->gpu.memory_best;

    /* The head stays in 16 bits. */
    struct gemm f = { w->tokens, vocab, s->hidden, 1 }, d = { w->tokens, s->hidden, vocab, 1 };
    struct gemm g = { s->hidden, vocab, w->tokens, 1 };

    w->gemm_f = gemm_time(&w->c->gpu, PLAN_BF16, &f);
    w->gemm_d = gemm_time(&w->c->gpu, PLAN_BF16, &d);
    w->gemm_w = w->job->tune.kind == FINETUNE_LORA ? 0 : gemm_time(&w->c->gpu, PLAN_BF16, &g);
    w->traffic_f = (w->tokens * vocab * layer_loss_bytes(w->job, false) + 4 * rows) / rate;
    w->traffic_b = (w->tokens * vocab * layer_loss_bytes(w->job, true) + 6 * rows) / rate;
    w->ops_f = w->ops_b = ops_ends;
    w->tp_f = w->l->tp > 1 ? 3 * all_reduce_time(&w->tp, 4 * w->tokens) : 0;
    w->tp_b = w->l->tp > 1 ? all_reduce_time(&w->tp, 2 * w->tokens * s->hidden) : 0;
    close_layer(w, ret);
}

static void make_embedding(struct work *w, struct layer_time *ret)
{
    const struct shape *s = &w->job->shape;
    double rows = w->tokens * s->hidden;

    add_traffic(w, 8 * rows, 8 * rows);
    w->ops_f = w->ops_b = ops_ends / 2.0;
    w->tp_f = w->l->tp > 1 ? all_reduce_time(&w->tp, 2 * rows) : 0;
    close_layer(w, ret);
}

/* Head and embedding are told as one part. */
static void fold(struct layer_time *t)
{
    memset(t->part, 0, sizeof(t->part));
    t->part[PART_HEAD] = t->forward + t->backward;
}

void layer_costs(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                 struct layer_costs *ret)
{
    struct layout ends = *l;
    struct work w;

    memset(ret, 0, sizeof(*ret));
    if (!job->shape.experts || job->shape.dense_first > 0 || job->shape.expert_every > 1) {
        work_init(&w, job, c, l);
        make_layer(&w, false, &ret->dense);
    }
    if (job->shape.experts) {
        work_init(&w, job, c, l);
        make_layer(&w, true, &ret->expert);
    }
    ends.recompute = RECOMPUTE_NONE;
    work_init(&w, job, c, &ends);
    make_head(&w, &ret->head);
    fold(&ret->head);
    work_init(&w, job, c, &ends);
    make_embedding(&w, &ret->embedding);
    fold(&ret->embedding);
}
