#include "plan/layout/layout.h"

#include <errno.h>
#include <stdint.h>

const struct stage_split stages_even = { 0, 0 }, stages_ends = { 1, 1 };

int layout_gpus(const struct layout *l)
{
    return l->tp * l->pp * l->cp * l->dp;
}

bool layout_keeps_stage(const struct layout *l, const struct plan_job *job)
{
    return l->pp > 1 && l->zero >= (job->engine == ENGINE_TORCH ? 2 : 3);
}

bool layout_keeps_gradients(const struct layout *l, const struct plan_job *job)
{
    return layout_keeps_stage(l, job) || (l->pp > 1 && layout_micro_batches(l, job) > 1);
}

int layout_micro_batches(const struct layout *l, const struct plan_job *job)
{
    return job->global_batch / l->dp / l->micro_batch; /* the product may be too large */
}

double layout_state_bytes(const struct plan_job *job)
{
    /* Megatron-LM's optimizer has a copy in 32 bits of gradients of fp16: 20 bytes a parameter
     * (its docs, dist_optimizer). */
    bool copies = job->precision == PLAN_FP16 && job->engine == ENGINE_MEGATRON &&
                  job->tune.kind == FINETUNE_NONE;

    return 4 + (copies ? 4 : 0) + 2.0 * (job->moment_b ? job->moment_b : 4);
}

int layout_expert_dp(const struct layout *l)
{
    return l->tp * l->cp * l->dp / (l->ep * l->etp);
}

int layout_slots(const struct layout *l, int layers)
{
    return layers + l->less.first + l->less.last;
}

/* Of 'parts' that are stages or chunks, what one has. */
static int part_layers(const struct layout *l, int layers, int parts, int part)
{
    int slots = layout_slots(l, layers), n = slots / parts + (part < slots % parts);

    return n - (part == 0 ? l->less.first : 0) - (part == parts - 1 ? l->less.last : 0);
}

int layout_layers(const struct layout *l, int layers, int stage)
{
    return l->pp == 1 ? layers : part_layers(l, layers, l->pp, stage);
}

int layout_chunk_layers(const struct layout *l, int layers, int chunk)
{
    return l->pp == 1 ? layers : part_layers(l, layers, l->pp * l->vpp, chunk);
}

bool stage_split_is(const struct stage_split *a, const struct stage_split *b)
{
    return a->first == b->first && a->last == b->last;
}

static int check_sizes(const struct layout *l, struct err *e)
{
    const struct {
        const char *name;
        int value;
    } sizes[] = {
        { "tp", l->tp }, { "pp", l->pp },   { "vpp", l->vpp }, { "cp", l->cp },
        { "ep", l->ep }, { "etp", l->etp }, { "dp", l->dp },   { "micro-batch", l->micro_batch },
    };

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        if (sizes[i].value < 1 || sizes[i].value > 1 << 20)
            return err_set(e, -EINVAL, "%s is %d: it must be 1 to %d", sizes[i].name,
                           sizes[i].value, 1 << 20);
    if (l->zero < 0 || l->zero > 3)
        return err_set(e, -EINVAL, "ZeRO stage %d: there are 0 to 3", l->zero);
    return 0;
}

static int check_shape(const struct layout *l, const struct plan_job *job, struct err *e)
{
    const struct shape *s = &job->shape;

    if (s->heads % l->tp)
        return err_set(e, -EINVAL, "%d heads do not divide by tp %d", s->heads, l->tp);
    if (s->kv_heads % l->tp && l->tp % s->kv_heads)
        return err_set(e, -EINVAL, "%d key-value heads and tp %d: neither divides the other",
                       s->kv_heads, l->tp);
    if (s->ffn % l->tp)
        return err_set(e, -EINVAL, "ffn %d does not divide by tp %d", s->ffn, l->tp);
    if (job->seq % (l->cp > 1 ? 2 * l->cp : 1))
        return err_set(e, -EINVAL, "%d tokens do not divide by 2 x cp %d", job->seq, l->cp);
    if (l->context == CONTEXT_ULYSSES && l->cp > 1 && s->heads % ((int64_t)l->tp * l->cp))
        return err_set(e, -EINVAL, "Ulysses needs heads for tp x cp: %d do not divide by %d x %d",
                       s->heads, l->tp, l->cp);
    if (l->seq_parallel && job->seq / l->cp % l->tp)
        return err_set(e, -EINVAL, "%d tokens do not divide by tp %d for sequence parallelism",
                       job->seq / l->cp, l->tp);
    if (!s->experts && (l->ep > 1 || l->etp > 1))
        return err_set(e, -EINVAL, "ep %d, but the model has no experts", MAX(l->ep, l->etp));
    if (s->experts && s->experts % l->ep)
        return err_set(e, -EINVAL, "%d experts do not divide by ep %d", s->experts, l->ep);
    if (s->experts && s->expert_ffn % l->etp)
        return err_set(e, -EINVAL, "ffn %d of an expert does not divide by etp %d", s->expert_ffn,
                       l->etp);
    return 0;
}

