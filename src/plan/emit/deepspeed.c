/* DeepSpeed: its JSON (deepspeed.ai/docs/config-json) and a start of the user's program with it. */
#include <errno.h>

#include "base/json.h"
#include "plan/emit/emit_private.h"

static int check_job(const struct emit *x, struct err *e)
{
    const struct plan_job *job = x->job;
    const struct emit_limit limits[] = {
        { job->precision != PLAN_BF16 && job->precision != PLAN_FP16, "this precision",
          "its configuration has fp16 and bf16" },
        { x->l->zero == 0 && job->precision == PLAN_BF16 && job->gradient_b == 2,
          "gradient_bytes=2 with zero=0", "it sums bf16 in 32 bits there" },
        { x->l->zero == 0 && job->precision == PLAN_FP16 && job->gradient_b == 4,
          "gradient_bytes=4 with zero=0", "it sums fp16 in 16 bits there" },
        { !emit_is_usual(job->attention), "attention other than flash",
          "your program decides that" },
        { !job->fused, "fused=no", "your program decides that" },
        { job->graphs, "graphs", "it has them for inference only" },
        { job->fused_loss, "fused_loss", "your program decides that" },
    };

    return emit_check(&emit_deepspeed, limits, ARRAY_SIZE(limits), e);
}

static int check(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    const struct emit_limit limits[] = {
        { l->pp > 1, "pp", "its pipelines are made in your program (PipelineModule)" },
        { l->cp > 1, "cp",
          "sequence parallelism is set up in your program (UlyssesSPAttentionHF)" },
        { l->ep > 1, "ep", "experts are made in your program (deepspeed.moe.layer.MoE)" },
        { l->etp > 1, "etp", "experts are made in your program (deepspeed.moe.layer.MoE)" },
        { l->tp > 1 && l->zero == 3, "tp with zero=3", "AutoTP is for zero 0 to 2" },
        { l->seq_parallel, "seq_parallel", "AutoTP keeps whole activations: pin seq_parallel=no" },
        { l->offload && l->zero == 0, "offload with zero=0",
          "offload_optimizer is of zero 1 to 3" },
        { l->shard > 0, "shard", "MiCS is set up in your program (deepspeed.zero.MiCS_Init)" },
        { l->recompute == RECOMPUTE_SELECTIVE, "recompute=selective", "it has whole layers" },
        { l->overlap_dp && l->zero == 0 && l->dp > 1, "overlap_dp with zero=0",
          "overlap_comm is of zero 1 to 3" },
    };
    int rc = emit_check(&emit_deepspeed, limits, ARRAY_SIZE(limits), e);

    return rc < 0 ? rc : check_job(x, e);
}

static void add_zero(struct json *j, const struct layout *l)
{
    json_object(j, "zero_optimization");
    json_int(j, "stage", l->zero);
    json_bool(j, "overlap_comm", l->overlap_dp && l->zero > 0);
    json_bool(j, "contiguous_gradients", true);
    if (l->offload) {
        json_object(j, "offload_optimizer");
        json_string(j, "device", "cpu");
        json_bool(j, "pin_memory", true);
        json_end(j);
    }
    json_end(j);
}

static void add_file(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;
    bool bf16 = x->job->precision == PLAN_BF16;
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_int(&j, "train_batch_size", x->job->global_batch);
    json_int(&j, "train_micro_batch_size_per_gpu", l->micro_batch);
    json_int(&j, "gradient_accumulation_steps", layout_micro_batches(l, x->job));
    json_object(&j, bf16 ? "bf16" : "fp16");
    json_bool(&j, "enabled", true);
    json_end(&j);
    json_object(&j, "data_types");
    json_string(&j, "grad_accum_dtype", x->job->gradient_b == 4 ? "fp32" : bf16 ? "bf16" : "fp16");
    json_end(&j);
    add_zero(&j, l);
    if (l->tp > 1) {
        json_object(&j, "tensor_parallel");
        json_int(&j, "autotp_size", l->tp);
        json_end(&j);
    }
    if (l->recompute == RECOMPUTE_FULL) {
        json_object(&j, "activation_checkpointing");
        json_bool(&j, "partition_activations", false);
        json_int(&j, "number_checkpoints", x->job->shape.layers);
        json_end(&j);
    }
    json_end(&j);
}

static void add_setup(const struct emit *x, struct str *out)
{
    if (x->l->recompute == RECOMPUTE_FULL)
        str_add(out, "# Your program must checkpoint its layers, with deepspeed.checkpointing or "
                     "gradient_checkpointing_enable().\n");
    str_addf(out, "# Your program makes sequences of %d tokens.\n", x->job->seq);
}

static void add_command(const struct emit *x, struct str *out)
{
    (void)x;
    str_addf(out, "\"${PROGRAM:-train.py}\" --deepspeed --deepspeed_config %s",
             emit_deepspeed.file);
}

const struct emit_ops emit_deepspeed = {
    .name = "deepspeed",
    .version = "DeepSpeed 0.18",
    .engine = ENGINE_DEEPSPEED,
    .offload = true,
    .check = check,
    .file = "ds_config.json",
    .add_file = add_file,
    .add_setup = add_setup,
    .add_command = add_command,
};
