#include "plan/search/search.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Bounds are sums in another order than the times they bound. */
static const double slack = 1 - 1e-9;

/* The largest micro-batch of the layouts that a search starts with. */
enum { START_BATCH = 4 };

/* ---- bounds ---- */

/* Forward and backward of one micro-batch through the whole model. */
static double whole_model(const struct plan_job *job, const struct layer_costs *c)
{
    struct layout one = { .pp = 1, .vpp = 1 };
    double dense, experts;

    memory_stage_layers(job, &one, 0, &dense, &experts);
    return dense * (c->dense.forward + c->dense.backward) +
           experts * (c->expert.forward + c->expert.backward) + c->head.forward + c->head.backward +
           c->embedding.forward + c->embedding.backward;
}

/* pp x dp below which no step is as short as time_s. */
static double least_stages(const struct space *s, int micro_batch, double model_s, double time_s)
{
    return slack * s->job->global_batch / micro_batch * model_s / time_s;
}

/* The same layout as it needs least memory: over all replicas, in one chunk; zero: the most that
 * there may be below 3. What is not above 'enough' may be more than the least. */
static double least_memory(const struct space *s, const struct layout *block, int zero,
                           double enough, const struct layer_bytes *bytes)
{
    struct layout l = *block;
    struct memory two, three;

    l.vpp = 1;
    l.schedule = SCHEDULE_1F1B;
    l.shard = 0;
    l.overlap_ep = false;
    l.offload = pins_has(s->pins, PIN_OFFLOAD) ? s->pins->layout.offload
                                               : s->pins->any >> PIN_OFFLOAD & 1;
    if (pins_has(s->pins, PIN_ZERO)) {
        l.zero = s->pins->layout.zero;
        memory_make(s->job, &l, bytes, &two);
        return two.total;
    }
    l.zero = zero;
    memory_make(s->job, &l, bytes, &two);
    if (two.total <= enough)
        return two.total;
    if (zero == 2) { /* which has a block's gradients beside those that it keeps */
        l.zero = 1;
        memory_make(s->job, &l, bytes, &three);
        two.total = fmin(two.total, three.total);
    }
    l.zero = 3;
    memory_make(s->job, &l, bytes, &three);
    return fmin(two.total, three.total);
}

/* ---- one layout ---- */

static void evaluate(const struct space *s, const struct layout *l, const struct plan_tables *t,
                     struct found_layout *ret)
{
    struct memory memory;
    struct plan_step step;

    memory_make(s->job, l, &t->bytes, &memory);
    plan_step_make(s->job, s->cluster, l, t, &step);
    ret->layout = *l;
    ret->time_s = step.time_s;
    ret->memory_b = memory.total;
    ret->gpus = layout_gpus(l);
}

void candidate_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                    struct found_layout *ret)
{
    struct space s = { .job = job, .cluster = c };
    struct plan_tables t;

    plan_tables_make(job, c, l, &t);
    evaluate(&s, l, &t, ret);
}

/* ---- what is kept ---- */

double search_limit(const struct search *s)
{
    double own = s->n_best == s->opts.best ? s->best[s->n_best - 1].time_s : (double)INFINITY;

    if (s->n_best)
        own = fmax(own, s->best[0].time_s * (1 + s->opts.margin));

    return fmin(own, s->limit_s);
}

/* Put c where it belongs among the best, of which it takes the place 'hole'. */
static void insert(struct search *s, int hole, const struct found_layout *c)
{
    while (hole > 0 && found_layout_before(c, &s->best[hole - 1])) {
        s->best[hole] = s->best[hole - 1];
        hole--;
    }
    s->best[hole] = *c;
}

static void offer_best(struct search *s, const struct found_layout *c)
{
    if (s->n_best == s->opts.best && !found_layout_before(c, &s->best[s->n_best - 1]))
        return;
    for (int i = 0; i < s->n_best; i++) {
        if (s->opts.families ? !layout_same_degrees(&c->layout, &s->best[i].layout)
                             : layout_compare(&c->layout, &s->best[i].layout) != 0)
            continue;
        if (found_layout_before(c, &s->best[i]))
            insert(s, i, c);
        return;
    }
    if (s->n_best < s->opts.best)
        s->n_best++;
    insert(s, s->n_best - 1, c);
}

static void offer(struct search *s, const struct found_layout *c)
{
    offer_best(s, c);
    if (s->opts.margin > 0)
        plainest_offer(&s->plainest, c, s->space->cluster);
    if (s->opts.front && pareto_offer(&s->front, c) < 0)
        s->error = -ENOMEM;
}

