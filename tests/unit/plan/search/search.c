/* Searches against brute force, and what must hold of any plan. */
#include "plan/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/cluster/constants.h"
#include "tap.h"

static struct cluster make_cluster(int nodes, int per_node, double memory_gb)
{
    struct cluster c = { .nodes = nodes,
                         .per_node = per_node,
                         .domain = per_node,
                         .link_rate = 450e9,
                         .nics = per_node,
                         .nic_rate = 50e9,
                         .nic_latency_s = 4e-6,
                         .link_latency_s = 2e-6,
                         .oversubscribed = 1 };

    c.gpu.flops[PLAN_FP16] = c.gpu.flops[PLAN_BF16] = 989e12;
    c.gpu.flops[PLAN_FP8] = 1979e12;
    c.gpu.memory_b = memory_gb * 1e9;
    c.gpu.memory_rate = 3.35e12;
    c.gpu.link_rate = c.link_rate;
    c.gpu.domain = 8;
    c.gpu.sms = 132;
    gpu_assume(&c.gpu);
    return c;
}

static struct plan_job dense_job(int layers, int hidden, int batch)
{
    return (struct plan_job){ .shape = { .layers = layers,
                                         .hidden = hidden,
                                         .heads = 12,
                                         .kv_heads = 4,
                                         .head_dim = hidden / 12,
                                         .ffn = 4 * hidden,
                                         .vocab = 32000,
                                         .gated = true },
                              .seq = 2048,
                              .global_batch = batch,
                              .precision = PLAN_BF16,
                              .attention = ATTENTION_FLASH,
                              .gradient_b = 4,
                              .fused = true,
                              .imbalance = 1 };
}

/* Its head is worth some layers. */
static struct plan_job heavy_job(void)
{
    struct plan_job job = dense_job(12, 3072, 8);

    job.shape.vocab = 256000;
    return job;
}

static struct plan_job expert_job(void)
{
    struct plan_job job = dense_job(10, 3072, 16);

    job.shape.experts = 4;
    job.shape.active = 2;
    job.shape.expert_ffn = 4096;
    job.shape.dense_first = 1;
    return job;
}

/* ---- the search as a program runs it ---- */

struct found {
    struct search s;
    double cells, done;
};

/* Cells are dealt to 'hands' searches by turns, as threads would take them. done_with() frees. */
static struct found *run(const struct space *space, const struct search_opts *opts, size_t hands)
{
    struct found *all = calloc(hands, sizeof(*all));
    struct search_cells cells;

    if (!all || search_cells(space, opts, &cells, NULL) != 0)
        abort();
    for (size_t h = 0; h < hands; h++)
        search_init(&all[h].s, space, opts);
    if (hands != 3) /* three go on without */
        search_start(&all->s, &cells);
    for (size_t i = 0; i < cells.n; i++) {
        struct found *one = &all[i * 7 % hands];

        if (search_done(&one->s, &cells.list[i]))
            continue;
        search_cell(&one->s, &cells.list[i]);
        all->done++;
        if (hands > 2) /* and some tell others what they know */
            all[(i + 1) % hands].s.limit_s = fmin(all[(i + 1) % hands].s.limit_s,
                                                  search_limit(&one->s));
    }
    for (size_t h = 1; h < hands; h++) {
        search_merge(&all->s, &all[h].s);
        search_free(&all[h].s);
    }
    all->cells = (double)cells.n;
    pareto_sort(&all->s.front);
    search_cells_done(&cells);
    return all;
}

static void done_with(struct found *f)
{
    search_free(&f->s);
    free(f);
}

/* ---- brute force: nested loops over everything, and space_has() ---- */

struct brute {
    const struct space *space;
    struct search all; /* only what it keeps is used */
    double n, fit;
};

/* As search.c does it, written once more: a sorted list with one of each family. */
static void keep(struct search *all, const struct found_layout *c)
{
    int at = 0;

    for (int i = 0; all->opts.families && i < all->n_best; i++)
        if (layout_same_degrees(&all->best[i].layout, &c->layout)) {
            if (!found_layout_before(c, &all->best[i]))
                return;
            memmove(&all->best[i], &all->best[i + 1], (size_t)(--all->n_best - i) * sizeof(*c));
            break;
        }
    while (at < all->n_best && found_layout_before(&all->best[at], c))
        at++;
    if (at == SEARCH_BEST_MAX)
        return;
    all->n_best = MIN(all->n_best, SEARCH_BEST_MAX - 1);
    memmove(&all->best[at + 1], &all->best[at], (size_t)(all->n_best - at) * sizeof(*c));
    all->best[at] = *c;
    all->n_best++;
}

