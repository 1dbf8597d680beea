/* NeMo 2: a Python program that takes its recipe of the model and changes what the layout says. */
#include <errno.h>

#include "plan/emit/emit_private.h"

/* Recipes of nemo.collections.llm (nemo/collections/llm/recipes). */
static const struct emit_model recipes[] = {
    { "Llama-3-8B", "llama3_8b", NULL },
    { "Llama-3-70B", "llama3_70b", NULL },
    { "Llama-3.1-8B", "llama31_8b", NULL },
    { "Llama-3.1-70B", "llama31_70b", NULL },
    { "Llama-3.1-405B", "llama31_405b", NULL },
    { "Llama-3.2-1B", "llama32_1b", NULL },
    { "Llama-3.2-3B", "llama32_3b", NULL },
    { "Mistral-7B", "mistral_7b", NULL },
    { "Mixtral-8x7B", "mixtral_8x7b", NULL },
    { "Mixtral-8x22B", "mixtral_8x22b", NULL },
    { "DeepSeek-V2", "deepseek_v2", NULL },
    { "DeepSeek-V2-Lite", "deepseek_v2_lite", NULL },
    { "DeepSeek-V3", "deepseek_v3", NULL },
    { "Gemma-2B", "gemma_2b", NULL },
    { "Gemma-7B", "gemma_7b", NULL },
    { "Gemma-2-2B", "gemma2_2b", NULL },
    { "Gemma-2-9B", "gemma2_9b", NULL },
    { "Gemma-2-27B", "gemma2_27b", NULL },
    { "GPT-3-175B", "gpt3_175b", NULL },
    { "gpt-oss-20b", "gpt_oss_20b", NULL },
    { "gpt-oss-120b", "gpt_oss_120b", NULL },
    { "Nemotron-4-15B", "nemotron4_15b", NULL },
    { "Nemotron-4-340B", "nemotron4_340b", NULL },
    { NULL, NULL, NULL },
};

/* Whether the first and the last stage have a number of layers of their own. */
static bool split_alone(const struct layout *l)
{
    return !stage_split_is(&l->less, &stages_even) && !stage_split_is(&l->less, &stages_ends);
}

static int check(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    const struct plan_job *job = x->job;
    const struct emit_limit limits[] = {
        { !emit_find_model(recipes, job->shape.name),
          *job->shape.name ? job->shape.name : "a shape from a file", "it has no recipe for it" },
        { l->zero >= 2, "zero=2 and zero=3", "brim writes zero 0 and 1 for it" },
        { l->shard > 0, "shard", "brim writes zero over all replicas for it" },
        { l->schedule != SCHEDULE_1F1B, "a schedule other than 1f1b", "its pipelines are 1F1B" },
        { l->pp > 1 && !emit_stages_equal(x), "stages of different layers",
          "take stages=ends, or a pp and vpp that divide the layers" },
        { l->vpp > 1 && split_alone(l), "chunks of different layers",
          "take stages=even or ends with vpp" },
        { l->overlap_pp && l->vpp == 1, "overlap_pp without vpp",
          "it overlaps sends in interleaved pipelines only" },
        { job->precision == PLAN_NVFP4 || job->precision == PLAN_FP8_ROWS ||
              job->precision == PLAN_FP8_BLOCKS,
          "this precision", "its recipes have bf16, fp16, fp8 and mxfp8" },
        { job->attention == ATTENTION_FIRST, "attention=first", "it has no such kernels" },
        { !job->fused, "fused=no", "its recipes fuse" },
        { job->shape.experts && l->tp > 1 && !l->seq_parallel, "seq_parallel=no with experts",
          "Megatron refuses to train so" },
        { job->graphs && l->recompute == RECOMPUTE_FULL, "graphs with recompute=full",
          "Megatron refuses them together" },
    };

    return emit_check(&emit_nemo, limits, ARRAY_SIZE(limits), e);
}

static void add_stages(const struct emit *x, struct str *out)
{
    bool ends = stage_split_is(&x->l->less, &stages_ends);
    int layers = x->job->shape.layers;

    str_addf(out,
             "strategy.account_for_embedding_in_pipeline_split = %s\n"
             "strategy.account_for_loss_in_pipeline_split = %s\n",
             emit_upper(ends), emit_upper(ends));
    for (int last = 0; last < 2; last++) {
        str_addf(out, "strategy.num_layers_in_%s_pipeline_stage = ", last ? "last" : "first");
        if (split_alone(x->l))
            str_addf(out, "%d\n", layout_layers(x->l, layers, last ? x->l->pp - 1 : 0));
        else
            str_add(out, "None\n");
    }
}

