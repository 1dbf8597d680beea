/* Layouts as flags and files: golden texts, names of targets, allocations that fail. */
#include <errno.h>

#include "emitted.h"
#include "oom_arena.h"

static void has(const struct str *text, const char *part)
{
    ok(strstr(str_text(text), part), "the text has: %s", part);
}

/* ---- golden texts ---- */

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

    models_of_emit(&m);
    test_megatron(&m);
    test_megatron_flags(&m);
    test_torchtitan(&m);
    test_deepspeed(&m);
    test_nemo_and_fsdp(&m);
    test_sbatch(&m);
    test_names();
    test_oom(&m);
    return done();
}