static void try_one(struct brute *b, const struct layout *l)
{
    const struct space *s = b->space;
    struct found_layout c;

    if (!space_has(s, l))
        return;
    b->n++;
    candidate_make(s->job, s->cluster, l, &c);
    if (c.memory_b > s->cluster->gpu.memory_b)
        return;
    b->fit++;
    if (b->all.opts.front && pareto_offer(&b->all.front, &c) < 0)
        abort();
    plainest_offer(&b->all.plainest, &c, s->cluster->domain);
    keep(&b->all, &c);
}

static void try_flags(struct brute *b, struct layout *l)
{
    const int replicas = l->dp * l->cp;
    bool offload = (b->space->pins->fixed | b->space->pins->any) >> PIN_OFFLOAD & 1;

    for (int zero = 0; zero <= 3; zero++)
        for (int shard = 0; shard <= replicas; shard++)
            for (int bits = 0; bits < 64; bits++) {
                /* Where no part of them may be, space_has() is not asked: it would take long. */
                if ((shard && replicas % shard) || ((bits >> 4 & 1) && l->ep == 1) ||
                    ((bits >> 5 & 1) && !offload))
                    continue;
                l->zero = zero;
                l->shard = shard;
                l->seq_parallel = bits & 1;
                l->overlap_dp = bits >> 1 & 1;
                l->overlap_tp = bits >> 2 & 1;
                l->overlap_pp = bits >> 3 & 1;
                l->overlap_ep = bits >> 4 & 1;
                l->offload = bits >> 5 & 1;
                try_one(b, l);
            }
}

/* Layers that the first and the last stage have fewer: up to so many are tried. */
enum { FEWER = 14 };

/* Without asking for everything else, which would take long. */
static bool has_split(const struct space *s, const struct layout *l)
{
    struct splits splits;

    space_splits(s, l->pp, &splits);
    for (int i = 0; i < splits.n; i++)
        if (stage_split_is(&splits.list[i], &l->less))
            return true;
    return false;
}

static void try_choices(struct brute *b, struct layout *l)
{
    int splits = l->pp > 1 ? FEWER * FEWER : 1;

    for (int bits = 0; bits < 3 * 5 * 3 * splits; bits++) {
        l->context = (enum context_kind)(bits % 3);
        l->recompute = (enum recompute)(bits / 3 % 5);
        l->schedule = (enum schedule)(bits / 15 % 3);
        l->less = (struct stage_split){ bits / 45 % FEWER, bits / 45 / FEWER };
        if (!has_split(b->space, l))
            continue;
        for (l->vpp = 1; l->vpp <= b->space->job->shape.layers; l->vpp++)
            for (l->micro_batch = 1; l->micro_batch <= b->space->job->global_batch;
                 l->micro_batch++) {
                l->zero = l->shard = 0;
                l->seq_parallel = false;
                if (layout_check(l, b->space->job, b->space->cluster, NULL) == 0)
                    try_flags(b, l);
            }
    }
}

static void try_all(struct brute *b)
{
    int gpus = b->space->gpus, experts = MAX(b->space->job->shape.experts, 1);
    struct layout l = { .tp = 1 };

    for (l.tp = 1; l.tp <= gpus; l.tp++)
        for (l.pp = 1; l.tp * l.pp <= gpus; l.pp++)
            for (l.cp = 1; l.tp * l.pp * l.cp <= gpus; l.cp++)
                for (l.dp = 1; l.tp * l.pp * l.cp * l.dp <= gpus; l.dp++)
                    for (l.ep = 1; l.ep <= experts; l.ep++)
                        for (l.etp = 1; l.etp <= experts; l.etp++) {
                            if (b->space->fewer || layout_gpus(&l) == gpus)
                                try_choices(b, &l);
                        }
}

/* What both choose of what they kept: nothing, or the same. */
static bool same_choice(const struct search *a, const struct search *b, double margin)
{
    double limit_s = b->n_best ? b->best[0].time_s * (1 + margin) : 0;
    const struct found_layout *x = plainest_find(&a->plainest, limit_s);
    const struct found_layout *y = plainest_find(&b->plainest, limit_s);

    return x && y ? !layout_compare(&x->layout, &y->layout) : x == y;
}

static bool same_list(const struct found_layout *a, const struct found_layout *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].time_s != b[i].time_s || a[i].memory_b != b[i].memory_b ||
            layout_compare(&a[i].layout, &b[i].layout) != 0)
            return false;
    return true;
}

