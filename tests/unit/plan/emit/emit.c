/* Layouts as flags and files: golden texts, what is refused, and that no field is lost. */
#include "plan/emit/emit.h"

#include <errno.h>
#include <stddef.h>

#include "models_csv.h"
#include "oom_arena.h"
#include "plan/layout/pins.h"
#include "plan/shape/models.h"
#include "tap.h"

enum { TEXT = 1 << 16 };

/* A layout and its job, as pins on a model and a cluster of H100. */
struct made {
    struct plan_job job;
    struct cluster cluster;
    struct layout l;
};

static struct made make(const struct models *m, const char *model, int nodes, int batch,
                        const char *pins)
{
    const struct model_row *row = NULL;
    struct made x = { .job = { .seq = 4096,
                               .global_batch = batch,
                               .precision = PLAN_BF16,
                               .attention = ATTENTION_FLASH,
                               .gradient_b = 4,
                               .fused = true,
                               .imbalance = 1 },
                      .cluster = { .gpu = { .name = "H100-SXM5-80GB" },
                                   .nodes = nodes,
                                   .per_node = 8,
                                   .domain = 8 } };
    struct pins p = { .fixed = 0 };
    struct err e = { "" };
    int rc = models_find(m, model, &row, &e);

    if (rc == 0) {
        x.job.shape = row->shape;
        rc = pins_read(&p, pins, &e);
    }
    pins_set_job(&p, &x.job);
    if (rc == 0)
        rc = pins_complete(&p, &x.job, &x.cluster, &x.l, &e);
    ok(rc == 0, "pins complete a layout of %s with '%s': %s", model, pins, e.text);
    return x;
}

static int text_of(int target, const struct made *x, struct str *out, struct err *e)
{
    str_reset(out);
    return emit_text((enum emit_target)target, &x->job, &x->cluster, &x->l, out, e);
}

static void has(const struct str *text, const char *part)
{
    ok(strstr(str_text(text), part), "the text has: %s", part);
}

/* ---- golden texts ---- */

static const char *const target_names[EMIT_TARGETS] = { "megatron", "torchtitan", "deepspeed",
                                                        "nemo", "torchrun-fsdp" };

static const char megatron_args[] =
    "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
    "ARGS=(\n"
    "    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672\n"
    "    --num-attention-heads 64 --kv-channels 128 --group-query-attention --num-query-groups 8\n"
    "    --seq-length 4096 --max-position-embeddings 131072 --position-embedding-type rope\n"
    "    --normalization RMSNorm --swiglu --untie-embeddings-and-output-weights "
    "--disable-bias-linear\n"
    "    --attention-dropout 0.0 --hidden-dropout 0.0\n"
    "    --tensor-model-parallel-size 8 --sequence-parallel --tp-comm-overlap\n"
    "    --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 5\n"
    "    --use-distributed-optimizer\n"
    "    --overlap-grad-reduce --overlap-param-gather\n"
    "    --micro-batch-size 1 --global-batch-size 512\n"
    "    --bf16 --accumulate-allreduce-grads-in-fp32\n"
    "    --attention-backend auto\n"
    ")\n";

static const char megatron_launch[] =
    "torchrun --nnodes 16 --nproc-per-node 8 --node-rank \"${NODE_RANK:-0}\" \\\n"
    "    --master-addr \"${MASTER_ADDR:-localhost}\" --master-port \"${MASTER_PORT:-29500}\" \\\n"
    "    \"${MEGATRON:-.}/pretrain_gpt.py\" \"${ARGS[@]}\" $DATA \"$@\"\n";