static int check_pipeline(const struct layout *l, const struct plan_job *job, struct err *e)
{
    int64_t per_step = (int64_t)l->dp * l->micro_batch, m;

    for (int i = 0; i < l->pp; i += MAX(l->pp - 1, 1))
        if (layout_layers(l, job->shape.layers, i) < 1)
            return err_set(e, -EINVAL, "%d layers leave none for stage %d of %d", job->shape.layers,
                           i, l->pp);
    if (job->global_batch % per_step)
        return err_set(e, -EINVAL, "batch %d does not divide by dp %d x micro-batch %d",
                       job->global_batch, l->dp, l->micro_batch);
    if (l->vpp == 1)
        return 0;
    m = job->global_batch / per_step;
    if (l->pp == 1 || l->schedule != SCHEDULE_1F1B)
        return err_set(e, -EINVAL, "vpp %d needs a pipeline with the 1F1B schedule", l->vpp);
    if (layout_slots(l, job->shape.layers) < (int64_t)l->pp * l->vpp)
        return err_set(e, -EINVAL, "%d layers are too few for pp %d x vpp %d", job->shape.layers,
                       l->pp, l->vpp);
    for (int i = 0; i < 2; i++)
        if (layout_chunk_layers(l, job->shape.layers, i ? l->pp * l->vpp - 1 : 0) < 0)
            return err_set(e, -EINVAL,
                           "the %s chunk cannot have %d layers fewer than the others: with pp %d x "
                           "vpp %d they have no more than %d",
                           i ? "last" : "first", i ? l->less.last : l->less.first, l->pp, l->vpp,
                           layout_slots(l, job->shape.layers) / (l->pp * l->vpp) + 1);
    if (m % l->pp)
        return err_set(e, -EINVAL, "%d micro-batches do not divide by pp %d, as vpp needs", (int)m,
                       l->pp);
    return 0;
}

/* What the model of fine-tuning covers. */
static int check_tune(const struct layout *l, const struct plan_job *job, struct err *e)
{
    const struct finetune *f = &job->tune;

    if (l->tp > 1 || l->pp > 1 || l->cp > 1)
        return err_set(e, -EINVAL,
                       "fine-tuning is modelled on whole models, divided by ZeRO alone: tp, pp and "
                       "cp are 1");
    if (f->kind == FINETUNE_LORA && l->recompute != RECOMPUTE_NONE &&
        l->recompute != RECOMPUTE_FULL)
        return err_set(e, -EINVAL,
                       "with adapters, recompute is none or full (gradient "
                       "checkpointing)");
    return 0;
}

int layout_check(const struct layout *l, const struct plan_job *job, const struct cluster *c,
                 struct err *e)
{
    int rc = check_sizes(l, e), replicas;

    if (rc == 0)
        rc = check_shape(l, job, e);
    if (rc == 0)
        rc = check_pipeline(l, job, e);
    if (rc == 0 && job->tune.kind != FINETUNE_NONE)
        rc = check_tune(l, job, e);
    if (rc < 0)
        return rc;
    if ((double)l->tp * l->pp * l->cp * l->dp > (double)c->nodes * c->per_node)
        return err_set(e, -EINVAL, "tp %d x pp %d x cp %d x dp %d is more than the %d GPUs", l->tp,
                       l->pp, l->cp, l->dp, c->nodes * c->per_node);
    replicas = l->tp * l->cp * l->dp;
    if (replicas % ((int64_t)l->ep * l->etp))
        return err_set(e, -EINVAL, "tp x cp x dp %d does not divide by ep %d x etp %d", replicas,
                       l->ep, l->etp);
    if (l->shard && (l->shard < 1 || l->cp * l->dp % l->shard))
        return err_set(e, -EINVAL, "dp x cp %d does not divide by groups of %d that share states",
                       l->cp * l->dp, l->shard);
    return 0;
}