struct trial {
    const char *name, *pins;
    struct plan_job job;
    struct cluster cluster;
    bool fewer;
};

static void compare(const struct trial *t, const struct search_opts *opts)
{
    struct pins pins = { .fixed = 0 };
    struct search_opts whole = *opts;
    struct space *space = calloc(1, sizeof(*space));
    struct brute *b = calloc(1, sizeof(*b));
    struct found *pruned, *all;

    if (!space || !b || pins_read(&pins, t->pins, NULL) != 0)
        abort();
    space_init(space, &t->job, &t->cluster, &pins, t->fewer);
    b->space = space;
    b->all.opts = *opts;
    try_all(b);
    pareto_sort(&b->all.front);
    whole.whole = true;
    all = run(space, &whole, 1);
    ok(all->s.made == b->n && all->s.fit == b->fit && space_count(space) == b->n,
       "%s: %.0f layouts, %.0f fit", t->name, b->n, b->fit);
    for (size_t hands = 1; hands <= 5; hands += 2) {
        pruned = run(space, opts, hands);
        ok(pruned->s.n_best == MIN(b->all.n_best, opts->best) &&
               same_list(pruned->s.best, b->all.best, pruned->s.n_best) &&
               same_list(all->s.best, b->all.best, pruned->s.n_best),
           "%s: the best %d are those of brute force, with %zu hands", t->name, opts->best, hands);
        ok(same_choice(&pruned->s, &b->all, opts->margin) &&
               same_choice(&all->s, &b->all, opts->margin),
           "%s: the plainest is that of brute force, with %zu hands", t->name, hands);
        ok(!opts->front ||
               (pruned->s.front.n == b->all.front.n &&
                same_list(pruned->s.front.list, b->all.front.list, (int)b->all.front.n)),
           "%s: the front of %zu is that of brute force", t->name, b->all.front.n);
        if (hands == 1)
            ok(opts->front || pruned->s.made < .7 * b->n || b->n < 300,
               "%s: %.0f of %.0f layouts were computed", t->name, pruned->s.made, b->n);
        done_with(pruned);
    }
    done_with(all);
    pareto_done(&b->all.front);
    free(b);
    free(space);
}