static void test_megatron(const struct models *m)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    struct made x = make(m, "Llama-3.1-70B", 16, 512, "tp=8,pp=4,vpp=5");

    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0, "emit_text writes for Megatron-LM");
    has(&out, "#!/bin/bash\n# Megatron-LM core_v0.15, by brim plan\n"
              "# Llama-3.1-70B on 128 x H100-SXM5-80GB, 512 sequences of 4096 tokens\n"
              "# tp=8,pp=4,vpp=5,dp=4,micro_batch=1,recompute=none,zero=1,stages=even\n");
    has(&out, megatron_args);
    has(&out, megatron_launch);
    x = make(m, "DeepSeek-V3", 32, 1024, "tp=2,pp=8,ep=16,recompute=full,stages=ends,zero=0");
    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0,
           "Megatron-LM takes experts and uneven stages");
    has(&out, "    --multi-latent-attention --kv-lora-rank 512 --qk-head-dim 128 "
              "--qk-pos-emb-head-dim 64 --v-head-dim 128 --qk-layernorm --q-lora-rank 1536\n");
    has(&out, "--moe-layer-freq \"([0]*3+[1]*58)\"\n");
    has(&out, "    --pipeline-model-parallel-size 8\n"
              "    --pipeline-model-parallel-layout "
              "\"Et*7|t*8|t*8|t*8|t*8|t*8|t*8|t*6L\"\n");
    has(&out, "    --expert-model-parallel-size 16 --expert-tensor-parallel-size 1\n"
              "    --overlap-grad-reduce\n");
    has(&out, "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
    x = make(m, "Mixtral-8x7B", 8, 512, "tp=2,ep=8");
    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0, "Megatron-LM takes experts in all layers");
    has(&out, "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336\n");
    has(&out, "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 14336 ");
    x = make(m, "Llama-3.1-405B", 16, 512, "tp=8,pp=16,stages=ends,cp=1,fused_loss=yes");
    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0,
           "Megatron-LM takes stages with ends that come out even");
    has(&out, "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split\n");
    has(&out, "--cross-entropy-loss-fusion --cross-entropy-fusion-impl te\n");
    x = make(m, "Llama-3.1-70B", 4, 512, "tp=8,pp=4,stages=1+3");
    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0,
           "Megatron-LM takes a last stage with fewer layers");
    has(&out, "    --pipeline-model-parallel-size 4\n"
              "    --decoder-first-pipeline-num-layers 20 --decoder-last-pipeline-num-layers 18\n");
    x = make(m, "DeepSeek-V3", 16, 1024, "tp=1,pp=16,vpp=2,ep=8,stages=2+1");
    is_int(text_of(EMIT_MEGATRON, &x, &out, NULL), 0,
           "Megatron-LM takes a first and a last chunk with fewer layers");
    has(&out, "    --pipeline-model-parallel-layout \"E|t*2|t*2|");
    has(&out, "|t*2|t*1L\"\n");
}

/* Flags that only some shapes and layouts need: there for these, not for others. */
static void test_megatron_flags(const struct models *m)
{
    static const struct {
        const char *model, *pins, *has, *lacks;
    } cases[] = {
        { "DeepSeek-V3", "", " --q-lora-rank 1536\n", "--window-size" },
        { "DeepSeek-V2-Lite", "", "--kv-lora-rank 512 ", "--q-lora-rank" },
        { "Llama-2-7B", "", "--num-attention-heads 32 --kv-channels 128\n",
          "--group-query-attention" },
        { "Llama-2-70B", "", " --group-query-attention --num-query-groups 8\n", "--num-experts" },
        { "Qwen3-8B", "", " --qk-layernorm\n", "--moe" },
        { "Llama-2-70B", "", " --kv-channels 128 ", "--qk-layernorm" },
        { "Mistral-7B", "", "    --window-size 4096,0\n", "--window-attn-skip-freq" },
        { "Mixtral-8x7B", "", "--num-experts 8 ", "--moe-shared-expert-intermediate-size" },
        { "Mixtral-8x7B", "", "--num-experts 8 ", "--moe-router-score-function" },
        { "Mixtral-8x7B", "", "--num-experts 8 ", "--moe-layer-freq" },
        { "Llama-4-Maverick", "", "--moe-layer-freq 2\n", "[0]*" },
        { "DeepSeek-V3", "", "--moe-router-score-function sigmoid --moe-router-enable-expert-bias",
          "--moe-layer-freq 1" },
        { "Qwen2.5-7B", "", " --disable-bias-linear --add-qkv-bias\n", "LayerNorm" },
        { "Llama-2-7B", "", " --disable-bias-linear\n", "--add-qkv-bias" },
        { "GPT-3-175B", "", "--normalization LayerNorm", "--disable-bias-linear" },
        { "Llama-2-7B", "", "--max-position-embeddings 4096 ", "--pipeline-model-parallel-size" },
        { "Llama-2-7B", "pp=4,vpp=2,overlap_pp=no", "--no-overlap-p2p-communication\n",
          "--account-for" },
        { "Llama-2-7B", "pp=2,vpp=2,overlap_pp=yes", "--num-virtual-stages-per-pipeline-rank 2\n",
          "--no-overlap-p2p-communication" },
        { "Llama-2-7B", "pp=2", "--pipeline-model-parallel-size 2\n", "--num-virtual-stages" },
        { "Llama-2-7B", "zero=2", " --data-parallel-sharding-strategy optim_grads ",
          "optim_grads_params" },
        { "Llama-2-7B", "zero=3", " --data-parallel-sharding-strategy optim_grads_params ",
          "--num-distributed-optimizer-instances" },
        { "Llama-2-7B", "zero=1", "    --use-distributed-optimizer\n", "--use-megatron-fsdp" },
        { "Llama-2-7B", "zero=0,overlap_dp=yes", "    --overlap-grad-reduce\n",
          "--overlap-param-gather" },
        { "Llama-2-7B", "zero=1,overlap_dp=no", "--use-distributed-optimizer\n",
          "--overlap-grad-reduce" },
        { "Llama-2-7B", "recompute=none", "--bf16", "--recompute" },
        { "Llama-2-7B", "recompute=norms", "--recompute-modules layernorm\n", "moe_act" },
        { "Mixtral-8x7B", "recompute=norms", "--recompute-modules layernorm moe_act\n", "full" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT);
        struct made x = make(m, cases[i].model, 1, 64, cases[i].pins);
        struct err e = { "" };

        is_int(text_of(EMIT_MEGATRON, &x, &out, &e), 0, "%s with '%s' is written: %s",
               cases[i].model, cases[i].pins, e.text);
        ok(strstr(str_text(&out), cases[i].has) != NULL, "%s with '%s' has '%s'", cases[i].model,
           cases[i].pins, cases[i].has);
        ok(!strstr(str_text(&out), cases[i].lacks), "%s with '%s' lacks '%s'", cases[i].model,
           cases[i].pins, cases[i].lacks);
    }
}

