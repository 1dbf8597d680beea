#include "plan/measured/rows_choose.h"

#include <errno.h>
#include <math.h>

#include "plan/model/step.h"

/* What was run did fit, and memory is predicted to about a tenth. */
static const double fits = 1.1;

struct choice {
    const struct plan_job *job;
    const struct cluster *c;
    int gpus;
    struct layout best;
    double least;
};

static void try_one(struct choice *ch, const struct layout *l)
{
    struct plan_tables tables;
    struct memory memory;
    struct plan_step step;

    if (layout_check(l, ch->job, ch->c, NULL) < 0)
        return;
    plan_tables_make(ch->job, ch->c, l, &tables);
    memory_make(ch->job, l, &tables.bytes, &memory);
    plan_step_make(ch->job, ch->c, l, &tables, &step);
    if (memory.total <= fits * ch->c->gpu.memory_b && step.time_s < ch->least) {
        ch->least = step.time_s;
        ch->best = *l;
    }
}

/* Micro-batches and chunks of one split of the GPUs. */
static void try_split(struct choice *ch, const struct row_free *f, const struct layout *from)
{
    static const int micro[] = { 1, 2, 4, 8, 16 }, chunks[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12 };
    bool chunked = f->vpp && from->pp > 1;
    struct layout l = *from;

    for (size_t i = 0; i < (f->micro_batch ? ARRAY_SIZE(micro) : 1); i++)
        for (size_t j = 0; j < (chunked ? ARRAY_SIZE(chunks) : 1); j++) {
            l.micro_batch = f->micro_batch ? micro[i] : from->micro_batch;
            l.vpp = chunked ? chunks[j] : from->vpp;
            l.overlap_pp = from->overlap_pp && l.vpp > 1;
            try_one(ch, &l);
        }
}

/* Every split of the GPUs that the free fields leave. */
static void try_all(struct choice *ch, const struct row_free *f, const struct layout *l)
{
    bool parallel = l->seq_parallel, hidden = l->overlap_tp;
    int layers = ch->job->shape.layers, tp_end = f->tp ? MIN(8, ch->c->per_node) : l->tp;
    int pp_end = f->pp ? 64 : l->pp, ep_end = f->ep ? ch->job->shape.experts : l->ep;

    for (int tp = f->tp ? 1 : l->tp; tp <= tp_end; tp *= 2)
        for (int pp = f->pp ? 1 : l->pp; pp <= pp_end; pp++) {
            struct layout split = *l;

            if (ch->gpus % (tp * pp * l->cp) || (f->pp && layers % pp && (layers + 2) % pp))
                continue;
            split.tp = tp;
            split.pp = pp;
            split.dp = ch->gpus / (tp * pp * l->cp);
            split.stages = layers % pp ? STAGES_ENDS : l->stages;
            split.seq_parallel = parallel && tp > 1;
            split.overlap_tp = hidden && tp > 1;
            for (split.ep = f->ep ? 1 : l->ep; split.ep <= ep_end; split.ep *= 2)
                try_split(ch, f, &split);
        }
}

/* What stacks have that do not say it. */
static bool can_recompute(const struct plan_job *job, enum recompute r)
{
    if (r == RECOMPUTE_SELECTIVE)
        return job->attention == ATTENTION_PLAIN || job->again > 0;
    return job->shape.experts > 0 || (r != RECOMPUTE_NORMS && r != RECOMPUTE_MLP);
}

int row_choose(const struct plan_job *job, const struct cluster *c, const struct row_free *f,
               struct layout *l, struct err *e)
{
    struct choice ch = { job, c, layout_gpus(l), *l, (double)INFINITY };
    bool others = f->micro_batch || f->vpp || f->pp || f->tp || f->ep;
    struct layout from = *l;

    if (!others)
        return 0;
    for (int r = from.recompute; r <= RECOMPUTE_FULL && isinf(ch.least); r++) {
        from.recompute = (enum recompute)r;
        if (can_recompute(job, from.recompute))
            try_all(&ch, f, &from);
        if (!f->recompute)
            break;
    }
    if (isinf(ch.least))
        return err_set(e, -EINVAL, "the layout is not stated, and what is stated does not fit");
    *l = ch.best;
    return 0;
}