static void test_brute_force(void)
{
    const struct search_opts best = { .best = 5, .margin = .03 },
                             families = { .best = 4, .families = true, .margin = .04 },
                             front = { .best = 3, .families = true, .front = true, .margin = .1 };
    const struct trial trials[] = {
        { "one node", "", dense_job(12, 3072, 8), make_cluster(1, 8, 40), false },
        { "two nodes", "", dense_job(12, 3072, 16), make_cluster(2, 4, 24), false },
        { "little memory", "", dense_job(12, 3072, 8), make_cluster(2, 4, 12), false },
        { "any number of GPUs", "", dense_job(6, 1536, 6), make_cluster(3, 2, 16), true },
        { "a batch that does not divide", "", dense_job(12, 3072, 6), make_cluster(2, 4, 40),
          true },
        { "experts", "", expert_job(), make_cluster(1, 4, 80), false },
        { "experts, any number", "recompute=none", expert_job(), make_cluster(2, 2, 60), true },
        { "all schedules and overlaps",
          "schedule=any,vpp=any,seq_parallel=any,overlap_dp=any,overlap_tp=any,overlap_pp=any",
          dense_job(8, 1536, 8), make_cluster(1, 4, 16), false },
        { "states in the host's memory", "offload=any,recompute=norms", dense_job(12, 3072, 8),
          make_cluster(1, 4, 12), false },
        { "experts, overlapped", "overlap_ep=yes,recompute=mlp,offload=yes", expert_job(),
          make_cluster(2, 2, 6), false },
        { "experts, overlapped or not", "overlap_ep=any,zero=1,cp=1", expert_job(),
          make_cluster(2, 2, 60), false },
        { "pinned", "zero=1,tp=2,overlap_dp=no,stages=even", dense_job(12, 3072, 16),
          make_cluster(2, 4, 40), false },
        { "pinned groups", "shard=2,micro_batch=2,sp=no", dense_job(12, 3072, 16),
          make_cluster(2, 4, 40), false },
        { "pinned contexts", "cp=2,context=gather,recompute=full", dense_job(12, 3072, 16),
          make_cluster(2, 4, 40), false },
        { "plain attention", "attention=plain", dense_job(6, 1536, 8), make_cluster(1, 4, 10),
          false },
        { "a heavy head", "", heavy_job(), make_cluster(1, 4, 40), false },
        { "a heavy head, little memory", "cp=1", heavy_job(), make_cluster(1, 8, 16), false },
        { "a heavy head, pinned", "stages=1+3,pp=2", heavy_job(), make_cluster(1, 4, 40), false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
        struct trial t = trials[i];
        struct pins pins = { .fixed = 0 };

        if (pins_read(&pins, t.pins, NULL) != 0)
            abort();
        pins_set_job(&pins, &t.job);
        compare(&t, i % 3 == 0 ? &best : i % 3 == 1 ? &families : &front);
    }
}

/* The bounds of all cells against the fastest step in each: the largest share that one is of it. */
static double tightest(const char *name, const struct plan_job *job, const struct cluster *c)
{
    const struct search_opts opts = { .best = 1, .whole = true };
    struct pins pins = { .fixed = 0 };
    struct space *space = calloc(1, sizeof(*space));
    struct search *s = calloc(1, sizeof(*s));
    struct search_cells cells;
    double largest = 0;
    size_t over = 0;

    if (!space || !s || pins_read(&pins, "", NULL) != 0)
        abort();
    space_init(space, job, c, &pins, false);
    if (search_cells(space, &opts, &cells, NULL) != 0)
        abort();
    for (size_t i = 0; i < cells.n; i++) {
        double share;

        search_init(s, space, &opts);
        search_cell(s, &cells.list[i]);
        if (s->n_best) {
            share = cells.list[i].bound_s / s->best[0].time_s;
            over += share > 1;
            largest = fmax(largest, share);
        }
        search_free(s);
    }
    ok(over == 0, "%s: in none of %zu cells a step is shorter than the cell's bound", name,
       cells.n);
    search_cells_done(&cells);
    free(s);
    free(space);
    return largest;
}

static void test_tightness(void)
{
    const struct plan_job much = dense_job(12, 3072, 512), little = dense_job(12, 3072, 8);
    const struct cluster one = make_cluster(1, 1, 80), many = make_cluster(2, 4, 40);
    double share = tightest("one GPU", &much, &one);

    ok(share > .97, "the bound of one GPU, which waits for nobody, is %.4f of the step", share);
    tightest("eight GPUs", &little, &many);
}

/* ---- what must hold ---- */

static struct found_layout best_of(const struct plan_job *job, const struct cluster *c,
                                   const char *words, bool fewer)
{
    const struct search_opts opts = { .best = 1 };
    struct pins pins = { .fixed = 0 };
    struct space *space = calloc(1, sizeof(*space));
    struct found_layout best = { .time_s = (double)INFINITY };
    struct found *f;

    if (!space || pins_read(&pins, words, NULL) != 0)
        abort();
    space_init(space, job, c, &pins, fewer);
    f = run(space, &opts, 1);
    if (f->s.n_best)
        best = f->s.best[0];
    done_with(f);
    free(space);
    return best;
}

static void test_more_is_never_worse(void)
{
    const struct plan_job job = dense_job(24, 3072, 64);
    struct cluster c = make_cluster(4, 8, 40), more = c;
    double t = best_of(&job, &c, "", false).time_s;

    ok(isfinite(t), "a dense model has a plan on 32 GPUs");
    more.nic_rate *= 2;
    ok(best_of(&job, &more, "", false).time_s <= t, "a faster network makes no plan slower");
    more = c;
    more.link_rate *= 2;
    ok(best_of(&job, &more, "", false).time_s <= t, "faster links make no plan slower");
    more = c;
    more.gpu.memory_rate *= 2;
    ok(best_of(&job, &more, "", false).time_s <= t, "faster memory makes no plan slower");
    more = c;
    more.gpu.memory_b *= 2;
    ok(best_of(&job, &more, "", false).time_s <= t, "more memory makes no plan slower");
    more = c;
    more.nodes = 8;
    ok(best_of(&job, &more, "", true).time_s <= t,
       "more GPUs that may be left idle make no plan slower");
    more = c;
    more.gpu.flops[PLAN_BF16] *= 2;
    ok(best_of(&job, &more, "", false).time_s <= t, "a faster GPU makes no plan slower");
    ok(best_of(&job, &c, "tp=2", false).time_s >= t, "a pin makes no plan faster");
}

/* Memory with a larger micro-batch, which the pruning rests on. */
struct memory_walk {
    const struct space *space;
    size_t wrong, seen;
};

static enum space_next watch(void *ctx, const struct layout *block)
{
    struct memory_walk *w = ctx;
    struct plan_job more = *w->space->job;
    struct found_layout a, b;
    struct layout l = *block;

    candidate_make(w->space->job, w->space->cluster, &l, &a);
    more.global_batch *= 2;
    candidate_make(&more, w->space->cluster, &l, &b);
    w->wrong += b.memory_b < a.memory_b * (1 - 1e-12);
    l.micro_batch *= 2;
    if (layout_check(&l, w->space->job, w->space->cluster, NULL) < 0)
        return SPACE_ON;
    candidate_make(w->space->job, w->space->cluster, &l, &b);
    w->wrong += b.memory_b < a.memory_b * (1 - 1e-12);
    w->seen++;
    return SPACE_ON;
}

static bool watch_cell(void *ctx, const struct layout *l)
{
    struct memory_walk *w = ctx;
    const struct space_visit visit = { .fn = watch, .ctx = w };
    enum recompute again[SPACE_RECOMPUTES];
    struct layout one = *l;

    for (int i = space_recomputes(w->space, again) - 1; i >= 0; i--) {
        one.recompute = again[i];
        space_each_block(w->space, &one, &visit);
    }
    return true;
}

static void test_memory_of_batches(void)
{
    const struct plan_job jobs[] = { dense_job(24, 3072, 64), expert_job() };
    const struct cluster c = make_cluster(2, 8, 80);

    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        struct space *space = calloc(1, sizeof(*space));
        struct memory_walk w = { .space = space };

        if (!space)
            abort();
        space_init(space, &jobs[i], &c, NULL, true);
        space_each_cell(space, watch_cell, &w);
        ok(w.seen > 20 && !w.wrong,
           "memory never falls when a batch or a micro-batch grows, %zu pairs", w.seen);
        free(space);
    }
}