static const char titan_text[] = "\n[parallelism]\n"
                                 "data_parallel_replicate_degree = 2\n"
                                 "data_parallel_shard_degree = 8\n"
                                 "fsdp_reshard_after_forward = \"never\"\n"
                                 "tensor_parallel_degree = 4\n"
                                 "enable_async_tensor_parallel = true\n"
                                 "pipeline_parallel_degree = 2\n"
                                 "pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
                                 "pipeline_parallel_microbatch_size = 1\n"
                                 "pipeline_parallel_layers_per_stage = 8\n"
                                 "pipeline_parallel_first_stage_less_layers = 0\n"
                                 "pipeline_parallel_last_stage_less_layers = 0\n"
                                 "context_parallel_degree = 1\n"
                                 "\n[activation_checkpoint]\nmode = \"full\"\n"
                                 "\n[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n";

static void test_torchtitan(const struct models *m)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    struct made x = make(m, "Llama-3.1-8B", 16, 512,
                         "tp=4,pp=2,vpp=2,zero=3,shard=8,recompute=full");

    is_int(text_of(EMIT_TORCHTITAN, &x, &out, NULL), 0, "emit_text writes for torchtitan");
    has(&out, "# torchtitan 0.2, by brim plan\n");
    has(&out, "#   torchrun --nnodes 16 --nproc-per-node 8 ");
    has(&out, "[model]\nname = \"llama3\"\nflavor = \"8B\"\n");
    has(&out, "seq_len = 4096\nlocal_batch_size = 32\nglobal_batch_size = 512\n");
    has(&out, titan_text);
    x = make(m, "Llama-3.1-70B", 4, 512, "tp=8,pp=4,stages=1+3,zero=3");
    is_int(text_of(EMIT_TORCHTITAN, &x, &out, NULL), 0, "torchtitan takes uneven stages");
    has(&out, "pipeline_parallel_layers_per_stage = 21\n"
              "pipeline_parallel_first_stage_less_layers = 1\n"
              "pipeline_parallel_last_stage_less_layers = 3\n");
}

