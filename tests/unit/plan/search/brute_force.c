/* Searches against brute force: nested loops over everything, and space_has(); and how near the
 * bounds of cells come to the fastest step in each. */
#include <stdio.h>
#include <string.h>

#include "searched.h"
#include "tap.h"

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
    plainest_offer(&b->all.plainest, &c, s->cluster);
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

int main(void)
{
    test_tightness();
    test_brute_force();
    return done();
}
