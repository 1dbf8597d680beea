#include "plan/model/step.h"

#include <math.h>
#include <string.h>

#include "plan/model/collective.h"
#include "plan/model/finetune_memory.h"
#include "plan/model/gemm.h"
#include "plan/model/straggler.h"

/* Bytes of memory traffic that the optimizer makes for a parameter: norm, unscale, Adam's reads and
 * writes of weight, gradient and moments in 32 bits, the weight back to 16 bits. */
static const double adam_b = 34;
/* With states in the host's memory: bytes that its processors read and write for a parameter, the
 * rate of memory that a node's GPUs share for it, and of copies (PCIe 4, pinned). Assumed. */
static const double host_adam_b = 28, host_rate = 200e9, host_copy_rate = 25e9;
/* Operations of the host for a step, and for a micro-batch outside its layers. */
static const double ops_step = 20, ops_layer_step = 1, ops_micro_batch = 110;
/* NCCL beside compute: both are slower (vTrain measured 30 % of the collective's time). */
static const double beside = 1.0;
/* Of a collective that is hidden, what it takes from the compute that hides it: for the
 * multiprocessors on which it waits, and for the memory while it copies. waits was fitted together
 * with gpu.spread, of which it had a part before (docs/plan-model.md, "Scale"). */
static const double waits = 0.05, copies = 0.15;

static double disturbs(const struct collective_group *g)
{
    return waits + copies * g->busy;
}

/* Of the traffic of gradient sums, what stays where the product adds to the sum itself (fused
 * stacks, Megatron-LM since sequence parallelism): its epilogue runs beside other tiles. */
static const double fused_sum = 0.5;

/* DeepSpeed's optimizer in bf16 adds gradients of 16 bits to those of 32 in a kernel of its own,
 * and clears them: bytes a parameter beside the sum. */
static const double deepspeed_sum_b = 4;
/* Its pipeline sends and receives one after the other, both ways, where Megatron-LM does both at
 * once: on the network; vTrain's rows show nothing of it within a node. */
static const double deepspeed_sends = 2;

/* One stage and one micro-batch. */
struct stage_time {
    double forward, backward, sends;
    double part[PARTS];
    double weight_gradient;
};

static void add_layers(struct stage_time *s, const struct layer_time *t, double n)
{
    s->forward += n * t->forward;
    s->backward += n * t->backward;
    s->weight_gradient += n * t->weight_gradient;
    for (int p = 0; p <= PART_EP; p++)
        s->part[p] += n * t->part[p];
}

struct maker {
    const struct plan_job *job;
    const struct cluster *c;
    const struct layout *l;
    const struct plan_tables *t;
    int m; /* micro-batches */
    double send_s;
    struct collective_group dp, expert_dp, across; /* across: of the groups that share states */
};

/* Whether every micro-batch gathers the weights, and scatters the gradients. */
static bool gathers_each(const struct maker *k)
{
    return k->l->zero >= 3 && !layout_keeps_stage(k->l, k->job);
}

/* Whether every micro-batch scatters the gradients; in a pipeline the last one does (Llama 3.1's
 * runs, arXiv 2407.21783). */
static bool scatters_each(const struct maker *k)
{
    return k->l->zero == 2 && k->m > 1 && k->l->pp == 1;
}

/* Whether each micro-batch puts the gradients of a block together in one piece before it scatters
 * them, as PyTorch's FSDP does: they are read and written once, where others add them to a sum. */
static bool flattens(const struct maker *k)
{
    return k->job->engine == ENGINE_TORCH && gathers_each(k);
}

/* Parameters of a stage that are trained; *own are those of experts. */
static double trained_params(const struct maker *k, int stage, double *own)
{
    double params = memory_stage_params(k->job, k->l, &k->t->bytes, stage, own);

    return k->job->tune.kind == FINETUNE_NONE ? params : finetune_trained(k->job, params);
}

/* The backward pass ends behind the frozen layers. */
static void leave_frozen(struct stage_time *s, const struct layer_time *t, double n)
{
    double share = t->backward / (t->forward + t->backward);

    s->backward -= n * t->backward;
    s->weight_gradient -= n * t->weight_gradient;
    for (int p = 0; p <= PART_EP; p++)
        s->part[p] -= n * share * t->part[p];
}