static void test_deepspeed(const struct models *m)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    struct made x = make(m, "Llama-3.1-8B", 2, 128,
                         "tp=2,zero=2,seq_parallel=no,gradient_bytes=2,micro_batch=4");

    is_int(text_of(EMIT_DEEPSPEED, &x, &out, NULL), 0, "emit_text writes for DeepSpeed");
    has(&out, "cat > ds_config.json <<'END'\n{\n");
    has(&out, "\"train_batch_size\": 128,\n  \"train_micro_batch_size_per_gpu\": 4,\n"
              "  \"gradient_accumulation_steps\": 4,\n");
    has(&out, "\"zero_optimization\": {\n    \"stage\": 2,\n    \"overlap_comm\": true,");
    has(&out, "\"autotp_size\": 2");
    has(&out, "\"${PROGRAM:-train.py}\" --deepspeed --deepspeed_config ds_config.json \"$@\"\n");
}

static void test_nemo_and_fsdp(const struct models *m)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    struct made x = make(m, "Mixtral-8x7B", 8, 512, "tp=2,pp=4,vpp=2,ep=8,cp=2,context=gather");

    is_int(text_of(EMIT_NEMO, &x, &out, NULL), 0, "emit_text writes for NeMo");
    has(&out, "llm.mixtral_8x7b.pretrain_recipe(name=\"mixtral_8x7b\", num_nodes=8, "
              "num_gpus_per_node=8)\n");
    has(&out, "strategy.virtual_pipeline_model_parallel_size = 2\n");
    has(&out, "strategy.expert_model_parallel_size = 8\n");
    has(&out, "config.cp_comm_type = \"all_gather\"\n");
    has(&out, "strategy.num_layers_in_last_pipeline_stage = None\n");
    x = make(m, "Llama-3.1-70B", 4, 512, "tp=8,pp=4,stages=1+3");
    is_int(text_of(EMIT_NEMO, &x, &out, NULL), 0, "NeMo takes uneven stages");
    has(&out, "strategy.account_for_loss_in_pipeline_split = False\n"
              "strategy.num_layers_in_first_pipeline_stage = 20\n"
              "strategy.num_layers_in_last_pipeline_stage = 18\n");
    x = make(m, "Qwen3-8B", 4, 64, "zero=3,shard=8,recompute=full");
    is_int(text_of(EMIT_FSDP, &x, &out, NULL), 0, "emit_text writes for FSDP2");
    has(&out, "\"cuda\", (4, 8), mesh_dim_names=(\"replicate\", \"shard\")");
    has(&out, "        layer = checkpoint_wrapper(layer)\n        layer.compile()\n");
    has(&out, "ACCUMULATE = 2  #");
}

static void test_sbatch(const struct models *m)
{
    CLEANUP(str_done) struct str out = STR_INIT(TEXT);
    struct made x = make(m, "Llama-3.1-8B", 4, 256, "tp=4,zero=3");

    is_int(text_of(EMIT_SBATCH | EMIT_TORCHTITAN, &x, &out, NULL), 0,
           "emit_text writes a batch script");
    has(&out, "#!/bin/bash\n#SBATCH --job-name=Llama-3.1-8B\n#SBATCH --nodes=4\n"
              "#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=8\n#SBATCH --exclusive\n");
    has(&out, "cat > torchtitan.toml <<'END'\n[job]\n");
    has(&out, "srun --kill-on-bad-exit=1 --cpu-bind=none \\\n"
              "    torchrun --nnodes 4 --nproc-per-node 8 --rdzv-backend c10d \\\n"
              "    --rdzv-id \"$SLURM_JOB_ID\" "
              "--rdzv-endpoint \"$MASTER_ADDR:${MASTER_PORT:-29500}\" \\\n"
              "    -m torchtitan.train --job.config_file torchtitan.toml \"$@\"\n");
    x = make(m, "Llama-3.2-1B", 1, 64, "dp=2");
    is_int(text_of(EMIT_SBATCH | EMIT_MEGATRON, &x, &out, NULL), 0,
           "emit_text writes a batch script for a part of a node");
    ok(!strstr(str_text(&out), "exclusive"), "a job on a part of a node leaves the rest to others");
}

/* ---- no field is lost ---- */

/* The text without comments, where the layout stands in any case. */
static void strip(const struct str *text, struct str *out)
{
    const char *s = str_text(text);

    str_reset(out);
    while (*s) {
        size_t n = strcspn(s, "\n") + 1;

        if (*s != '#' || !strncmp(s, "#SBATCH", 7))
            str_add_n(out, s, MIN(n, strlen(s)));
        s += MIN(n, strlen(s));
    }
}

