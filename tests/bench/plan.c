/* The planner on one core: layouts a second, and whole searches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models_csv.h"
#include "plan/cluster/constants.h"
#include "plan/search/search.h"
#include "plan/shape/models.h"

enum { LAYOUTS_MAX = 1 << 18 };

/* Whether two that list() makes have the same times of layers. */
static bool same_cell(const struct layout *a, const struct layout *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->micro_batch == b->micro_batch &&
           a->recompute == b->recompute && a->seq_parallel == b->seq_parallel &&
           a->overlap_tp == b->overlap_tp;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cluster make_cluster(int nodes, bool hopper)
{
    struct cluster c = { .nodes = nodes,
                         .per_node = 8,
                         .domain = 8,
                         .link_rate = hopper ? 450e9 : 300e9,
                         .nics = 8,
                         .nic_rate = hopper ? 50e9 : 25e9,
                         .nic_latency_s = 4e-6,
                         .link_latency_s = 2e-6,
                         .oversubscribed = 1 };

    c.gpu.flops[PLAN_FP16] = c.gpu.flops[PLAN_BF16] = hopper ? 989e12 : 312e12;
    c.gpu.flops[PLAN_FP8] = hopper ? 1979e12 : 0;
    c.gpu.memory_b = 80e9;
    c.gpu.memory_rate = hopper ? 3.35e12 : 2.04e12;
    c.gpu.link_rate = c.link_rate;
    c.gpu.domain = 8;
    c.gpu.sms = hopper ? 132 : 108;
    gpu_assume(&c.gpu);
    return c;
}

static struct plan_job make_job(const struct shape *shape, int seq, int batch)
{
    return (struct plan_job){ .shape = *shape,
                              .seq = seq,
                              .global_batch = batch,
                              .precision = PLAN_BF16,
                              .attention = ATTENTION_FLASH,
                              .gradient_b = 4,
                              .fused = true,
                              .imbalance = 1 };
}

static const struct shape gpt3 = { .layers = 96,
                                   .hidden = 12288,
                                   .heads = 96,
                                   .kv_heads = 96,
                                   .head_dim = 128,
                                   .ffn = 49152,
                                   .vocab = 51200 };
static const struct shape turing = { .layers = 105,
                                     .hidden = 20480,
                                     .heads = 128,
                                     .kv_heads = 128,
                                     .head_dim = 160,
                                     .ffn = 81920,
                                     .vocab = 51200 };

/* A model of the catalogue. */
static struct shape known(const char *name)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    const struct model_row *row;

    if (models_load(&m, (const char *)data_models_csv, data_models_csv_len, NULL) < 0 ||
        models_find(&m, name, &row, NULL) < 0)
        abort();
    return row->shape;
}

/* All that are legal, those with the same layer costs beside each other. */
static size_t list(const struct plan_job *job, const struct cluster *c, struct layout *out)
{
    size_t n = 0;

    for (int tp = 1; tp <= 8; tp *= 2)
        for (int cp = 1; cp <= 4; cp *= 2)
            for (int micro = 1; micro <= 8; micro *= 2)
                for (int bits = 0; bits < 12; bits++)
                    for (int pp = 1; tp * cp * pp <= 1024; pp++)
                        for (int rest = 0; rest < 4 * 8; rest++) {
                            struct layout l = { .tp = tp,
                                                .cp = cp,
                                                .pp = pp,
                                                .vpp = 1 + rest / 4,
                                                .ep = 1,
                                                .etp = 1,
                                                .micro_batch = micro };

                            l.dp = 1024 / (tp * cp * pp);
                            l.recompute = (enum recompute)(bits / 4);
                            l.seq_parallel = bits & 1;
                            l.overlap_tp = bits >> 1 & 1;
                            l.zero = rest % 4;
                            l.overlap_dp = true;
                            if (n < LAYOUTS_MAX && tp * cp * pp * l.dp == 1024 &&
                                layout_check(&l, job, c, NULL) == 0)
                                out[n++] = l;
                        }
    return n;
}

