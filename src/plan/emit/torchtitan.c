/* torchtitan: a TOML file (torchtitan/config/job_config.py). */
#include <errno.h>

#include "plan/emit/emit_private.h"

/* Its models by name and flavor. Their layers, widths and heads are those of data/models.csv. */
static const struct emit_model models[] = {
    { "Llama-3-8B", "llama3", "8B" },
    { "Llama-3-70B", "llama3", "70B" },
    { "Llama-3.1-8B", "llama3", "8B" },
    { "Llama-3.1-70B", "llama3", "70B" },
    { "Llama-3.1-405B", "llama3", "405B" },
    { "DeepSeek-V2-Lite", "deepseek_v3", "16B" },
    { "DeepSeek-V2", "deepseek_v3", "236B" },
    { "DeepSeek-V3", "deepseek_v3", "671B" },
    { "Qwen3-0.6B", "qwen3", "0.6B" },
    { "Qwen3-1.7B", "qwen3", "1.7B" },
    { "Qwen3-4B", "qwen3", "4B" },
    { "Qwen3-8B", "qwen3", "8B" },
    { "Qwen3-14B", "qwen3", "14B" },
    { "Qwen3-32B", "qwen3", "32B" },
    { NULL, NULL, NULL },
};

/* GPUs over which weights are divided, and how often that is repeated. */
static int sharded(const struct emit *x)
{
    const struct layout *l = x->l;

    if (l->zero == 0)
        return 1;
    return l->shard > 0 ? l->shard / l->cp : l->dp;
}

/* Layers of a chunk, as it divides them: the first ones take one more. */
static int chunk_layers(const struct emit *x)
{
    int slots = layout_slots(x->l, x->job->shape.layers);
    int chunks = x->l->pp * x->l->vpp;

    return (slots + chunks - 1) / chunks;
}

static bool chunks_differ(const struct emit *x)
{
    int slots = layout_slots(x->l, x->job->shape.layers), n = chunk_layers(x);

    return x->l->pp > 1 && (slots + n - 1) / n != x->l->pp * x->l->vpp;
}

static int check_experts(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    int base = l->etp == 1 ? l->cp * l->tp : l->cp;
    const struct emit_limit limits[] = {
        { l->ep == 1 && l->etp != l->tp, "etp other than tp without ep",
          "its experts are divided as the rest is" },
        { l->ep > 1 && l->etp != 1 && l->etp != l->tp, "etp other than 1 or tp",
          "it knows these two" },
        { l->ep > 1 && (l->ep % base || sharded(x) * base % l->ep), "this ep",
          "it must be a multiple of cp (x tp with etp 1) and divide that x the sharded dp" },
    };

    return x->job->shape.experts ? emit_check(&emit_torchtitan, limits, ARRAY_SIZE(limits), e) : 0;
}

static int check_job(const struct emit *x, struct err *e)
{
    const struct plan_job *job = x->job;
    const struct emit_limit limits[] = {
        { !emit_find_model(models, job->shape.name),
          *job->shape.name ? job->shape.name : "a shape from a file",
          "it has Llama 3, Qwen3 and DeepSeek V2 and V3 in some sizes" },
        { job->precision != PLAN_BF16 && job->precision != PLAN_FP8 &&
              job->precision != PLAN_FP8_ROWS,
          "this precision", "brim writes bf16, fp8 and fp8_rows for it" },
        { job->gradient_b != 4, "gradient_bytes=2", "it sums gradients in 32 bits" },
        { !emit_is_usual(job->attention), "attention other than flash",
          "it calls PyTorch's fused attention" },
        { job->graphs, "graphs", "it has no CUDA graphs" },
        { job->fused_loss, "fused_loss", "its loss takes whole logits" },
        { job->shape.tied && x->l->pp > 1, "pp with a head that is the embedding",
          "its stages share no weights" },
    };

    return emit_check(&emit_torchtitan, limits, ARRAY_SIZE(limits), e);
}

static int check(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    bool wide = l->tp > 1 || l->pp > 1 || l->cp > 1;
    const struct emit_limit limits[] = {
        { l->tp > 1 && !l->seq_parallel, "seq_parallel=no", "its tensor parallelism has it" },
        { l->context == CONTEXT_ULYSSES, "context=ulysses", "it has allgather and a ring" },
        { l->zero == 1 && l->dp * l->cp > 1, "zero=1", "FSDP2 divides gradients too: take 2 or 3" },
        { l->zero == 0 && l->cp > 1, "zero=0 with cp", "it shards over cp: take 2 or 3" },
        { l->zero == 0 && l->dp > 1 && wide, "zero=0 with tp or pp",
          "its DDP is for data parallelism alone: take 2 or 3" },
        { l->shard > 0 && l->shard % l->cp, "shard that cp does not divide",
          "it shards over cp x a part of dp" },
        { l->schedule == SCHEDULE_ZERO_BUBBLE, "schedule=zero-bubble",
          "its zero-bubble schedules are others, with two chunks a rank" },
        { l->schedule == SCHEDULE_GPIPE && l->vpp > 1, "schedule=gpipe with vpp", "it is for one" },
        { !l->overlap_dp && l->dp * l->cp > 1, "overlap_dp=no", "it always overlaps" },
        { !l->overlap_pp && l->vpp > 1, "overlap_pp=no with vpp", "PyTorch's schedule decides" },
        { l->overlap_pp && l->vpp == 1, "overlap_pp without vpp", "PyTorch's schedule decides" },
        { l->overlap_tp && !x->job->fused, "overlap_tp without fused", "async TP needs compile" },
        { chunks_differ(x), "this pp x vpp", "the layers do not come out for that many stages" },
    };
    int rc = check_job(x, e);

    if (rc == 0)
        rc = emit_check(&emit_torchtitan, limits, ARRAY_SIZE(limits), e);
    return rc < 0 ? rc : check_experts(x, e);
}