static void set_tp(struct made *x)
{
    x->l.tp *= 2;
    x->l.dp /= 2;
}

static void set_pp(struct made *x)
{
    x->l.pp *= 2;
    x->l.dp /= 2;
}

static void set_vpp(struct made *x)
{
    x->l.vpp *= 2;
}

static void set_cp(struct made *x)
{
    x->l.cp *= 2;
    x->l.dp /= 2;
}

static void set_ep(struct made *x)
{
    x->l.ep *= 2;
}

static void set_etp(struct made *x)
{
    x->l.etp *= 2;
}

static void set_dp(struct made *x)
{
    x->l.dp /= 2;
}

static void set_context(struct made *x)
{
    x->l.context = x->l.context == CONTEXT_RING ? CONTEXT_GATHER : CONTEXT_RING;
}

static void set_ulysses(struct made *x)
{
    x->l.context = x->l.context == CONTEXT_ULYSSES ? CONTEXT_RING : CONTEXT_ULYSSES;
}

static void set_micro_batch(struct made *x)
{
    x->l.micro_batch *= 2;
}

static void set_selective(struct made *x)
{
    x->l.recompute = RECOMPUTE_SELECTIVE;
}

static void set_norms(struct made *x)
{
    x->l.recompute = RECOMPUTE_NORMS;
}

static void set_mlp(struct made *x)
{
    x->l.recompute = RECOMPUTE_MLP;
}

static void set_overlap_ep(struct made *x)
{
    x->l.overlap_ep = !x->l.overlap_ep;
}

static void set_offload(struct made *x)
{
    x->l.offload = !x->l.offload;
}

static void set_moment_b(struct made *x)
{
    x->job.moment_b = x->job.moment_b == 2 ? 4 : 2;
}

static void set_full(struct made *x)
{
    x->l.recompute = x->l.recompute == RECOMPUTE_FULL ? RECOMPUTE_NONE : RECOMPUTE_FULL;
}

static void set_zero(struct made *x)
{
    x->l.zero = (x->l.zero + 1) % 4;
}

static void set_zero2(struct made *x)
{
    x->l.zero = (x->l.zero + 2) % 4;
}

static void set_shard(struct made *x)
{
    x->l.shard = x->l.dp * x->l.cp / 2;
}

static void set_seq_parallel(struct made *x)
{
    x->l.seq_parallel = !x->l.seq_parallel;
    x->l.overlap_tp = false;
}

static void set_gpipe(struct made *x)
{
    x->l.schedule = SCHEDULE_GPIPE;
}

static void set_zero_bubble(struct made *x)
{
    x->l.schedule = SCHEDULE_ZERO_BUBBLE;
}

static void set_stages(struct made *x)
{
    x->l.less = stage_split_is(&x->l.less, &stages_even) ? stages_ends : stages_even;
}

static void set_overlap_dp(struct made *x)
{
    x->l.overlap_dp = !x->l.overlap_dp;
}

static void set_overlap_tp(struct made *x)
{
    x->l.overlap_tp = !x->l.overlap_tp;
}

static void set_overlap_pp(struct made *x)
{
    x->l.overlap_pp = !x->l.overlap_pp;
}

static void set_precision(struct made *x)
{
    x->job.precision = PLAN_FP8;
}

static void set_fp8_rows(struct made *x)
{
    x->job.precision = PLAN_FP8_ROWS;
}

static void set_fp8_blocks(struct made *x)
{
    x->job.precision = PLAN_FP8_BLOCKS;
}

static void set_mxfp8(struct made *x)
{
    x->job.precision = PLAN_MXFP8;
}

static void set_nvfp4(struct made *x)
{
    x->job.precision = PLAN_NVFP4;
}

static void set_fp16(struct made *x)
{
    x->job.precision = PLAN_FP16;
}

static void set_gradient_b(struct made *x)
{
    x->job.gradient_b = 6 - x->job.gradient_b;
}

static void set_plain(struct made *x)
{
    x->job.attention = ATTENTION_PLAIN;
}

static void set_first(struct made *x)
{
    x->job.attention = ATTENTION_FIRST;
}

static void set_fused(struct made *x)
{
    x->job.fused = !x->job.fused;
}

static void set_graphs(struct made *x)
{
    x->job.graphs = true;
}

