/* How large models were laid out, as their authors say: all of it is in the space, and no layout is
 * predicted to be much faster. */
#include <stdlib.h>

#include "gpus_csv.h"
#include "models_csv.h"
#include "plan/cluster/cluster_read.h"
#include "plan/cluster/constants.h"
#include "plan/search/search.h"
#include "plan/shape/models.h"
#include "plan_constants_csv.h"
#include "tap.h"

/* A step that takes so much longer than the fastest is near it. */
static const double near = 1.1;

struct published {
    const char *name, *model, *cluster;
    int seq, batch;
    enum plan_precision precision;
    const char *layout;
    int moment_b;
    bool megascale; /* attention and MLP beside each other, another vocabulary and other heads */
    bool fits;      /* as predicted; all of them ran */
    const char *program; /* what its authors' program does for every layout, as pins */
};

/* Llama 3: arXiv 2407.21783, table 4 and section 3.3.2; a micro-batch is a sequence, as 16 of them
 * do for a replica. DeepSeek-V3: arXiv 2412.19437, sections 3.1 to 3.3 and 4.2: norms are
 * recomputed, moments have 16 bits; DualPipe is counted as a zero-bubble schedule. MegaScale: arXiv
 * 2402.15627, table 1 and section 6.1, whose engine has collectives of tensor parallelism beside
 * the compute on A100, too; what a micro-batch has is not said: the fastest is taken, and for 530B
 * the GPUs and the batch with which SC'21 (arXiv 2104.04473, table 1) has the same split. Memory of
 * Llama 3 and DeepSeek-V3 is predicted to be more than there was: docs/plan-train.md. */
static const struct published all[] = {
    { "Llama 3 on 8,192 GPUs", "Llama-3.1-405B", "1024x8xH100-SXM", 8192, 2048, PLAN_BF16,
      "tp=8,pp=16,vpp=8,dp=64,stages=ends,zero=1", 4, false, false, "" },
    { "Llama 3 on 16,384 GPUs", "Llama-3.1-405B", "2048x8xH100-SXM", 8192, 2048, PLAN_BF16,
      "tp=8,pp=16,vpp=8,dp=128,stages=ends,zero=1", 4, false, false, "" },
    { "Llama 3 with 131,072 tokens", "Llama-3.1-405B", "2048x8xH100-SXM", 131072, 128, PLAN_BF16,
      "tp=8,pp=16,vpp=8,cp=16,context=gather,dp=8,stages=ends,zero=1", 4, false, false, "" },
    { "DeepSeek-V3 on 2,048 GPUs", "DeepSeek-V3", "256x8xH800-SXM", 4096, 15360, PLAN_FP8_BLOCKS,
      "tp=1,pp=16,ep=64,dp=128,stages=2+1,zero=1,recompute=norms,overlap_ep=yes,"
      "schedule=zero-bubble",
      2, false, false, "schedule=zero-bubble" },
    { "MegaScale 175B on 12,288 GPUs", "GPT-3-175B", "1536x8xA100-SXM", 2048, 6144, PLAN_BF16,
      "tp=8,pp=8,vpp=6,dp=192,stages=even,zero=1,micro_batch=4", 4, true, true, "overlap_tp=yes" },
    { "MegaScale 530B on 2,520 GPUs", "GPT-530B", "315x8xA100-SXM", 2048, 2520, PLAN_BF16,
      "tp=8,pp=35,vpp=3,dp=9,stages=even,zero=1,micro_batch=2", 4, true, true, "overlap_tp=yes" },
};

struct tables {
    struct gpus gpus;
    struct models models;
};

static void tables_load(struct tables *t)
{
    if (gpus_load(&t->gpus, (const char *)data_gpus_csv, data_gpus_csv_len, NULL) < 0 ||
        models_load(&t->models, (const char *)data_models_csv, data_models_csv_len, NULL) < 0 ||
        gpus_fit(&t->gpus, "plan_constants.csv", (const char *)data_plan_constants_csv,
                 data_plan_constants_csv_len, NULL) < 0)
        abort();
}

static struct plan_job job_of(const struct tables *t, const struct published *p)
{
    struct plan_job job = { .seq = p->seq,
                            .global_batch = p->batch,
                            .precision = p->precision,
                            .attention = ATTENTION_FLASH,
                            .gradient_b = 4,
                            .moment_b = p->moment_b,
                            .fused = true,
                            .imbalance = 1 };
    const struct model_row *row = NULL;

    if (models_find(&t->models, p->model, &row, NULL) < 0)
        abort();
    job.shape = row->shape;
    if (p->megascale) {
        job.shape.vocab = 64000;
        job.shape.heads = job.shape.kv_heads = job.shape.hidden /
                                               (job.shape.layers > 100 ? 128 : 96);
        job.shape.head_dim = job.shape.hidden / job.shape.heads;
        job.shape.parallel = true;
        job.shape.dropout = false;
    }
    return job;
}

static double fastest_s(const struct space *space)
{
    const struct search_opts opts = { .best = 1, .families = true };
    struct search *s = calloc(1, sizeof(*s));
    struct search_cells cells;
    double time_s;

    if (!s || search_cells(space, &opts, &cells, NULL) < 0)
        abort();
    search_init(s, space, &opts);
    search_start(s, &cells);
    for (size_t i = 0; i < cells.n && !search_done(s, &cells.list[i]); i++)
        search_cell(s, &cells.list[i]);
    time_s = s->n_best ? s->best[0].time_s : 0;
    search_cells_done(&cells);
    search_free(s);
    free(s);
    return time_s;
}

static void test_one(const struct tables *t, const struct published *p)
{
    const struct plan_job job = job_of(t, p);
    struct space *space = calloc(1, sizeof(*space));
    struct pins pins = { .fixed = 0 }, all_have = { .fixed = 0 };
    struct found_layout one;
    struct layout l;
    struct cluster c;
    double best_s;

    if (!space || cluster_from_spec(&c, &t->gpus, p->cluster, NULL) < 0 ||
        pins_read(&pins, p->layout, NULL) < 0 || pins_read(&all_have, p->program, NULL) < 0)
        abort();
    gpu_assume(&c.gpu);
    if (pins_complete(&pins, &job, &c, &l, NULL) < 0)
        abort();
    space_init(space, &job, &c, &all_have, false);
    ok(space_has(space, &l), "the space has the layout of %s: %s", p->name, p->layout);
    candidate_make(&job, &c, &l, &one);
    best_s = fastest_s(space);
    ok(one.time_s <= near * best_s,
       "the layout of %s takes %.4g s, and the fastest of all that fit %.4g s", p->name, one.time_s,
       best_s);
    ok((one.memory_b <= c.gpu.memory_b) == p->fits,
       "the layout of %s is predicted to take %.1f GB of %.0f", p->name, one.memory_b / 1e9,
       c.gpu.memory_b / 1e9);
    free(space);
}

int main(void)
{
    struct tables t;

    tables_load(&t);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        test_one(&t, &all[i]);
    gpus_done(&t.gpus);
    models_done(&t.models);
    return done();
}