/* The fastest on some kinds of GPU, found again among all of them. */
static void test_kinds(void)
{
    const struct plan_job job = dense_job(24, 3072, 64);
    struct cluster kinds[3] = { make_cluster(2, 8, 40), make_cluster(2, 8, 80),
                                make_cluster(2, 8, 40) };
    struct found_layout some, all = { .time_s = (double)INFINITY }, one;

    kinds[1].gpu.flops[PLAN_BF16] /= 3;
    kinds[2].gpu.flops[PLAN_BF16] *= 1.5;
    some = best_of(&job, &kinds[2], "", false);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        one = best_of(&job, &kinds[i], "", false);
        all = found_layout_before(&one, &all) ? one : all;
    }
    ok(same_list(&some, &all, 1),
       "the winner of a subset is the winner of all where it is in both");
}

static void test_near(void)
{
    struct plan_job job = dense_job(24, 6144, 8);
    struct cluster c = make_cluster(1, 4, 8);
    struct space *space = calloc(1, sizeof(*space));
    struct brute *b = calloc(1, sizeof(*b));
    struct found_layout near;

    if (!space || !b)
        abort();
    space_init(space, &job, &c, NULL, false);
    ok(isinf(best_of(&job, &c, "", false).time_s), "a model too large for its GPUs has no plan");
    ok(search_near(space, &near), "search_near finds the layout nearest to fitting");
    c.gpu.memory_b = near.memory_b;
    ok(isfinite(best_of(&job, &c, "", false).time_s),
       "a model fits with the memory of the nearest layout");
    c.gpu.memory_b = near.memory_b * (1 - 1e-9);
    ok(isinf(best_of(&job, &c, "", false).time_s),
       "a model does not fit with a byte less than the nearest layout");
    job.global_batch = 3;
    space_init(space, &job, &c, &(struct pins){ .layout.dp = 4, .fixed = 1U << PIN_DP }, false);
    ok(!search_near(space, &near), "search_near finds nothing where there is no layout");
    free(b);
    free(space);
}

static bool has(const char *pins_words, const char *words)
{
    const struct plan_job job = dense_job(12, 3072, 16);
    const struct cluster c = make_cluster(2, 4, 80);
    struct pins pins = { .fixed = 0 }, all = { .fixed = 0 };
    struct space *space = calloc(1, sizeof(*space));
    struct layout l = { .dp = 0 };
    bool ret;

    if (!space || pins_read(&pins, pins_words, NULL) != 0 || pins_read(&all, words, NULL) != 0 ||
        pins_complete(&all, &job, &c, &l, NULL) != 0)
        abort();
    space_init(space, &job, &c, &pins, false);
    ret = space_has(space, &l);
    free(space);
    return ret;
}