static void set_fused_loss(struct made *x)
{
    x->job.fused_loss = true;
}

static void set_batch(struct made *x)
{
    x->job.global_batch *= 2;
}

static void set_seq(struct made *x)
{
    x->job.seq *= 2;
}

static const struct {
    const char *field;
    void (*set)(struct made *x);
} variants[] = {
    { "tp", set_tp },
    { "pp", set_pp },
    { "vpp", set_vpp },
    { "cp", set_cp },
    { "ep", set_ep },
    { "etp", set_etp },
    { "dp", set_dp },
    { "context", set_context },
    { "context=ulysses", set_ulysses },
    { "micro_batch", set_micro_batch },
    { "recompute=selective", set_selective },
    { "recompute=norms", set_norms },
    { "recompute=mlp", set_mlp },
    { "recompute=full", set_full },
    { "overlap_ep", set_overlap_ep },
    { "offload", set_offload },
    { "zero", set_zero },
    { "zero by two", set_zero2 },
    { "shard", set_shard },
    { "seq_parallel", set_seq_parallel },
    { "schedule=gpipe", set_gpipe },
    { "schedule=zero-bubble", set_zero_bubble },
    { "stages", set_stages },
    { "overlap_dp", set_overlap_dp },
    { "overlap_tp", set_overlap_tp },
    { "overlap_pp", set_overlap_pp },
    { "fp8", set_precision },
    { "fp8_rows", set_fp8_rows },
    { "fp8_blocks", set_fp8_blocks },
    { "mxfp8", set_mxfp8 },
    { "nvfp4", set_nvfp4 },
    { "fp16", set_fp16 },
    { "gradient_bytes", set_gradient_b },
    { "moment_bytes", set_moment_b },
    { "attention=plain", set_plain },
    { "attention=first", set_first },
    { "fused", set_fused },
    { "graphs", set_graphs },
    { "fused_loss", set_fused_loss },
    { "batch", set_batch },
    { "seq", set_seq },
};

/* How often a field appeared in a text of a target, and how often it was refused. */
struct tally {
    int shown, refused, lost;
};

static void vary(int target, const struct made *base, struct tally *tally)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);
    CLEANUP(str_done) struct str was = STR_INIT(TEXT);
    CLEANUP(str_done) struct str now = STR_INIT(TEXT);

    if (text_of(target, base, &text, NULL) < 0)
        return;
    strip(&text, &was);
    for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
        struct made x = *base;
        struct err e = { "" };
        int rc;

        variants[i].set(&x);
        /* Sequences are the business of a program that DeepSpeed runs: a comment says how long. */
        if (target == EMIT_DEEPSPEED && x.job.seq != base->job.seq)
            continue;
        rc = text_of(target, &x, &text, &e);
        strip(&text, &now);
        if (rc == -EINVAL && e.text[0]) {
            tally->refused++;
        } else if (rc == 0 && strcmp(str_text(&was), str_text(&now)) != 0) {
            tally->shown++;
        } else {
            tally->lost++;
            ok(false, "%s shows the field %s or refuses it", target_names[target],
               variants[i].field);
        }
    }
}

static void test_no_field_is_lost(const struct models *m)
{
    static const struct {
        const char *model, *pins;
    } bases[] = {
        { "Llama-3.1-8B", "" },
        { "Llama-3.1-8B", "zero=0" },
        { "Llama-3.1-8B", "zero=2,gradient_bytes=2" },
        { "Llama-3.1-8B", "zero=3,gradient_bytes=2" },
        { "Llama-3.1-8B", "zero=2" },
        { "Llama-3.1-8B", "zero=3,shard=8" },
        { "Llama-3.1-8B", "tp=4,zero=3,overlap_tp=no" },
        { "Llama-3.1-8B", "tp=2,zero=1,seq_parallel=no" },
        { "Llama-3.1-8B", "tp=4,zero=3,recompute=full" },
        { "Llama-3.1-70B", "tp=4,pp=4,vpp=2,cp=2" },
        { "Llama-3.1-70B", "tp=4,pp=4,vpp=2,cp=2,zero=3" },
        { "Llama-3.1-70B", "tp=4,pp=4,zero=3" },
        { "Llama-3.1-70B", "tp=2,pp=2,cp=4,context=ulysses" },
        { "Llama-3.1-405B", "tp=8,pp=8,stages=ends" },
        { "Mixtral-8x7B", "tp=2,pp=2,ep=4,etp=2" },
        { "DeepSeek-V3", "tp=2,pp=8,ep=16,stages=ends" },
        { "DeepSeek-V3", "tp=4,ep=16,zero=3" },
        { "GPT-3-175B", "tp=8,pp=8" },
    };

    for (int target = 0; target < EMIT_TARGETS; target++) {
        struct tally tally = { .lost = 0 };

        for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
            struct made x = make(m, bases[i].model, 32, 1024, bases[i].pins);

            vary(target, &x, &tally);
        }
        ok(tally.shown > 10 && !tally.lost, "%s: %d changes show, %d are refused, %d are lost",
           target_names[target], tally.shown, tally.refused, tally.lost);
    }
}

