#include "cmd/plan/sure.h"

#include <math.h>
#include <string.h>

#include "plan/cluster/constants.h"

/* More GPUs than any run that was compared, and from where on few micro-batches are a doubt. */
enum { MOST_GPUS = 16384, MANY_GPUS = 1024, FEW_MICRO_BATCHES = 4 };

/* Of docs/accuracy.md, all rows that were not fitted, on 2026-11-25: Megatron Core and NeMo;
 * llm-foundry and fms-fsdp; Korthikanti et al. and Megatron-LM 2020; vTrain. Of MoE ModelZoo those
 * held back, on 2026-11-26, since what the others taught did not carry over to them. */
static const struct plan_sure megatron = { "dense models on H100 with Megatron-LM", .04, .17 };
static const struct plan_sure sharded = { "dense models with ZeRO-3", .06, .32 };
static const struct plan_sure experts = { "mixtures of experts that the model had not seen", .27,
                                          .39 };
static const struct plan_sure older = { "dense models on A100 and V100 with Megatron-LM", .03,
                                        .09 };
static const struct plan_sure small = { "dense models on one node of A100", .07, .24 };
static const struct plan_sure unknown = { NULL, (double)NAN, (double)NAN };

/* Memory of LoRA and QLoRA: tests/fixtures/finetune.csv, all 85 rows, on 2026-11-26. */
static const char *const tuned =
    "memory of 85 measured runs with LoRA and QLoRA was 4 % off on average, 19 % at most";

/* Kinds of GPU with measured runs that no figure was fitted to. */
static bool is_compared(const struct gpu *g)
{
    return strncmp(g->name, "H100-SXM", 8) == 0 || strncmp(g->name, "H800-SXM", 8) == 0 ||
           strncmp(g->name, "A100-SXM", 8) == 0 || strncmp(g->name, "V100-SXM", 8) == 0;
}

/* 8 bits with a scale for each row or block. */
static bool is_scaled(enum plan_precision p)
{
    return p == PLAN_FP8_ROWS || p == PLAN_FP8_BLOCKS || p == PLAN_MXFP8;
}

struct plan_sure plan_sure_of(const struct plan_ask *a, const struct layout *l)
{
    const struct cluster *c = &a->cluster;

    if (a->job.tune.kind != FINETUNE_NONE)
        return unknown;
    if (!is_compared(&c->gpu) || is_scaled(a->job.precision))
        return unknown;
    if (a->job.shape.experts)
        return experts;
    if (l->zero == 3)
        return sharded;
    if (gpu_is_new(&c->gpu))
        return megatron;
    return layout_gpus(l) <= c->per_node ? small : older;
}

/* Where the rates of a GPU come from that no runs tell an error of: of docs/accuracy.md, rows for
 * development on B200, GB200 and GB300, and torchao's on MI300X, on 2026-11-26. */
static void add_rates(const struct gpu *g, enum plan_precision p, struct str *out)
{
    switch (g->rates) {
    case RATES_KERNELS:
        str_addf(out,
                 "rates of %s are from published products, not from runs; of such GPUs MI300X was "
                 "compared, whose steps in 16 bits took 20 %% longer than predicted",
                 g->name);
        return;
    case RATES_OPERATIONS:
        str_addf(out,
                 "rates of %s are from timed operations, not from runs; 8 runs on B200, GB200 and "
                 "GB300 with Megatron-LM were 2 %% off on average, 5 %% at most",
                 g->name);
        return;
    default:
        str_addf(out, "too few runs on %s%s%s were compared to know the error", g->name,
                 is_scaled(p) ? " with " : "", is_scaled(p) ? plan_precision_name(p) : "");
    }
}

void plan_sure_text(const struct plan_ask *a, const struct plan_one *one, struct str *out)
{
    const struct layout *l = &one->layout;
    struct plan_sure s = plan_sure_of(a, l);
    int gpus = layout_gpus(l), batches = layout_micro_batches(l, &a->job);

    if (a->job.tune.kind != FINETUNE_NONE) {
        str_addf(out, "%s%stimes of fine-tuning were compared with no run",
                 a->job.tune.kind == FINETUNE_LORA ? tuned : "",
                 a->job.tune.kind == FINETUNE_LORA ? "; " : "memory and ");
        return;
    }
    if (s.runs)
        str_addf(out, "runs of %s were %.0f %% off on average, %.0f %% at most", s.runs,
                 100 * s.mean, 100 * s.most);
    else
        add_rates(&a->cluster.gpu, a->job.precision, out);
    if (gpus > MOST_GPUS)
        str_addf(out, "; no run had more than 16,384 GPUs");
    if (gpus >= MANY_GPUS && batches < FEW_MICRO_BATCHES)
        str_addf(out,
                 "; with %d micro-batch%s a step most of what is exposed between GPUs counts, "
                 "which is predicted worst",
                 batches, batches == 1 ? "" : "es");
    if (layout_fills(one->memory.total, a->cluster.gpu.memory_b))
        str_addf(out,
                 "; memory is so full that gaps between tensors decide whether it fits: "
                 "memory=%.0f in the cluster leaves room",
                 floor(.95 * a->cluster.gpu.memory_b / 1e9));
}