static void add_zero3(const struct maker *k, int stage, struct stage_time *s)
{
    double own, params = memory_stage_params(k->job, k->l, &k->t->bytes, stage, &own), gather;
    double trained = trained_params(k, stage, &own);
    double scatter, exposed, layers = layout_layers(k->l, k->job->shape.layers, stage);

    gather = all_gather_time(&k->dp, finetune_weights(k->job, 2 * params) / layers) * layers +
             all_gather_time(&k->expert_dp, 2 * own / layers) * layers;
    scatter = all_gather_time(&k->dp, k->job->gradient_b * trained / layers) * layers +
              all_gather_time(&k->expert_dp, k->job->gradient_b * own / layers) * layers;
    gather *= beside;
    scatter *= beside;
    /* All but the first layer's gather and the last's scatter run beside other layers. */
    exposed = fmax(gather / layers, gather - s->forward * (1 - 1 / layers)) +
              fmax((gather + scatter) / layers, gather + scatter - s->backward * (1 - 1 / layers));
    exposed += disturbs(&k->dp) * fmax(0, 2 * gather + scatter - exposed);
    s->part[PART_DP] += exposed;
    s->backward += exposed;
}

/* Gradients go to who sums them while the backward pass still works, all but the last layer's. */
static void add_scatter(const struct maker *k, int stage, struct stage_time *s)
{
    double own, params = trained_params(k, stage, &own), scatter, exposed;
    double layers = layout_layers(k->l, k->job->shape.layers, stage);

    scatter = beside * layers *
              (all_gather_time(&k->dp, k->job->gradient_b * params / layers) +
               all_gather_time(&k->expert_dp, k->job->gradient_b * own / layers));
    exposed = scatter;
    if (k->l->overlap_dp) {
        exposed = fmax(scatter / layers, scatter - s->backward * (1 - 1 / layers));
        exposed += disturbs(&k->dp) * (scatter - exposed);
    }
    s->part[PART_DP] += exposed;
    s->backward += exposed;
}

static void make_stage(const struct maker *k, int stage, struct stage_time *s)
{
    double dense, experts, own, params, rate = k->c->gpu.memory_rate * k->c->gpu.memory_best, sum;
    double launch = k->job->graphs ? 0 : k->c->gpu.launch_s;

    memset(s, 0, sizeof(*s));
    memory_stage_layers(k->job, k->l, stage, &dense, &experts);
    add_layers(s, &k->t->costs.dense, dense);
    add_layers(s, &k->t->costs.expert, experts);
    if (k->job->tune.frozen > 0)
        leave_frozen(s, &k->t->costs.dense, k->job->tune.frozen);
    if (stage == 0)
        add_layers(s, &k->t->costs.embedding, 1);
    if (stage == k->l->pp - 1)
        add_layers(s, &k->t->costs.head, 1);
    own = experts * k->t->bytes.own_experts;
    params = memory_layers_params(k->job, k->l, &k->t->bytes, stage, dense, experts);
    if (k->job->tune.kind != FINETUNE_NONE)
        params = finetune_trained(k->job, params);
    sum = k->m > 1 || k->job->gradient_b == 4 || flattens(k)
              ? (params + own) * 2 * k->job->gradient_b / rate
              : 0;
    if (k->job->fused || k->l->seq_parallel)
        sum *= fused_sum;
    if (k->job->engine == ENGINE_DEEPSPEED && k->job->gradient_b == 4)
        sum += (params + own) * deepspeed_sum_b / rate;
    s->part[PART_ACCUMULATE] = sum;
    s->backward += sum;
    s->part[PART_LAUNCH] += ops_micro_batch * launch;
    s->backward += ops_micro_batch * launch;
    if (gathers_each(k))
        add_zero3(k, stage, s);
    else if (scatters_each(k))
        add_scatter(k, stage, s);
    if (k->l->pp > 1) {
        s->sends = k->send_s * k->l->vpp * (k->l->overlap_pp ? waits : 1);
        s->part[PART_PP] = 2 * s->sends;
        s->forward += s->sends;
        s->backward += s->sends;
    }
}

