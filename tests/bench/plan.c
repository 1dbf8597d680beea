/* Layouts of GPT-3 175B on 1,024 GPUs, each with its step time and its memory, on one core: the
 * tables of layers are made once per layer_key() inside of the measured time, as a search does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/fitted.h"
#include "plan/step.h"

enum { LAYOUTS_MAX = 1 << 18 };

struct entry {
    uint64_t key;
    struct plan_tables tables;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cluster make_cluster(void)
{
    struct cluster c = { .nodes = 128,
                         .per_node = 8,
                         .domain = 8,
                         .link_rate = 450e9,
                         .nics = 8,
                         .nic_rate = 50e9,
                         .nic_latency_s = 4e-6,
                         .link_latency_s = 2e-6,
                         .oversubscribed = 1 };
    const double flops[PLAN_PRECISIONS] = { 989e12, 989e12, 1979e12, 0, 0 };

    memcpy(c.gpu.flops, flops, sizeof(flops));
    c.gpu.memory_b = 80e9;
    c.gpu.memory_rate = 3.35e12;
    c.gpu.link_rate = 450e9;
    c.gpu.domain = 8;
    c.gpu.sms = 132;
    gpu_assume(&c.gpu);
    return c;
}

/* All that are legal, those with the same layer_key() beside each other. */
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

int main(void)
{
    struct plan_job job = { .shape = { .layers = 96,
                                       .hidden = 12288,
                                       .heads = 96,
                                       .kv_heads = 96,
                                       .head_dim = 128,
                                       .ffn = 49152,
                                       .vocab = 51200 },
                            .seq = 2048,
                            .global_batch = 1536,
                            .precision = PLAN_BF16,
                            .attention = ATTENTION_FLASH,
                            .gradient_b = 4,
                            .fused = true,
                            .imbalance = 1 };
    struct layout *layouts = calloc(LAYOUTS_MAX, sizeof(*layouts));
    const struct cluster c = make_cluster();
    struct entry e = { 0 };
    size_t n, rounds = 0, made = 0, done = 0;
    double start, took, sum = 0;

    if (!layouts)
        return 1;
    n = list(&job, &c, layouts);
    start = now();
    do {
        e.key = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t key = layer_key(&layouts[i]);
            struct memory memory;
            struct step step;

            if (key != e.key) {
                e.key = key;
                plan_tables_make(&job, &c, &layouts[i], &e.tables);
                made++;
            }
            memory_make(&job, &layouts[i], &e.tables.bytes, &memory);
            step_make(&job, &c, &layouts[i], &e.tables, &step);
            sum += step.time_s + memory.total;
        }
        done += n;
        rounds++;
        took = now() - start;
    } while (took < 1);
    printf("plan evaluations\t%.0f\t1/s\t>= 1000000\t%zu layouts, %zu tables of layers, time and "
           "memory "
           "each; %s\n",
           (double)done / took, n, made / rounds, sum > 0 ? "one core" : "");
    free(layouts);
    return 0;
}