static void test_rules(void)
{
    ok(has("", "tp=2,pp=2,vpp=3,micro_batch=2"), "a space has chunks of two layers each");
    ok(!has("", "tp=2,pp=2,vpp=5,micro_batch=2"), "a space has no chunks of one and of two layers");
    ok(has("vpp=any", "tp=2,pp=2,vpp=5,micro_batch=2"),
       "a space has uneven chunks where any is asked for");
    ok(!has("vpp=3", "tp=2,pp=2,micro_batch=2"), "a space lacks what a pin excludes");
    ok(has("", "zero=2,micro_batch=2") && has("", "zero=2,micro_batch=1"),
       "a space has ZeRO-2 with one micro-batch and with several");
    ok(has("", "pp=2,zero=2,micro_batch=4") && !has("", "pp=2,zero=2,micro_batch=2"),
       "a space has ZeRO-2 in a pipeline where a step has one micro-batch");
    ok(has("zero=2", "pp=2,zero=2,micro_batch=2"),
       "a space has a pinned ZeRO-2 in a pipeline with several micro-batches");
    ok(has("", "tp=4,cp=2,context=ring") && !has("tp=1", "tp=4"),
       "a space has tp over a node unless it is pinned");
    ok(!has("", "tp=2,recompute=selective"),
       "a space has no selective recompute with fused attention");
    ok(!has("", "tp=2,sp=no") && has("sp=any", "tp=2,sp=no"),
       "a space has tp without sequence parallelism only where asked");
    ok(!has("", "pp=2,schedule=gpipe") && has("schedule=any", "pp=2,schedule=gpipe"),
       "a space has other schedules only where asked");
    ok(!has("", "overlap_dp=no") && has("overlap_dp=no", "overlap_dp=no"),
       "a space has no overlap off unless pinned");
    ok(!has("", "tp=2,dp=2"), "a space has only layouts of all GPUs");
}

static void test_groups(void)
{
    const struct plan_job job = dense_job(12, 3072, 12);
    const struct cluster c = make_cluster(2, 6, 80);
    struct space *space = calloc(1, sizeof(*space));
    struct layout l = { 4, 1, 1, 1, 1, 1, 3, .micro_batch = 1, .zero = 1 };

    if (!space)
        abort();
    l.seq_parallel = l.overlap_tp = l.overlap_dp = true;
    space_init(space, &job, &c, NULL, false);
    ok(layout_check(&l, &job, &c, NULL) == 0 && !space_has(space, &l),
       "a space has no groups of 4 in nodes of 6");
    l.tp = 2;
    l.dp = 6;
    ok(space_has(space, &l), "a space has groups of 2 in nodes of 6");
    free(space);
}

static void test_front(void)
{
    const struct found_layout a = { { .tp = 1, .zero = 1 }, 1, 10.2e9, 8 },
                              same = { { .tp = 2, .zero = 0 }, 1, 10.7e9, 8 },
                              slower = { { .tp = 3 }, 2, 10.3e9, 8 },
                              smaller = { { .tp = 4 }, 2, 9.9e9, 8 },
                              fewer = { { .tp = 5 }, 3, 10.8e9, 4 };
    const struct found_layout *const orders[][5] = { { &a, &same, &slower, &smaller, &fewer },
                                                     { &fewer, &smaller, &slower, &same, &a },
                                                     { &slower, &a, &fewer, &same, &smaller } };

    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        struct pareto f = { .n = 0 };

        for (size_t k = 0; k < ARRAY_SIZE(orders[i]); k++)
            if (pareto_offer(&f, orders[i][k]) < 0)
                abort();
        pareto_sort(&f);
        ok(f.n == 3 && f.list[0].layout.tp == 2 && f.list[1].layout.tp == 4 &&
               f.list[2].layout.tp == 5,
           "three stay, of two alike the plainer one, in whatever order they come");
        ok(pareto_beats(&f, 2.5, 10.5e9, 8) && !pareto_beats(&f, .5, 10.5e9, 8) &&
               !pareto_beats(&f, 2.5, 9e9, 8) && !pareto_beats(&f, 2.5, 10.5e9, 2),
           "what is worse in all is beaten");
        pareto_done(&f);
    }
}