/* ---- after the micro-batches ---- */

/* Gradients over replicas, and weights back, of which 'hidden' seconds of compute may hide. */
static double exchange(const struct maker *k, double params, double own, double window)
{
    const struct layout *l = k->l;
    double grads = 0, weights = 0, comm, exposed;

    if (gathers_each(k)) {
        grads = l->shard > 0
                    ? all_reduce_time(&k->across, k->job->gradient_b * (params + own) / l->shard)
                    : 0;
    } else if (l->zero == 0) {
        grads = all_reduce_time(&k->dp, k->job->gradient_b * params) +
                all_reduce_time(&k->expert_dp, k->job->gradient_b * own);
    } else {
        if (!scatters_each(k)) /* else they are there already */
            grads = all_gather_time(&k->dp, k->job->gradient_b * params) +
                    all_gather_time(&k->expert_dp, k->job->gradient_b * own);
        weights = all_gather_time(&k->dp, 2 * params) + all_gather_time(&k->expert_dp, 2 * own);
        if (l->shard > 0)
            grads += all_reduce_time(&k->across, k->job->gradient_b * (params + own) / l->shard);
    }
    comm = beside * (grads + weights);
    if (!l->overlap_dp)
        return comm;
    exposed = fmax(comm * .05, comm - window);
    return exposed + disturbs(gathers_each(k) ? &k->across : &k->dp) * (comm - exposed);
}

static double optimize(const struct maker *k, int stage)
{
    const struct layout *l = k->l;
    double own, params = trained_params(k, stage, &own);
    double replicas = l->dp * l->cp, shard = l->shard > 0 ? l->shard : replicas;
    double expert = fmin(shard, layout_expert_dp(l)), mine, time, launch;
    double rate = k->c->gpu.memory_rate * k->c->gpu.memory_best;
    double less = 12 - layout_state_bytes(k->job); /* than with moments of 32 bits */

    launch = k->job->graphs ? 0 : k->c->gpu.launch_s;
    mine = l->zero >= 1 ? params / shard + own / expert : params + own;
    /* Moments are read and written. */
    time = (adam_b - 2 * less) * mine / rate;
    if (l->offload)
        time = mine * ((host_adam_b - 2 * less) * k->c->per_node / host_rate +
                       (k->job->gradient_b + 2) / host_copy_rate);
    return time +
           launch * (ops_step + ops_layer_step * layout_layers(l, k->job->shape.layers, stage));
}

double plan_step_attention_flops(const struct plan_job *job)
{
    const struct shape *s = &job->shape;
    double tokens = (double)job->seq * job->global_batch, qk = s->head_dim, v = s->head_dim;

    if (s->attention == SHAPE_LATENT) {
        qk = s->nope_dim + s->rope_dim;
        v = s->v_dim;
    }
    return tokens * 6 * s->layers * job->seq * s->heads * (qk + v);
}

double plan_step_flops(const struct plan_job *job)
{
    const struct shape *s = &job->shape;
    const struct shape_params p = shape_count(s);
    double tokens = (double)job->seq * job->global_batch, head = (double)s->vocab * s->hidden;

    double passes = job->tune.kind == FINETUNE_LORA ? 4 : 6; /* frozen weights have no gradient */

    return tokens * passes * (p.active - p.embedding + (s->tied ? head : 0)) +
           plan_step_attention_flops(job);
}

static void maker_init(struct maker *k)
{
    const struct layout *l = k->l;
    int replicas = l->dp * l->cp, shard = l->shard > 0 ? l->shard : replicas;
    double rows = (double)k->job->seq / l->cp * l->micro_batch;

    k->m = layout_micro_batches(l, k->job);
    k->dp = collective_group_make(k->c, shard, l->tp);
    k->across = collective_group_make(k->c, replicas / shard, l->tp * shard);
    k->expert_dp = collective_group_make(k->c, k->job->shape.experts ? layout_expert_dp(l) : 1,
                                         l->ep * l->etp);
    /* With sequence parallelism, or scattered and gathered again, each sends its part. */
    /* What SC'21 (table 2) shows of it, where a ring of whole nodes could go over all ports. */
    if (k->job->engine == ENGINE_DEEPSPEED && l->zero >= 3)
        k->dp = collective_group_of_ports(k->c, shard, l->tp);
    k->send_s = l->pp > 1
                    ? send_time(k->c, l->tp * replicas, 2 * rows * k->job->shape.hidden / l->tp)
                    : 0;
    if (k->job->engine == ENGINE_DEEPSPEED && l->tp * replicas >= k->c->domain)
        k->send_s *= deepspeed_sends;
}