static void add_strategy(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;

    str_addf(out,
             "strategy = recipe.trainer.strategy\n"
             "strategy.tensor_model_parallel_size = %d\nstrategy.sequence_parallel = %s\n"
             "strategy.pipeline_model_parallel_size = %d\n"
             "strategy.pipeline_dtype = torch.%s\n"
             "strategy.virtual_pipeline_model_parallel_size = ",
             l->tp, emit_upper(l->seq_parallel), l->pp,
             x->job->precision == PLAN_FP16 ? "half" : "bfloat16");
    if (l->vpp > 1)
        str_addf(out, "%d\n", l->vpp);
    else
        str_add(out, "None\n");
    add_stages(x, out);
    str_addf(out, "strategy.context_parallel_size = %d\n", l->cp);
    if (x->job->shape.experts)
        str_addf(out,
                 "strategy.expert_model_parallel_size = %d\n"
                 "strategy.expert_tensor_parallel_size = %d\n",
                 l->ep, l->etp);
    str_addf(out,
             "strategy.ddp = run.Config(\n    DistributedDataParallelConfig,\n"
             "    use_distributed_optimizer=%s,\n    grad_reduce_in_fp32=%s,\n"
             "    overlap_grad_reduce=%s,\n    overlap_param_gather=%s,\n)\n"
             "recipe.optim.config.use_distributed_optimizer = %s\n",
             emit_upper(l->zero == 1), emit_upper(x->job->gradient_b == 4),
             emit_upper(l->overlap_dp), emit_upper(l->overlap_dp && l->zero == 1),
             emit_upper(l->zero == 1));
}

static void add_model(const struct emit *x, struct str *out)
{
    static const char *const exchanges[] = {
        [CONTEXT_RING] = "p2p", [CONTEXT_ULYSSES] = "a2a", [CONTEXT_GATHER] = "all_gather"
    };
    const struct layout *l = x->l;
    const struct plan_job *job = x->job;

    str_addf(out, "config = recipe.model.config\nconfig.seq_length = %d\n", job->seq);
    if (l->cp > 1)
        str_addf(out, "config.cp_comm_type = \"%s\"\n", exchanges[l->context]);
    if (l->recompute == RECOMPUTE_NONE)
        str_add(out, "config.recompute_granularity = None\nconfig.recompute_method = None\n"
                     "config.recompute_num_layers = None\n");
    else if (l->recompute == RECOMPUTE_SELECTIVE)
        str_add(out, "config.recompute_granularity = \"selective\"\n"
                     "config.recompute_method = None\nconfig.recompute_num_layers = None\n");
    else
        str_add(out, "config.recompute_granularity = \"full\"\n"
                     "config.recompute_method = \"uniform\"\nconfig.recompute_num_layers = 1\n");
    if (job->attention == ATTENTION_PLAIN)
        str_add(out, "config.attention_backend = AttnBackend.unfused\n");
    if (job->graphs)
        str_add(out, "config.enable_cuda_graph = True\nstrategy.use_te_rng_tracker = True\n");
    if (job->fused_loss)
        str_add(out, "config.cross_entropy_loss_fusion = True\n"
                     "config.cross_entropy_fusion_impl = \"te\"\n");
}

static const char *precision(const struct plan_job *job)
{
    switch (job->precision) {
    case PLAN_FP16:
        return "fp16_mixed";
    case PLAN_FP8:
        return "bf16_with_fp8_mixed";
    case PLAN_MXFP8:
        return "bf16_with_mxfp8_mixed";
    default:
        return "bf16_mixed";
    }
}

static void add_file(const struct emit *x, struct str *out)
{
    const struct emit_model *m = emit_find_model(recipes, x->job->shape.name);
    const struct layout *l = x->l;

    str_addf(out,
             "import nemo_run as run\nimport torch\n"
             "from megatron.core.distributed import DistributedDataParallelConfig\n%s"
             "from nemo.collections import llm\n"
             "from nemo.collections.llm.recipes.precision.mixed_precision import %s\n"
             "from nemo.lightning.pytorch.callbacks.megatron_comm_overlap import (\n"
             "    MegatronCommOverlapCallback,\n)\n\n"
             "recipe = llm.%s.pretrain_recipe(name=\"%s\", num_nodes=%d, num_gpus_per_node=%d)\n"
             "recipe.data.seq_length = %d\nrecipe.data.micro_batch_size = %d\n"
             "recipe.data.global_batch_size = %d\nrecipe.trainer.plugins = %s()\n"
             "recipe.trainer.plugins.grad_reduce_in_fp32 = %s\n\n",
             x->job->attention == ATTENTION_PLAIN
                 ? "from megatron.core.transformer.enums import AttnBackend\n"
                 : "",
             precision(x->job), m->word, m->word, x->nodes, x->per_node, x->job->seq,
             l->micro_batch, x->job->global_batch, precision(x->job),
             emit_upper(x->job->gradient_b == 4));
    add_strategy(x, out);
    str_add_char(out, '\n');
    add_model(x, out);
    str_addf(out,
             "\nothers = [c for c in recipe.trainer.callbacks or []\n"
             "          if c.__fn_or_cls__ is not MegatronCommOverlapCallback]\n"
             "overlap = run.Config(MegatronCommOverlapCallback, tp_comm_overlap=%s)\n"
             "overlap.overlap_p2p_comm = %s\n"
             "recipe.trainer.callbacks = others + [overlap]\n\n"
             "if __name__ == \"__main__\":\n    run.run(recipe, direct=True)\n",
             emit_upper(l->overlap_tp), emit_upper(l->overlap_pp));
}

static void add_command(const struct emit *x, struct str *out)
{
    (void)x;
    str_add(out, emit_nemo.file);
}

const struct emit_ops emit_nemo = {
    .name = "nemo",
    .version = "NeMo 2.4",
    .engine = ENGINE_MEGATRON,
    .check = check,
    .file = "nemo_recipe.py",
    .file_alone = true,
    .add_file = add_file,
    .add_command = add_command,
};
