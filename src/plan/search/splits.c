#include "plan/search/splits.h"

#include <math.h>

#include "plan/model/gemm.h"
#include "plan/model/layer.h"
#include "plan/model/step.h"

/* Of the vendor's rate, what products of layers and heads reach (docs/plan-model.md). */
static const double reached = 0.7;
/* Layers take between as long as their products alone and half as much again: attention in another
 * precision, norms, collectives. */
static const double longest = 1.5;

enum { WORTH_MAX = 8 };

void splits_range(const struct plan_job *job, const struct cluster *c, int *low, int *high)
{
    const struct shape *s = &job->shape;
    const struct shape_params p = shape_count(s);
    double head = 6.0 * s->vocab * s->hidden / gemm_peak(&c->gpu, PLAN_BF16) / reached;
    double loss = (layer_loss_bytes(job, false) + layer_loss_bytes(job, true)) * s->vocab /
                  (c->gpu.memory_rate * c->gpu.memory_best);
    double tokens = (double)job->seq * job->global_batch;
    double attention = plan_step_attention_flops(job) / 2 / tokens; /* causal: half of it */
    double weights = 6 * (p.active - p.embedding - p.head) / gemm_peak(&c->gpu, job->precision);
    double layer = (weights + attention / gemm_peak(&c->gpu, PLAN_BF16)) / reached / s->layers;
    double worth = (head + loss) / layer;

    *low = *high = 0;
    if (!(worth > 0) || !isfinite(worth))
        return;
    *low = (int)fmin(worth / longest, s->layers);
    *high = (int)fmin(ceil(worth), s->layers);
    *high = MIN(*high, *low + WORTH_MAX - 1);
}

static void add(struct splits *s, int first, int last)
{
    for (int i = 0; i < s->n; i++)
        if (s->list[i].first == first && s->list[i].last == last)
            return;
    if (s->n < SPLITS_MAX)
        s->list[s->n++] = (struct stage_split){ first, last };
}

void splits_of(int layers, int pp, int low, int high, struct splits *ret)
{
    ret->n = 0;
    add(ret, stages_even.first, stages_even.last);
    add(ret, stages_ends.first, stages_ends.last);
    for (int last = low; last <= high; last++)
        for (int vpp = 1; pp * vpp <= layers + 2; vpp++) {
            int chunks = pp * vpp, first = (chunks - (layers + last) % chunks) % chunks;
            int each = (layers + first + last) / chunks;

            /* Stages keep a layer; chunks may have none. */
            if (MAX(first, last) <= (vpp == 1 ? each - 1 : each))
                add(ret, first, last);
        }
}