void plan_tables_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                      struct plan_tables *ret)
{
    layer_costs(job, c, l, &ret->costs);
    layer_bytes(job, l, &ret->bytes);
    ret->flops = plan_step_flops(job);
}

/* Stages that differ: the first, the second (like all between) and the last, with their number. */
static int kinds_of(const struct layout *l, const struct shape *s, int *stage, int *count)
{
    int n = 0, mid = l->pp - 2, longer;

    stage[n] = 0;
    count[n++] = 1;
    if (mid > 0) {
        /* Those with a layer more come first: as many as do not come out, with the first. */
        longer = layout_slots(l, s->layers) % l->pp - 1;
        longer = longer > 0 ? MIN(longer, mid) : mid;
        stage[n] = 1;
        count[n++] = longer;
        if (longer < mid) {
            stage[n] = 1 + longer;
            count[n++] = mid - longer;
        }
    }
    if (l->pp > 1) {
        stage[n] = l->pp - 1;
        count[n++] = 1;
    }
    return n;
}

void plan_step_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                    const struct plan_tables *t, struct plan_step *ret)
{
    struct maker k = { job, c, l, t, 0, 0, { 0 }, { 0 }, { 0 } };
    struct stage_time s[4] = { { 0 } };
    int stage[4], count[4], n, slow = 0;
    double all = 0, top, own, params, bubble, gpus = layout_gpus(l), flops;

    memset(ret, 0, sizeof(*ret));
    maker_init(&k);
    n = kinds_of(l, &job->shape, stage, count);
    for (int i = 0; i < n; i++) {
        make_stage(&k, stage[i], &s[i]);
        all += count[i] * (s[i].forward + s[i].backward);
        if (s[i].forward + s[i].backward > s[slow].forward + s[slow].backward)
            slow = i;
    }
    top = s[slow].forward + s[slow].backward;
    bubble = (all - top) / l->vpp;
    if (l->schedule == SCHEDULE_ZERO_BUBBLE)
        bubble = fmax(0, bubble - 2 * (l->pp - 1) * s[slow].weight_gradient);
    ret->micro_batches = k.m;
    for (int p = 0; p < PARTS; p++)
        ret->part[p] = k.m * s[slow].part[p];
    ret->part[PART_BUBBLE] = bubble;
    params = trained_params(&k, 0, &own);
    ret->part[PART_DP] += exchange(&k, params, own, s[0].backward + (l->zero ? s[0].forward : 0));
    /* A tied embedding lies on the first and the last stage. */
    if (job->shape.tied && l->pp > 1) {
        struct collective_group ends = collective_group_make(c, 2, l->tp * l->cp * l->dp);

        ret->part[PART_DP] += all_reduce_time(&ends, job->gradient_b * t->bytes.embedding_params);
    }
    for (int p = 0; p < PART_DP; p++)
        ret->part[PART_STRAGGLERS] += ret->part[p];
    /* Replicas meet once a step, or in every micro-batch. */
    ret->part[PART_STRAGGLERS] *= straggler_share(c->gpu.spread, l->dp * l->cp,
                                                  gathers_each(&k) ? 1 : k.m);
    ret->part[PART_OPTIMIZER] = optimize(&k, stage[slow]);
    for (int p = 0; p < PARTS; p++)
        ret->time_s += ret->part[p];
    flops = t->flops / gpus / ret->time_s;
    ret->tokens_s = (double)job->seq * job->global_batch / gpus / ret->time_s;
    ret->mfu = flops / gemm_peak(&c->gpu, job->precision);
    ret->model_flops = flops;
}