/* Whether layouts that are at best as good as this can be left out. */
static bool hopeless(const struct search *s, double time_s, double memory_b, int gpus)
{
    if (s->opts.whole || !(time_s > search_limit(s)))
        return false;
    return !s->opts.front || pareto_beats(&s->front, time_s, memory_b, gpus);
}

/* ---- cells ---- */

struct cell_work {
    struct search *s;
    const struct plan_tables *t;
    double model_s; /* whole_model() */
    struct chunkings chunkings;
    struct shardings shardings;
};

static void try_layout(struct cell_work *w, const struct layout *l)
{
    struct search *s = w->s;
    double room = s->space->cluster->gpu.memory_b;
    struct found_layout c = { .gpus = layout_gpus(l) };
    struct memory memory;
    struct plan_step step;

    memory_make(s->space->job, l, &w->t->bytes, &memory);
    if (memory.total > room && !s->opts.whole)
        return;
    plan_step_make(s->space->job, s->space->cluster, l, w->t, &step);
    s->made++;
    if (memory.total > room)
        return;
    s->fit++;
    c.layout = *l;
    c.time_s = step.time_s;
    c.memory_b = memory.total;
    offer(s, &c);
}

/* All but what data parallelism and the optimizer add: of no ZeRO and ZeRO-1 and 2 the same, of
 * ZeRO-3 more in every stage. */
static double without_replicas(const struct cell_work *w, const struct layout *block)
{
    const struct space *space = w->s->space;
    struct layout l = *block;
    struct plan_step step;

    l.zero = l.shard = 0;
    plan_step_make(space->job, space->cluster, &l, w->t, &step);
    return slack * (step.time_s - step.part[PART_DP] - step.part[PART_OPTIMIZER]);
}

/* The chunkings of a block that can be fast enough; how many. */
static int drop_slow(struct cell_work *w, const struct layout *block, double memory, int gpus)
{
    struct layout one = *block;
    int kept = 0;

    space_chunkings(w->s->space, block, &w->chunkings);
    for (int i = 0; i < w->chunkings.n; i++) {
        chunking_set(&one, &w->chunkings.list[i]);
        w->s->bounded++;
        if (w->s->opts.whole || !hopeless(w->s, without_replicas(w, &one), memory, gpus))
            w->chunkings.list[kept++] = w->chunkings.list[i];
    }
    return w->chunkings.n = kept;
}

/* The most chunks that a block may be in. */
static int most_chunks(const struct space *s, const struct layout *block, int micro_batches)
{
    if (pins_has(s->pins, PIN_VPP))
        return s->pins->layout.vpp;
    return micro_batches % block->pp ? 1 : MAX((s->job->shape.layers + 2) / block->pp, 1);
}

/* The work spread evenly over the stages, and the bubble that it leaves with 1F1B. */
static double even_stages(const struct cell_work *w, const struct layout *block, int micro_batches)
{
    const struct space *s = w->s->space;
    double chunks;

    if (s->pins->any >> PIN_SCHEDULE & 1 || pins_has(s->pins, PIN_SCHEDULE))
        return slack * micro_batches * w->model_s / block->pp;
    chunks = most_chunks(s, block, micro_batches);
    return slack * w->model_s * ((micro_batches - 1 / chunks) / block->pp + 1 / chunks);
}

/* Whether a pp and dp can be fast enough. */
static enum space_next is_hopeful(void *ctx, const struct layout *l)
{
    struct cell_work *w = ctx;
    int gpus = layout_gpus(l), m = layout_micro_batches(l, w->s->space->job);

    w->s->asked++;
    if (hopeless(w->s, slack * m * w->model_s / l->pp, 0, gpus))
        return SPACE_NEXT_PP; /* fewer replicas take longer */
    return hopeless(w->s, even_stages(w, l, m), 0, gpus) ? SPACE_SKIP : SPACE_ON;
}

static enum space_next run_block(void *ctx, const struct layout *l)
{
    struct cell_work *w = ctx;
    const struct space *space = w->s->space;
    struct layout one = *l;
    double memory = 0, room = space->cluster->gpu.memory_b;
    int gpus = layout_gpus(l);