static void bench_evaluations(void)
{
    const struct plan_job job = make_job(&gpt3, 2048, 1536);
    struct layout *layouts = calloc(LAYOUTS_MAX, sizeof(*layouts));
    const struct cluster c = make_cluster(128, true);
    struct plan_tables tables;
    size_t n, rounds = 0, made = 0, done = 0;
    double start, took, sum = 0;

    if (!layouts)
        return;
    n = list(&job, &c, layouts);
    start = now();
    do {
        for (size_t i = 0; i < n; i++) {
            struct memory memory;
            struct plan_step step;

            if (i == 0 || !same_cell(&layouts[i], &layouts[i - 1])) {
                plan_tables_make(&job, &c, &layouts[i], &tables);
                made++;
            }
            memory_make(&job, &layouts[i], &tables.bytes, &memory);
            plan_step_make(&job, &c, &layouts[i], &tables, &step);
            sum += step.time_s + memory.total;
        }
        done += n;
        rounds++;
        took = now() - start;
    } while (took < 1);
    printf("plan evaluations\t%.0f\t1/s\t>= 1000000\t%zu layouts, %zu tables of layers, time and "
           "memory each; %s\n",
           (double)done / took, n, made / rounds, sum > 0 ? "one core" : "");
    free(layouts);
}

struct case_of_search {
    const char *name;
    const struct shape *shape;
    int seq, batch, nodes;
    bool hopper, fewer, whole;
    int best; /* layouts to keep */
    const char *pins;
    const char *limit; /* of the seconds */
};

static void bench_search(const struct case_of_search *k)
{
    const struct search_opts opts = { .best = k->best, .families = true, .whole = k->whole };
    const struct plan_job job = make_job(k->shape, k->seq, k->batch);
    const struct cluster c = make_cluster(k->nodes, k->hopper);
    struct search *s = calloc(1, sizeof(*s));
    struct space *space = calloc(1, sizeof(*space));
    CLEANUP(str_done) struct str words = STR_INIT(1024);
    struct pins pins = { .fixed = 0 };
    struct search_cells cells = { .n = 0 };
    double start = now(), took;
    size_t i = 0;

    if (!s || !space || pins_read(&pins, k->pins, NULL) < 0)
        abort();
    space_init(space, &job, &c, &pins, k->fewer);
    if (search_cells(space, &opts, &cells, NULL) < 0)
        abort();
    search_init(s, space, &opts);
    search_start(s, &cells);
    for (; i < cells.n && !search_done(s, &cells.list[i]); i++)
        search_cell(s, &cells.list[i]);
    took = now() - start;
    if (s->n_best)
        layout_words(&s->best[0].layout, &words);
    printf("plan search, %s\t%.3f\ts\t%s\t", k->name, took, k->limit);
    if (k->fewer) /* to count them takes longer than to search them */
        printf("layouts of 1 to %d GPUs", space->gpus);
    else
        printf("%.0f layouts%s", space_count(space), k->whole ? "" : " searched");
    printf(", %.0f computed, %zu of %zu cells; best %.4g s with %s\n", s->made, i, cells.n,
           s->n_best ? s->best[0].time_s : 0, str_text(&words));
    search_cells_done(&cells);
    search_free(s);
    free(s);
    free(space);
}

int main(void)
{
    static const char everything[] = "schedule=any,vpp=any,seq_parallel=any,overlap_dp=any,"
                                     "overlap_tp=any,overlap_pp=any";
    const struct shape kimi = known("Kimi-K2"); /* 1.03e12 parameters */
    const struct case_of_search cases[] = {
        { "Turing 530B, 5,128 A100, any number of them", &turing, 2048, 2520, 641, false, true,
          false, 1, "", "<= 0.05" },
        { "GPT-3 175B, 64 H100, every layout computed", &gpt3, 2048, 64, 8, true, false, true, 5,
          everything, "<= 5" },
        { "1T experts, 16,384 H100", &kimi, 4096, 16384, 2048, true, false, false, 5, "", "<= 10" },
    };

    bench_evaluations();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        bench_search(&cases[i]);
    return 0;
}
