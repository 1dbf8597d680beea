#include "plan/measured/rows_choose.h"

#include <errno.h>
#include <math.h>

#include "plan/model/step.h"

/* What was run did fit, and memory is predicted to about a tenth. Of degrees that are stated it is
 * certain that they ran: an error of the prediction must not become another setting. */
static const double ran = 1.25;

/* The fastest layout of one setting. */
struct choice {
    const struct plan_job *job;
    const struct cluster *c;
    int gpus;
    double most; /* bytes of a GPU */
    struct layout best;
    double least; /* its time; infinite: none fits */
};

static bool has_free_degrees(const struct row_free *f)
{
    return f->micro_batch || f->vpp || f->pp || f->tp || f->ep;
}

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
    if (memory.total <= ch->most && step.time_s < ch->least) {
        ch->least = step.time_s;
        ch->best = *l;
    }
}

/* Micro-batches and chunks of one split of the GPUs. */
static void try_split(struct choice *ch, const struct row_free *f, const struct layout *from)
{
    static const int micro[] = { 1, 2, 4, 8, 16 }, chunks[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12 };
    struct layout l = *from;

    for (size_t i = 0; i < (f->micro_batch ? ARRAY_SIZE(micro) : 1); i++)
        for (size_t j = 0; j < (f->vpp ? ARRAY_SIZE(chunks) : 1); j++) {
            l.micro_batch = f->micro_batch ? micro[i] : from->micro_batch;
            l.vpp = f->vpp ? chunks[j] : from->vpp;
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
            split.less = layers % pp ? stages_ends : l->less;
            split.seq_parallel = parallel && tp > 1;
            split.overlap_tp = hidden && tp > 1;
            for (split.ep = f->ep ? 1 : l->ep; split.ep <= ep_end; split.ep *= 2)
                try_split(ch, f, &split);
        }
}

/* What stacks have that do not say it. */
static bool can_recompute(const struct plan_job *job, int r)
{
    if (r == RECOMPUTE_SELECTIVE)
        return job->attention == ATTENTION_PLAIN;
    return job->shape.experts > 0 || (r != RECOMPUTE_NORMS && r != RECOMPUTE_MLP);
}

enum { LEVELS = (int)RECOMPUTE_FULL + 1 };

/* The choices for the levels of recompute, each without and with the other setting of ZeRO, and of
 * sequence parallelism. */
struct choices {
    struct choice of[LEVELS][2][2];
};

static struct choice choose_one(const struct plan_job *job, const struct cluster *c,
                                const struct row_free *f, const struct layout *l)
{
    double share = has_free_degrees(f) ? 1 : ran;
    struct choice ch = { job, c, layout_gpus(l), share * c->gpu.memory_b, *l, (double)INFINITY };

    try_all(&ch, f, l);
    return ch;
}

static void choose_all(const struct plan_job *job, const struct cluster *c,
                       const struct row_free *f, const struct layout *l, struct choices *all)
{
    struct choice none = { job, c, 0, 0, *l, (double)INFINITY };
    bool zero = f->zero && l->zero <= 1, parallel = f->seq_parallel && (f->tp || l->tp > 1);

    for (int r = 0; r < LEVELS; r++)
        for (int z = 0; z < 2; z++)
            for (int p = 0; p < 2; p++) {
                struct layout from = *l;
                bool open = r == (int)l->recompute ||
                            (f->recompute && r > (int)l->recompute && can_recompute(job, r));

                from.recompute = (enum recompute)r;
                if (z)
                    from.zero = 1 - l->zero;
                if (p) {
                    from.seq_parallel = !l->seq_parallel;
                    from.overlap_tp = f->overlap_tp && from.seq_parallel;
                }
                all->of[r][z][p] = open && (!z || zero) && (!p || parallel)
                                       ? choose_one(job, c, f, &from)
                                       : none;
            }
}

/* The fastest of one level, or of all from it on; NULL: none fits. */
static const struct choice *fastest_of(const struct choices *all, int from, int to)
{
    const struct choice *best = NULL;

    for (int r = from; r <= to; r++)
        for (int i = 0; i < 4; i++) {
            const struct choice *ch = &all->of[r][i / 2][i % 2];

            if (!isinf(ch->least) && (!best || ch->least < best->least))
                best = ch;
        }
    return best;
}

/* Of the layout's own level, the one that fits with the fewest settings changed, ZeRO before
 * sequence parallelism; NULL: none fits. */
static const struct choice *nearest_of(const struct choices *all, int own)
{
    static const struct {
        int zero, parallel;
    } order[] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        const struct choice *ch = &all->of[own][order[i].zero][order[i].parallel];

        if (!isinf(ch->least))
            return ch;
    }
    return NULL;
}

/* The slowest of the layout's own level, and of those beyond it that are faster than 'most'. */
static const struct choice *slowest_of(const struct choices *all, int own, double most)
{
    const struct choice *worst = NULL;

    for (int r = own; r < LEVELS; r++)
        for (int i = 0; i < 4; i++) {
            const struct choice *ch = &all->of[r][i / 2][i % 2];

            if (!isinf(ch->least) && (r == own || ch->least < most) &&
                (!worst || ch->least > worst->least))
                worst = ch;
        }
    return worst;
}

int row_choose(const struct plan_job *job, const struct cluster *c, const struct row_free *f,
               const struct layout *l, struct row_range *ret, struct err *e)
{
    bool degrees = has_free_degrees(f);
    const struct choice *nearest, *fastest, *slowest, *own;
    int level = (int)l->recompute;
    struct choices all;

    *ret = (struct row_range){ *l, *l, *l };
    if (!degrees && !f->recompute && !f->zero && !f->seq_parallel)
        return 0;
    choose_all(job, c, f, l, &all);
    fastest = fastest_of(&all, level, RECOMPUTE_FULL);
    if (!fastest && degrees)
        return err_set(e, -EINVAL, "the layout is not stated, and what is stated does not fit");
    if (!fastest)
        return 0;
    own = fastest_of(&all, level, level);
    nearest = degrees ? NULL : nearest_of(&all, level);
    ret->likely = nearest ? nearest->best : fastest->best;
    ret->fastest = fastest->best;
    slowest = slowest_of(&all, level, own ? own->least : (double)INFINITY);
    ret->slowest = slowest ? slowest->best : fastest->best;
    return 0;
}