/* ---- refused ---- */

static void test_refused(const struct models *m)
{
    static const struct {
        int target;
        const char *model, *pins, *said;
    } cases[] = {
        { EMIT_MEGATRON, "Mixtral-8x7B", "tp=2,seq_parallel=no",
          "Megatron-LM core_v0.15 cannot express seq_parallel=no with experts: it refuses to train "
          "so" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "pp=2,schedule=gpipe",
          "Megatron-LM core_v0.15 cannot express schedule=gpipe: its pipelines are 1F1B" },
        { EMIT_MEGATRON, "BLOOM-176B", "tp=8",
          "Megatron-LM core_v0.15 cannot express the norm behind the embedding: there is no flag "
          "for it" },
        { EMIT_TORCHTITAN, "Llama-3.1-8B", "zero=1",
          "torchtitan 0.2 cannot express zero=1: FSDP2 divides gradients too: take 2 or 3" },
        { EMIT_TORCHTITAN, "Qwen3-4B", "pp=2,zero=3",
          "torchtitan 0.2 cannot express pp with a head that is the embedding: its stages share no "
          "weights" },
        { EMIT_TORCHTITAN, "Mixtral-8x7B", "zero=3",
          "torchtitan 0.2 cannot express Mixtral-8x7B: it has Llama 3, Qwen3 and DeepSeek V2 and "
          "V3 in some sizes" },
        { EMIT_DEEPSPEED, "Llama-3.1-8B", "pp=2",
          "DeepSpeed 0.18 cannot express pp: its pipelines are made in your program "
          "(PipelineModule)" },
        { EMIT_NEMO, "Llama-3.1-8B", "zero=3",
          "NeMo 2.4 cannot express zero=2 and zero=3: brim writes zero 0 and 1 for it" },
        { EMIT_FSDP, "Llama-3.1-8B", "tp=2,zero=3",
          "PyTorch 2.6 cannot express tp: which layers to divide depends on your model's names" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "shard=4,zero=0",
          "shard says nothing without zero 1, 2 or 3: leave it out" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "dp=9,micro_batch=1",
          "9 GPUs are no whole nodes of 8: a job takes whole nodes" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT);
        struct made x = make(m, cases[i].model, 4, 288, cases[i].pins);
        struct err e = { "" };

        is_int(text_of(cases[i].target, &x, &out, &e), -EINVAL, "emit_text refuses: %s",
               cases[i].said);
        is_str(e.text, cases[i].said, "emit_text says: %s", cases[i].said);
        ok(!*str_text(&out), "nothing is written after: %s", cases[i].said);
    }
}

#define SHAPE(name, change) \
    static void name(struct shape *s) \
    { \
        change; \
    }
SHAPE(parallel, s->parallel = true)
SHAPE(sinks, s->sinks = true)
SHAPE(shared_gate, s->shared_gate = true)
SHAPE(extra_position, s->extra_positions = 1)
SHAPE(out_biases, s->out_biases = true)
SHAPE(mlp_biases, s->mlp_biases = true)
SHAPE(head_bias, s->head_bias = true)
SHAPE(all_biases, s->biases = s->out_biases = true)
SHAPE(two_norms, s->norms = 2)
SHAPE(three_norms, s->norms = 3)
SHAPE(norms_by_head, s->qk_norms = 2 * s->head_dim)
SHAPE(norms_of_all, s->qk_norms = 2 * s->head_dim * s->heads)
SHAPE(dense_first, s->dense_first = 1)
SHAPE(every_second, s->expert_every = 2)
SHAPE(dense_and_second, s->dense_first = 1; s->expert_every = 2)

