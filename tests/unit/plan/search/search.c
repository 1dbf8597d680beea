/* What must hold of any plan. */
#include <string.h>

#include "searched.h"
#include "tap.h"

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
    struct found_layout near;

    if (!space)
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
    ok(has("", "tp=2,sp=no") && has("", "tp=2,sp=yes") && !has("sp=yes", "tp=2,sp=no"),
       "a space has tp with sequence parallelism and without");
    ok(!has("", "tp=1,sp=yes"), "a space has no sequence parallelism without tp");
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
    const struct cluster c = { .domain = 8 }, tight = { .domain = 8, .gpu = { .memory_b = 80 } };
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
    ok(!layout_fills(96, 100) && layout_fills(97, 100),
       "less than a twenty-fifth of the memory is no room");
    for (int i = 0; i < 3; i++)
        plainest_offer(&s.plainest, &list[i], &c);
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
    memset(&s.plainest, 0, sizeof(s.plainest));
    s.opts.margin = .04;
    s.best[0] = list[0];
    s.best[1] = list[1];
    list[2].memory_b = 79;
    list[2].time_s = 1.03;
    plainest_offer(&s.plainest, &list[1], &tight);
    plainest_offer(&s.plainest, &list[2], &tight);
    ok(search_prefer_plain(&s, &fastest) && s.best[0].layout.tp == 4,
       "of a layout that fills the memory and one of a kind more the faster one is the plainest");
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
    test_one_replica();
    test_rules();
    test_groups();
    test_front();
    test_bounds();
    test_more_is_never_worse();
    test_memory_of_batches();
    test_kinds();
    test_near();
    test_first_zero();
    test_prefer();
    return done();
}