/* The plainest that is near enough goes first; it takes the place of one like it, or the last. */
static void test_prefer(void)
{
    const struct cluster c = { .domain = 8 };
    const struct space space = { .cluster = &c };
    struct search s = { .space = &space, .opts = { .best = 2, .families = true, .margin = .04 } };
    struct found_layout list[3] = {
        { .layout = { .tp = 2, .pp = 2, .cp = 2, .dp = 1 }, .time_s = 1, .gpus = 8 },
        { .layout = { .tp = 4, .pp = 2, .cp = 1, .dp = 1 }, .time_s = 1.02, .gpus = 8 },
        { .layout = { .tp = 8, .pp = 1, .cp = 1, .dp = 1 }, .time_s = 1.03, .gpus = 8 },
    };
    struct found_layout fastest;

    ok(layout_kinds(&list[0].layout, 8) == 3 && layout_kinds(&list[2].layout, 8) == 1 &&
           layout_kinds(&list[2].layout, 4) == 2,
       "kinds of parallelism are counted, and one more for a wide tp");
    fastest = list[2];
    fastest.layout.zero = 3;
    ok(layout_kinds(&fastest.layout, 8) == 2, "ZeRO-3 counts as a kind of parallelism");
    fastest = list[0];
    fastest.layout.less = stages_ends;
    ok(layout_kinds(&fastest.layout, 8) == 3, "stages with ends count as no kind of parallelism");
    fastest.layout.less.last = 2;
    ok(layout_kinds(&fastest.layout, 8) == 4, "stages of their own count as a kind of parallelism");
    for (int i = 0; i < 3; i++)
        plainest_offer(&s.plainest, &list[i], c.domain);
    s.best[0] = list[0];
    s.best[1] = list[1];
    s.n_best = 2;
    ok(search_prefer_plain(&s, &fastest) && fastest.layout.cp == 2 && s.best[0].layout.tp == 8 &&
           s.best[1].layout.cp == 2 && s.n_best == 2,
       "the plainest takes the last place's room and goes first");
    s.best[0] = list[0];
    s.best[1] = list[2];
    s.opts.margin = .02;
    ok(search_prefer_plain(&s, &fastest) && s.best[0].layout.tp == 4,
       "what is slower than the margin is not chosen");
    s.best[0] = list[0];
    s.opts.margin = .01;
    ok(!search_prefer_plain(&s, &fastest) && s.best[0].layout.cp == 2,
       "the fastest stays where nothing else is near");
    s.limit_s = (double)INFINITY;
    s.best[1].time_s = 1.001;
    ok(fabs(search_limit(&s) - 1.01) < 1e-9, "layouts within the margin are not left out");
    s.opts.margin = 0;
    ok(fabs(search_limit(&s) - 1.001) < 1e-9, "without a margin the list's last is the limit");
}

/* A large embedding, whose gathered weights cost more than ZeRO-3 saves. */
static void test_first_zero(void)
{
    struct plan_job job = dense_job(4, 768, 8);
    struct cluster c = make_cluster(1, 2, 1);
    struct space *space = calloc(1, sizeof(*space));
    const char *words = "tp=1,pp=1,cp=1";
    struct pins pins = { .fixed = 0 };
    struct found_layout near;

    if (!space || pins_read(&pins, words, NULL) != 0)
        abort();
    job.shape.vocab = 512000;
    job.shape.tied = true;
    space_init(space, &job, &c, &pins, false);
    ok(search_near(space, &near) && near.layout.zero == 2,
       "ZeRO-2 needs the least memory with a large embedding");
    c.gpu.memory_b = near.memory_b;
    ok(best_of(&job, &c, words, false).layout.zero == 2, "ZeRO-2 is found where it alone fits");
    /* One block, whose gradients are whole before they are scattered. */
    job.shape.layers = 1;
    job.shape.vocab = 128;
    ok(search_near(space, &near) && near.layout.zero == 1,
       "ZeRO-1 needs the least memory with a single block");
    c.gpu.memory_b = near.memory_b;
    ok(best_of(&job, &c, words, false).layout.zero == 1, "ZeRO-1 is found where it alone fits");
    free(space);
}

/* One replica has a communicator less than several, whose memory nothing else tells apart. */
static void test_one_replica(void)
{
    struct plan_job job = dense_job(2, 3072, 8);
    struct cluster c = make_cluster(1, 4, 1);
    struct space *space = calloc(1, sizeof(*space));
    const char *words = "tp=1,cp=1,zero=0";
    struct pins pins = { .fixed = 0 };
    struct found_layout near;

    if (!space || pins_read(&pins, words, NULL) != 0)
        abort();
    space_init(space, &job, &c, &pins, true);
    ok(search_near(space, &near) && near.layout.dp == 1, "one replica needs the least memory");
    c.gpu.memory_b = near.memory_b;
    ok(best_of(&job, &c, words, true).layout.dp == 1, "one replica is found where it alone fits");
    free(space);
}