    if (!w->s->opts.whole) {
        memory = least_memory(space, l,
                              l->pp > 1 && layout_micro_batches(l, space->job) > 1 ? 1 : 2,
                              w->s->opts.front ? 0 : room, &w->t->bytes);
        if (memory > room)
            return SPACE_ON;
    }
    if (!drop_slow(w, l, memory, gpus))
        return SPACE_ON;
    space_shardings(space, l, &w->shardings);
    for (int i = 0; i < w->chunkings.n; i++) {
        chunking_set(&one, &w->chunkings.list[i]);
        for (int k = 0; k < w->shardings.n; k++) {
            sharding_set(&one, &w->shardings.list[k]);
            try_layout(w, &one);
        }
    }
    return SPACE_ON;
}

static struct layout layout_of(const struct search_cell *c)
{
    return (struct layout){ .tp = c->tp,
                            .pp = 1,
                            .vpp = 1,
                            .cp = c->cp,
                            .ep = c->ep,
                            .etp = c->etp,
                            .dp = 1,
                            .context = (enum context_kind)c->context,
                            .micro_batch = c->micro_batch,
                            .seq_parallel = c->seq_parallel,
                            .overlap_tp = c->overlap_tp,
                            .overlap_ep = c->overlap_ep,
                            .overlap_dp = true };
}

static void run_cell(struct search *s, const struct search_cell *cell)
{
    const struct space *space = s->space;
    enum recompute again[SPACE_RECOMPUTES];
    int n = space_recomputes(space, again), rest = space->gpus / (cell->tp * cell->cp);
    struct layout l = layout_of(cell);
    struct plan_tables t;
    struct cell_work w = { .s = s, .t = &t };
    struct space_visit visit = { .ask = is_hopeful, .fn = run_block, .ctx = &w };

    for (int i = 0; i < n; i++) {
        l.recompute = again[i];
        plan_tables_make(space->job, space->cluster, &l, &t);
        w.model_s = whole_model(space->job, &t.costs);
        if (!s->opts.whole && !s->opts.front)
            visit.least = least_stages(space, cell->micro_batch, w.model_s, search_limit(s));
        if (visit.least <= rest)
            space_each_block(space, &l, &visit);
    }
}

void search_cell(struct search *s, const struct search_cell *cell)
{
    if (!cell->done)
        run_cell(s, cell);
}

void search_start(struct search *s, struct search_cells *cells)
{
    const struct axis *tp = &s->space->tp;

    if (s->opts.whole || s->opts.front)
        return;
    /* Wide tensor parallelism needs least memory: it finds one that fits, if any does. */
    for (int i = tp->n - 1; i >= 0; i--)
        for (size_t k = 0; k < cells->n; k++) {
            struct search_cell *c = &cells->list[k];

            if (c->tp != tp->values[i] || c->cp > 1 || c->micro_batch > START_BATCH || c->done)
                continue;
            run_cell(s, c);
            c->done = true;
            break;
        }
}

bool search_done(const struct search *s, const struct search_cell *cell)
{
    return !s->opts.whole && !s->opts.front && cell->bound_s > search_limit(s);
}

void search_init(struct search *s, const struct space *space, const struct search_opts *opts)
{
    memset(s, 0, sizeof(*s));
    s->space = space;
    s->opts = *opts;
    s->opts.best = MIN(MAX(opts->best, 1), SEARCH_BEST_MAX);
    s->limit_s = (double)INFINITY;
}

void search_free(struct search *s)
{
    pareto_done(&s->front);
}

bool search_prefer_plain(struct search *s, struct found_layout *fastest)
{
    double limit_s = s->best[0].time_s * (1 + s->opts.margin);
    const struct found_layout *found = plainest_find(&s->plainest, limit_s);
    int at = 0;

    *fastest = s->best[0];
    if (!found || !layout_compare(&found->layout, &fastest->layout))
        return false;
    /* Its own place, or that of another with the same degrees, or the last. */
    while (at < s->n_best - 1 && layout_compare(&found->layout, &s->best[at].layout) &&
           !(s->opts.families && layout_same_degrees(&found->layout, &s->best[at].layout)))
        at++;
    for (; at > 0; at--)
        s->best[at] = s->best[at - 1];
    s->best[0] = *found;
    return true;
}

void search_merge(struct search *into, const struct search *from)
{
    for (int i = 0; i < from->n_best; i++)
        offer_best(into, &from->best[i]);
    for (size_t i = 0; i < from->front.n; i++)
        if (pareto_offer(&into->front, &from->front.list[i]) < 0)
            into->error = -ENOMEM;
    plainest_merge(&into->plainest, &from->plainest);
    into->asked += from->asked;
    into->bounded += from->bounded;
    into->made += from->made;
    into->fit += from->fit;
    into->error = into->error ? into->error : from->error;
}

/* ---- the list of cells ---- */