/* Shapes that Megatron-LM has no flags for, and those beside them that it has. */
static void test_shapes(const struct models *m)
{
    static const struct {
        const char *model;
        void (*change)(struct shape *s);
        const char *said; /* NULL: it is written */
    } cases[] = {
        { "Llama-3.1-8B", parallel, "attention and MLP beside each other" },
        { "Mixtral-8x7B", sinks, "attention sinks beside biases of experts" },
        { "Mixtral-8x7B", shared_gate, "the gate of shared experts" },
        { "Llama-3.1-8B", extra_position, "rows of the position table beyond the positions" },
        { "Llama-3.1-8B", out_biases, "biases in some linear layers" },
        { "Llama-3.1-8B", mlp_biases, "biases in some linear layers" },
        { "Llama-3.1-8B", head_bias, "biases in some linear layers" },
        { "Llama-3.1-8B", all_biases, NULL },
        { "Llama-3.1-8B", two_norms, NULL },
        { "Llama-3.1-8B", three_norms, "more than two norms in a layer" },
        { "Llama-3.1-8B", norms_by_head, NULL },
        { "Llama-3.1-8B", norms_of_all, "norms over all queries and keys" },
        { "Mixtral-8x7B", dense_first, NULL },
        { "Mixtral-8x7B", every_second, NULL },
        { "Mixtral-8x7B", dense_and_second,
          "dense layers first and every few layers beside experts" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT);
        struct made x = make(m, cases[i].model, 4, 288, "tp=2");
        struct err e = { "" };
        int rc;

        cases[i].change(&x.job.shape);
        rc = text_of(EMIT_MEGATRON, &x, &out, &e);
        ok(cases[i].said ? rc == -EINVAL && strstr(e.text, cases[i].said) : rc == 0,
           "shape %zu of %s is %s by Megatron-LM: %s", i, cases[i].model,
           cases[i].said ? "refused" : "taken", e.text);
    }
}

static void test_names(void)
{
    enum emit_target t = EMIT_TARGETS;
    struct err e = { "" };

    for (int i = 0; i < EMIT_TARGETS; i++)
        ok(emit_find(target_names[i], &t, NULL) == 0 && (int)t == i,
           "emit_find finds %s by its name", target_names[i]);
    ok(emit_find("sbatch", &t, NULL) == 0 && (int)t == (EMIT_SBATCH | EMIT_MEGATRON),
       "emit_find takes sbatch for a script of Megatron-LM");
    ok(emit_find("sbatch+nemo", &t, NULL) == 0 && (int)t == (EMIT_SBATCH | EMIT_NEMO),
       "emit_find takes sbatch with nemo");
    is_int(emit_find("megatrn", &t, &e), -EINVAL, "emit_find refuses an unknown name");
    is_str(e.text, "'megatrn' is no program to write for (did you mean megatron?)",
           "the error names the nearest program");
    is_int(emit_find("pax", &t, &e), -EINVAL, "emit_find refuses a name unlike all others");
    is_str(e.text,
           "'pax' is no program to write for: there are megatron, torchtitan, deepspeed, nemo, "
           "torchrun-fsdp, and sbatch+ before one of them",
           "the error lists the programs that there are");
}

static void test_oom(const struct models *m)
{
    struct made x = make(m, "Llama-3.1-8B", 4, 256, "");
    bool failed;

    oom_restart();
    do {
        struct str out = STR_INIT(TEXT);
        struct err e = { "" };
        int rc;

        oom_next();
        rc = text_of(EMIT_SBATCH | EMIT_DEEPSPEED, &x, &out, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && e.text[0] : rc == 0,
           "emit_text with allocation %d failing returns %d", oom_at, rc);
        str_done(&out);
    } while (failed);
}

int main(void)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };

    is_int(models_load(&m, (const char *)data_models_csv, data_models_csv_len, NULL), 0,
           "models_load reads models.csv");
    test_megatron(&m);
    test_megatron_flags(&m);
    test_torchtitan(&m);
    test_deepspeed(&m);
    test_nemo_and_fsdp(&m);
    test_sbatch(&m);
    test_no_field_is_lost(&m);
    test_refused(&m);
    test_shapes(&m);
    test_names();
    test_oom(&m);
    return done();
}