/* Where nothing is lost between devices, the bounds are nearly the time itself: a search that is
 * told the best time beforehand must still find it. */
static void test_bounds(void)
{
    static const struct {
        int gpus;
        const char *pins;
    } cases[] = { { 1, "" }, { 1, "schedule=any" }, { 2, "pp=2,tp=1,dp=1" } };
    const struct search_opts best = { .best = 1 };
    const struct plan_job job = dense_job(12, 3072, 64);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cluster c = make_cluster(1, cases[i].gpus, 80);
        struct found_layout known = best_of(&job, &c, cases[i].pins, false);
        struct space *space = calloc(1, sizeof(*space));
        struct pins pins = { .fixed = 0 };
        struct search_cells cells;
        struct search s;

        if (!space || pins_read(&pins, cases[i].pins, NULL) != 0)
            abort();
        space_init(space, &job, &c, &pins, false);
        if (search_cells(space, &best, &cells, NULL) != 0)
            abort();
        search_init(&s, space, &best);
        s.limit_s = known.time_s * (1 + 1e-12);
        ok(cells.n > 0 && (cases[i].gpus > 1 || cells.list[0].bound_s > known.time_s / 1.05),
           "on one GPU the lowest bound of a cell is within 5 %% of the best time");
        for (size_t k = 0; k < cells.n && !search_done(&s, &cells.list[k]); k++)
            search_cell(&s, &cells.list[k]);
        ok(s.n_best == 1 && same_list(s.best, &known, 1),
           "on %d GPUs no bound hides the best layout from a search that knows its time (%s)",
           cases[i].gpus, cases[i].pins);
        search_cells_done(&cells);
        search_free(&s);
        free(space);
    }
}

/* The split over two stages that the search takes, against all that there are. */
static void test_balance(void)
{
    const struct plan_job job = heavy_job();
    const struct cluster c = make_cluster(1, 2, 80);
    const struct found_layout best = best_of(&job, &c, "pp=2,zero=0,vpp=1", false);
    double even = best_of(&job, &c, "pp=2,zero=0,vpp=1,stages=even", false).time_s, least = even;

    for (int k = 0; k < 12; k++) {
        char words[64];

        snprintf(words, sizeof(words), "pp=2,zero=0,vpp=1,stages=%d+%d", k % 2, k);
        least = fmin(least, best_of(&job, &c, words, false).time_s);
    }
    ok(best.time_s == least && best.time_s < .9 * even,
       "stages of %d and %d layers take %.3f of those of as many: no others take less",
       layout_layers(&best.layout, 12, 0), layout_layers(&best.layout, 12, 1), best.time_s / even);
}

/* What the search has of splits beside even and ends. */
static void test_splits(void)
{
    const struct cluster c = make_cluster(1, 8, 80);
    struct plan_job job = dense_job(12, 3072, 8);
    int low, high, before;
    struct splits s;

    splits_of(61, 16, 1, 2, &s);
    ok(s.n == 4 && stage_split_is(&s.list[0], &stages_even) &&
           stage_split_is(&s.list[1], &stages_ends) && s.list[2].first == 2 &&
           s.list[2].last == 1 && s.list[3].first == 1 && s.list[3].last == 2,
       "61 layers on 16 stages may be less 2 and 1, and 1 and 2");
    splits_of(12, 4, 0, 0, &s);
    ok(s.n == 2, "12 layers on 4 stages with a head worth none are even, or have ends");
    splits_range(&job, &c, &low, &before);
    ok(low == 0 && before == 2, "a head of 32,000 words is worth %d to %d layers", low, before);
    job.shape.vocab = 256000;
    splits_range(&job, &c, &low, &high);
    ok(low >= 3 && high > low, "a head of 256,000 words is worth %d to %d layers", low, high);
    before = high;
    job.fused_loss = true;
    splits_range(&job, &c, &low, &high);
    ok(high <= before, "a fused loss is worth less: %d layers", high);
    before = high;
    job.precision = PLAN_FP8;
    splits_range(&job, &c, &low, &high);
    ok(high > before, "a head beside layers of 8 bits is worth more: %d layers", high);
}

int main(void)
{
    test_balance();
    test_splits();
    test_tightness();
    test_one_replica();
    test_rules();
    test_groups();
    test_front();
    test_brute_force();
    test_bounds();
    test_more_is_never_worse();
    test_memory_of_batches();
    test_kinds();
    test_near();
    test_first_zero();
    test_prefer();
    return done();
}