static void add_pipeline(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;

    str_addf(out, "pipeline_parallel_degree = %d\n", l->pp);
    if (l->pp == 1)
        return;
    str_addf(out,
             "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %d\n"
             "pipeline_parallel_layers_per_stage = %d\n"
             "pipeline_parallel_first_stage_less_layers = %d\n"
             "pipeline_parallel_last_stage_less_layers = %d\n",
             l->schedule == SCHEDULE_GPIPE ? "GPipe"
             : l->vpp > 1                  ? "Interleaved1F1B"
                                           : "1F1B",
             l->micro_batch, chunk_layers(x), l->less.first, l->less.last);
}

static void add_parallelism(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;

    str_addf(out,
             "\n[parallelism]\ndata_parallel_replicate_degree = %d\n"
             "data_parallel_shard_degree = %d\n",
             l->dp / sharded(x), sharded(x));
    if (l->zero >= 2)
        str_addf(out, "fsdp_reshard_after_forward = \"%s\"\n",
                 l->zero == 3 && !layout_keeps_stage(l, x->job) ? "always" : "never");
    str_addf(out, "tensor_parallel_degree = %d\nenable_async_tensor_parallel = %s\n", l->tp,
             emit_lower(l->overlap_tp));
    add_pipeline(x, out);
    str_addf(out, "context_parallel_degree = %d\n", l->cp);
    if (l->cp > 1)
        str_addf(out, "context_parallel_rotate_method = \"%s\"\n",
                 l->context == CONTEXT_RING ? "alltoall" : "allgather");
    if (x->job->shape.experts)
        str_addf(out, "expert_parallel_degree = %d\nexpert_tensor_parallel_degree = %d\n", l->ep,
                 l->ep > 1 ? l->etp : 1);
}

static void add_file(const struct emit *x, struct str *out)
{
    static const char *const recomputes[] = {
        [RECOMPUTE_NONE] = "none", [RECOMPUTE_SELECTIVE] = "selective", [RECOMPUTE_FULL] = "full"
    };
    const struct emit_model *m = emit_find_model(models, x->job->shape.name);
    const struct layout *l = x->l;

    str_addf(out,
             "[job]\ndump_folder = \"./outputs\"\ndescription = \"%s\"\n\n"
             "[model]\nname = \"%s\"\nflavor = \"%s\"\nhf_assets_path = \"./assets/hf/%s\"\n",
             x->job->shape.name, m->word, m->more, x->job->shape.name);
    if (x->job->precision == PLAN_FP8)
        str_add(out,
                "converters = [\"quantize.linear.float8\"]\n\n[quantize.linear.float8]\n"
                "enable_fsdp_float8_all_gather = true\n"
                "precompute_float8_dynamic_scale_for_fsdp = true\nfilter_fqns = [\"output\"]\n");
    if (x->job->precision == PLAN_FP8_ROWS)
        str_add(out, "converters = [\"quantize.linear.float8\"]\n\n[quantize.linear.float8]\n"
                     "recipe_name = \"rowwise\"\nfilter_fqns = [\"output\"]\n");
    str_addf(out,
             "\n[training]\ndataset = \"c4\"\nsteps = 1000\nseq_len = %d\nlocal_batch_size = %d\n"
             "global_batch_size = %d\nmixed_precision_param = \"bfloat16\"\n"
             "mixed_precision_reduce = \"float32\"\n",
             x->job->seq, l->pp > 1 ? x->job->global_batch / l->dp : l->micro_batch,
             x->job->global_batch);
    add_parallelism(x, out);
    str_addf(out, "\n[activation_checkpoint]\nmode = \"%s\"\n", recomputes[l->recompute]);
    if (l->recompute == RECOMPUTE_SELECTIVE)
        str_add(out, "selective_ac_option = \"op\"\n");
    str_addf(out, "\n[compile]\nenable = %s\ncomponents = [\"model\", \"loss\"]\n",
             emit_lower(x->job->fused));
}

static void add_command(const struct emit *x, struct str *out)
{
    (void)x;
    str_addf(out, "-m torchtitan.train --job.config_file %s", emit_torchtitan.file);
}

const struct emit_ops emit_torchtitan = {
    .name = "torchtitan",
    .version = "torchtitan 0.2",
    .engine = ENGINE_TORCH,
    .check = check,
    .file = "torchtitan.toml",
    .file_alone = true,
    .add_file = add_file,
    .add_command = add_command,
};
