/* Made jobs and clusters, and the search over their layouts as a program runs it. */
#ifndef BRIM_TESTS_SEARCHED_H
#define BRIM_TESTS_SEARCHED_H
#include <math.h>
#include <stdlib.h>

#include "plan/cluster/constants.h"
#include "plan/search/search.h"

static inline struct cluster make_cluster(int nodes, int per_node, double memory_gb)
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

static inline struct plan_job dense_job(int layers, int hidden, int batch)
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
static inline struct plan_job heavy_job(void)
{
    struct plan_job job = dense_job(12, 3072, 8);

    job.shape.vocab = 256000;
    return job;
}

static inline struct plan_job expert_job(void)
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
static inline struct found *run(const struct space *space, const struct search_opts *opts,
                                size_t hands)
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

static inline void done_with(struct found *f)
{
    search_free(&f->s);
    free(f);
}

/* Whether two lists are the same. */
static inline bool same_list(const struct found_layout *a, const struct found_layout *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].time_s != b[i].time_s || a[i].memory_b != b[i].memory_b ||
            layout_compare(&a[i].layout, &b[i].layout) != 0)
            return false;
    return true;
}

#endif
