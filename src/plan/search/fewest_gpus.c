#include "plan/search/fewest_gpus.h"

struct fit {
    struct plan_job job;
    struct cluster cluster;
    const struct pins *pins;
    bool batch;
    struct layout layout;
    struct memory memory;
};

int fewest_gpus_batch(const struct layout *l)
{
    return l->dp * l->micro_batch * l->pp;
}

static bool fits(struct fit *f, int gpus)
{
    struct layout *l = &f->layout;
    struct layer_bytes bytes;

    l->dp = gpus / (l->tp * l->pp * l->cp);
    if (pins_has(f->pins, PIN_DP) && f->pins->layout.dp != l->dp)
        return false;
    if (l->dp < 1 || l->dp * l->tp * l->pp * l->cp != gpus)
        return false;
    if (!pins_has(f->pins, PIN_SEQ_PARALLEL))
        l->seq_parallel = l->tp > 1;
    layout_usual_overlaps(l);
    if (!f->batch)
        f->job.global_batch = fewest_gpus_batch(l);
    f->cluster.nodes = (gpus + f->cluster.per_node - 1) / f->cluster.per_node;
    if (layout_check(l, &f->job, &f->cluster, NULL) < 0)
        return false;
    layer_bytes(&f->job, l, &bytes);
    memory_make(&f->job, l, &bytes, &f->memory);
    return f->memory.total <= f->cluster.gpu.memory_b;
}

/* From little tensor parallelism on, and for each from few GPUs that share experts on. */
static bool try_degrees(struct fit *f, int gpus)
{
    bool tp_fixed = pins_has(f->pins, PIN_TP), ep_fixed = pins_has(f->pins, PIN_EP);
    int tp_max = tp_fixed ? f->layout.tp : MIN(gpus, f->cluster.domain), ep = f->layout.ep;
    int ep_max = f->job.shape.experts && !ep_fixed ? f->job.shape.experts : ep;

    for (int tp = tp_fixed ? tp_max : 1; tp <= tp_max; tp *= 2)
        for (int e = ep; e <= MIN(ep_max, gpus); e *= 2) {
            f->layout.tp = tp;
            f->layout.ep = e;
            if (fits(f, gpus))
                return true;
        }
    f->layout.ep = ep;
    return false;
}

static bool try_gpus(struct fit *f, int gpus)
{
    static const enum recompute recomputes[] = { RECOMPUTE_NONE, RECOMPUTE_FULL };
    static const int zeros[] = { 1, 3 };
    bool recompute_fixed = pins_has(f->pins, PIN_RECOMPUTE),
         zero_fixed = pins_has(f->pins, PIN_ZERO);

    for (size_t r = 0; r < (recompute_fixed ? 1 : ARRAY_SIZE(recomputes)); r++)
        for (size_t z = 0; z < (zero_fixed ? 1 : ARRAY_SIZE(zeros)); z++) {
            f->layout.recompute = recomputes[r];
            f->layout.zero = zeros[z];
            f->layout.tp = f->layout.ep = 1;
            pins_set_layout(f->pins, &f->layout);
            if (try_degrees(f, gpus))
                return true;
        }
    return false;
}

bool fewest_gpus_find(const struct plan_job *job, const struct cluster *c, const struct pins *p,
                      bool batch, struct layout *ret, struct memory *memory)
{
    struct fit f = { .job = *job,
                     .cluster = *c,
                     .pins = p,
                     .batch = batch,
                     .layout = { .pp = 1, .vpp = 1, .cp = 1, .etp = 1, .micro_batch = 1 } };
    int split;

    f.cluster.domain = MAX(c->domain, c->per_node);
    pins_set_layout(p, &f.layout);
    if (job->shape.layers % f.layout.pp)
        f.layout.less = stages_ends;
    split = f.layout.pp * f.layout.cp * (pins_has(p, PIN_TP) ? f.layout.tp : 1);
    for (int64_t gpus = split; gpus <= FIT_GPUS; gpus *= 2)
        if (try_gpus(&f, (int)gpus)) {
            *ret = f.layout;
            *memory = f.memory;
            return true;
        }
    return false;
}
