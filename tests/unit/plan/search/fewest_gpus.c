/* The fewest GPUs that a model fits on: against trying all that is proposed for fewer. */
#include "plan/search/fewest_gpus.h"

#include "models_csv.h"
#include "plan/shape/models.h"
#include "tap.h"

static const struct cluster h100 = {
    .gpu = { .name = "H100", .memory_b = 80e9 }, .nodes = 1, .per_node = 8, .domain = 8
};

static struct plan_job make(const struct models *m, const char *name)
{
    const struct model_row *row = NULL;
    struct plan_job job = { .seq = 4096,
                            .global_batch = 1,
                            .precision = PLAN_BF16,
                            .attention = ATTENTION_FLASH,
                            .gradient_b = 4,
                            .fused = true,
                            .imbalance = 1 };

    ok(models_find(m, name, &row, NULL) == 0, "models_find finds %s", name);
    if (row)
        job.shape = row->shape;
    return job;
}

/* Whether any tensor parallelism, ZeRO stage and recompute fits on so many GPUs. */
static bool any_fits(struct plan_job job, int gpus)
{
    struct cluster c = h100;
    struct layer_bytes bytes;
    struct memory memory;

    c.nodes = 1 << 14;
    for (int tp = 1; tp <= MIN(gpus, 8); tp++)
        for (int zero = 0; zero <= 3; zero++)
            for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++)
                for (int ep = 1; ep <= MAX(job.shape.experts, 1); ep *= 2) {
                    struct layout l = { .tp = tp,
                                        .pp = 1,
                                        .vpp = 1,
                                        .cp = 1,
                                        .ep = ep,
                                        .etp = 1,
                                        .dp = gpus / tp,
                                        .micro_batch = 1,
                                        .recompute = (enum recompute)r,
                                        .zero = zero,
                                        .seq_parallel = tp > 1 };

                    job.global_batch = l.dp;
                    if (l.dp * tp != gpus || layout_check(&l, &job, &c, NULL) < 0)
                        continue;
                    layer_bytes(&job, &l, &bytes);
                    memory_make(&job, &l, &bytes, &memory);
                    if (memory.total <= c.gpu.memory_b)
                        return true;
                }
    return false;
}

static void test_fewest(const struct models *m)
{
    static const char *const names[] = { "Llama-3.2-1B",  "Llama-3.1-8B", "Qwen3-14B",
                                         "Llama-3.1-70B", "Mixtral-8x7B", "DeepSeek-V3" };
    const struct pins none = { .fixed = 0 };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct plan_job job = make(m, names[i]);
        struct layout l = { .tp = 0 };
        struct memory memory = { .total = 0 };
        int gpus, half;

        ok(fewest_gpus_find(&job, &h100, &none, false, &l, &memory),
           "%s fits on some number of GPUs", names[i]);
        gpus = layout_gpus(&l);
        ok(memory.total <= h100.gpu.memory_b && memory.total > 0, "%s fits on %d GPUs with %.1f GB",
           names[i], gpus, memory.total / 1e9);
        half = gpus / 2;
        ok(half < 1 || !any_fits(job, half), "%s does not fit on %d GPUs", names[i], half);
    }
}

/* ZeRO-3 is tried before recompute, and experts are shared. */
static void test_order(const struct models *m)
{
    struct plan_job job = make(m, "DeepSeek-V3");
    const struct pins none = { .fixed = 0 };
    struct layout l = { .tp = 0 };
    struct memory memory;

    ok(fewest_gpus_find(&job, &h100, &none, false, &l, &memory),
       "DeepSeek-V3 fits on some number of GPUs");
    ok(l.zero == 3 && l.recompute == RECOMPUTE_NONE && l.ep > 1,
       "ZeRO-3 is tried before recompute: zero %d, recompute %d, ep %d", l.zero, l.recompute, l.ep);
}

static void test_pins(const struct models *m)
{
    struct plan_job job = make(m, "Llama-3.1-70B");
    struct pins p = { .fixed = 0 };
    struct layout l = { .tp = 0 };
    struct memory memory;

    is_int(pins_read(&p, "tp=8,zero=1,recompute=none,micro_batch=2", NULL), 0,
           "pins_read takes four pins");
    ok(fewest_gpus_find(&job, &h100, &p, false, &l, &memory), "Llama-3.1-70B fits with four pins");
    ok(l.tp == 8 && l.zero == 1 && l.recompute == RECOMPUTE_NONE && l.micro_batch == 2,
       "the four pins stay: tp %d, dp %d", l.tp, l.dp);
    job.global_batch = 6; /* with dp 4 and more it does not come out */
    ok(!fewest_gpus_find(&job, &h100, &p, true, &l, &memory),
       "a batch that was said is kept, though none fits");
    p.fixed = 0;
    is_int(pins_read(&p, "micro_batch=64,recompute=none,sp=no,zero=0", NULL), 0,
           "pins_read takes pins that need too much memory");
    ok(!fewest_gpus_find(&job, &h100, &p, false, &l, &memory),
       "no number of GPUs is enough for pins that need too much");
    is_int(fewest_gpus_batch(&(struct layout){ .dp = 4, .micro_batch = 2, .pp = 3 }), 24,
           "a batch gives each of three stages work");
}

int main(void)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };

    is_int(models_load(&m, (const char *)data_models_csv, data_models_csv_len, NULL), 0,
           "models_load reads models.csv");
    test_fewest(&m);
    test_order(&m);
    test_pins(&m);
    return done();
}