struct lister {
    const struct space *space;
    const struct search_opts *opts;
    struct search_cells *cells;
    size_t room;
    int error;
    /* Of the cell at hand. */
    struct layer_bytes bytes;
    bool legal;
};

static int cell_add(struct lister *k, const struct layout *l)
{
    enum recompute again[SPACE_RECOMPUTES];
    struct search_cells *c = k->cells;
    struct layer_costs costs;
    int rest = k->space->gpus / (l->tp * l->cp);
    struct layout first = *l;
    double bound_s;

    if (c->n == k->room) {
        size_t room = MAX(2 * k->room, (size_t)256);
        struct search_cell *list = realloc(c->list, room * sizeof(*list));

        if (!list)
            return -ENOMEM;
        c->list = list;
        k->room = room;
    }
    space_recomputes(k->space, again);
    first.recompute = again[0]; /* the least */
    layer_costs(k->space->job, k->space->cluster, &first, &costs);
    bound_s = least_stages(k->space, l->micro_batch, whole_model(k->space->job, &costs), 1) / rest;
    c->list[c->n++] = (struct search_cell){ .tp = l->tp,
                                            .cp = l->cp,
                                            .ep = l->ep,
                                            .etp = l->etp,
                                            .micro_batch = l->micro_batch,
                                            .context = (unsigned char)l->context,
                                            .seq_parallel = l->seq_parallel,
                                            .overlap_tp = l->overlap_tp,
                                            .overlap_ep = l->overlap_ep,
                                            .bound_s = bound_s };
    return 0;
}

/* Whether any pipeline of these layers fits, be its batch what it may: fewer GPUs than all need no
 * less memory, but for the communicator that a single replica does without. */
static bool fits_somewhere(struct lister *lister, const struct layout *cell)
{
    const struct space *s = lister->space;
    enum recompute again[SPACE_RECOMPUTES];
    int n = space_recomputes(s, again), rest = s->gpus / (cell->tp * cell->cp);
    int most = MIN(rest, s->job->shape.layers);
    double room = s->cluster->gpu.memory_b + (s->fewer ? memory_communicator() : 0);
    struct layout l = *cell;
    struct splits splits;

    for (int i = n - 1; i >= 0; i--) {
        l.recompute = again[i];
        layer_bytes(s->job, &l, &lister->bytes);
        if (memory_floor(&lister->bytes) * slack > room)
            continue;
        for (l.pp = most; l.pp >= 1; l.pp--) {
            if (!s->fewer && rest % l.pp)
                continue;
            l.dp = rest / l.pp;
            if (layout_expert_dp(&l) < 1)
                continue;
            space_splits(s, l.pp, &splits);
            for (int k = 0; k < splits.n; k++) {
                l.less = splits.list[k];
                if (layout_layers(&l, s->job->shape.layers, 0) >= 1 &&
                    layout_layers(&l, s->job->shape.layers, l.pp - 1) >= 1 &&
                    least_memory(s, &l, 2, room, &lister->bytes) <= room)
                    return true;
            }
        }
    }
    return false;
}

static enum space_next is_legal(void *ctx, const struct layout *l)
{
    struct lister *k = ctx;

    (void)l;
    k->legal = true;
    return SPACE_STOP;
}

static bool list_cell(void *ctx, const struct layout *l)
{
    struct lister *k = ctx;
    struct layout kinds[SPACE_KINDS];
    const struct space_visit visit = { .fn = is_legal, .ctx = k };
    int n;

    if (!k->opts->whole && !fits_somewhere(k, l))
        return false;
    n = space_kinds(k->space, l, kinds);
    for (int i = 0; i < n && !k->error; i++) {
        k->legal = false;
        space_each_block(k->space, &kinds[i], &visit);
        if (k->legal)
            k->error = cell_add(k, &kinds[i]);
    }
    return !k->error;
}

static int compare(const void *x, const void *y)
{
    const struct search_cell *a = x, *b = y;

    return COMPARE(a->bound_s, b->bound_s);
}

int search_cells(const struct space *space, const struct search_opts *opts,
                 struct search_cells *ret, struct err *e)
{
    struct lister k = { .space = space, .opts = opts, .cells = ret };

    *ret = (struct search_cells){ .n = 0 };
    space_each_cell(space, list_cell, &k);
    if (k.error)
        return err_nomem(e);
    if (ret->n)
        qsort(ret->list, ret->n, sizeof(*ret->list), compare);
    return 0;
}

void search_cells_done(struct search_cells *c)
{
    free(c->list);
    *c = (struct search_cells){ .n = 0 };
}
