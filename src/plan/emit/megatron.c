/* Megatron-LM: flags of pretrain_gpt.py (megatron/training/arguments.py). */
#include <errno.h>

#include "plan/emit/emit_private.h"

static const char program[] = "\"${MEGATRON:-.}/pretrain_gpt.py\"";

/* ---- what has no flags ---- */

static int check_shape(const struct shape *s, struct err *e)
{
    int norms = s->parallel ? 1 : 2;
    const struct emit_limit limits[] = {
        { s->embedding_norm, "the norm behind the embedding", "there is no flag for it" },
        { s->parallel, "attention and MLP beside each other", "there is no flag for it" },
        { s->sinks, "attention sinks beside biases of experts", "there is no flag for the biases" },
        { s->shared_gate, "the gate of shared experts", "there is no flag for it" },
        { s->extra_positions > 0, "rows of the position table beyond the positions",
          "there is no flag for them" },
        { !s->biases && (s->out_biases || s->mlp_biases || s->head_bias),
          "biases in some linear layers", "--add-qkv-bias is all there is" },
        { s->norms > 0 && s->norms != norms, "more than two norms in a layer",
          "there is no flag for it" },
        { s->qk_norms > 0 && s->qk_norms != 2 * s->head_dim && s->attention == SHAPE_HEADS,
          "norms over all queries and keys", "--qk-layernorm is one for each head" },
        { s->dense_first > 0 && s->expert_every > 1,
          "dense layers first and every few layers beside experts", "it takes one of them" },
    };

    return emit_check(&emit_megatron, limits, ARRAY_SIZE(limits), e);
}

static int check(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    const struct plan_job *job = x->job;
    const struct emit_limit limits[] = {
        { x->job->precision == PLAN_FP8_ROWS, "fp8_rows", "Transformer Engine has no such recipe" },
        { l->schedule == SCHEDULE_GPIPE, "schedule=gpipe", "its pipelines are 1F1B" },
        { l->schedule == SCHEDULE_ZERO_BUBBLE, "schedule=zero-bubble", "its pipelines are 1F1B" },
        { l->zero >= 2 && l->pp > 1, "zero 2 or 3 with pp", "Megatron FSDP is for pp=1" },
        { l->zero >= 2 && l->shard > 0, "shard with zero 2 or 3",
          "only the distributed optimizer has instances: take zero=1" },
        { l->overlap_pp && l->vpp == 1, "overlap_pp without vpp",
          "it overlaps sends in interleaved pipelines only" },
        { !l->overlap_pp && l->vpp > 1 && l->pp == 2, "overlap_pp=no with pp=2 and vpp",
          "it needs pp above 2 for that" },
        { l->overlap_ep && l->recompute >= RECOMPUTE_MLP, "overlap_ep with recompute=mlp or full",
          "it refuses them together" },
        { l->overlap_ep && l->pp > 1 && l->vpp == 1, "overlap_ep in a pipeline without vpp",
          "it overlaps the micro-batches of chunks" },
        { l->offload && l->zero != 1, "offload without zero=1",
          "its distributed optimizer has that" },
        { job->moment_b == 2 && (l->zero != 1 || l->offload),
          "moment_bytes=2 with offload or without zero=1",
          "its precision-aware optimizer is the distributed one" },
        { job->attention == ATTENTION_FIRST, "attention=first", "it has no such kernels" },
        { job->graphs && l->recompute == RECOMPUTE_FULL, "graphs with recompute=full",
          "it refuses them together" },
        { job->precision == PLAN_FP16 && job->shape.experts, "fp16 with experts",
          "--moe-grouped-gemm takes bf16" },
        { job->shape.experts && l->tp > 1 && !l->seq_parallel, "seq_parallel=no with experts",
          "it refuses to train so" },
    };
    int rc = emit_check(&emit_megatron, limits, ARRAY_SIZE(limits), e);

    return rc < 0 ? rc : check_shape(&job->shape, e);
}

/* ---- flags ---- */

static void add_attention(const struct shape *s, struct str *out)
{
    str_addf(out, "    --num-attention-heads %d", s->heads);
    if (s->attention == SHAPE_LATENT) {
        str_addf(out,
                 "\n    --multi-latent-attention --kv-lora-rank %d --qk-head-dim %d "
                 "--qk-pos-emb-head-dim %d --v-head-dim %d --qk-layernorm",
                 s->kv_rank, s->nope_dim, s->rope_dim, s->v_dim);
        if (s->q_rank > 0)
            str_addf(out, " --q-lora-rank %d", s->q_rank);
    } else {
        str_addf(out, " --kv-channels %d", s->head_dim);
        if (s->kv_heads != s->heads)
            str_addf(out, " --group-query-attention --num-query-groups %d", s->kv_heads);
        if (s->qk_norms > 0)
            str_add(out, " --qk-layernorm");
    }
    str_add_char(out, '\n');
    if (s->window > 0)
        str_addf(out, "    --window-size %d,0", s->window);
    if (s->window > 0 && s->full_every > 1)
        str_addf(out, " --window-attn-skip-freq %d", s->full_every);
    if (s->window > 0)
        str_add_char(out, '\n');
}

static void add_experts(const struct shape *s, struct str *out)
{
    if (!s->experts)
        return;
    str_addf(out,
             "    --num-experts %d --moe-router-topk %d --moe-ffn-hidden-size %d "
             "--moe-grouped-gemm --moe-token-dispatcher-type alltoall\n",
             s->experts, s->active, s->expert_ffn);
    if (s->shared_ffn > 0)
        str_addf(out, "    --moe-shared-expert-intermediate-size %d\n", s->shared_ffn);
    if (s->dense_first > 0)
        str_addf(out, "    --moe-layer-freq \"([0]*%d+[1]*%d)\"\n", s->dense_first,
                 s->layers - s->dense_first);
    else if (s->expert_every > 1)
        str_addf(out, "    --moe-layer-freq %d\n", s->expert_every);
    if (s->router_biases)
        str_add(out, "    --moe-router-score-function sigmoid --moe-router-enable-expert-bias\n");
}

static void add_shape(const struct emit *x, struct str *out)
{
    const struct shape *s = &x->job->shape;

    str_addf(out, "    --num-layers %d --hidden-size %d --ffn-hidden-size %d\n", s->layers,
             s->hidden, s->ffn > 0 ? s->ffn : s->expert_ffn);
    add_attention(s, out);
    add_experts(s, out);
    str_addf(out, "    --seq-length %d --max-position-embeddings %d --position-embedding-type %s\n",
             x->job->seq, MAX(s->positions, x->job->seq),
             s->learned_positions ? "learned_absolute" : "rope");
    str_addf(out, "    --normalization %s%s%s", s->norm_biases ? "LayerNorm" : "RMSNorm",
             s->gated ? " --swiglu" : "", s->tied ? "" : " --untie-embeddings-and-output-weights");
    if (!s->biases)
        str_add(out, " --disable-bias-linear");
    if (!s->biases && s->qkv_biases)
        str_add(out, " --add-qkv-bias");
    str_add_char(out, '\n');
    if (!s->dropout)
        str_add(out, "    --attention-dropout 0.0 --hidden-dropout 0.0\n");
}

/* "Et*3|t*3|t*2|t*2L": layers of each stage, or of each chunk, one by one. */
static void add_chunks(const struct emit *x, struct str *out)
{
    str_add(out, "    --pipeline-model-parallel-layout \"E");
    for (int i = 0; i < x->l->pp * x->l->vpp; i++) {
        int n = layout_chunk_layers(x->l, x->job->shape.layers, i);

        str_add(out, i ? "|" : "");
        if (n > 0)
            str_addf(out, "t*%d", n);
    }
    str_add(out, "L\"\n");
}

/* Which layers each stage has, where it does not follow from their number. */
static void add_stages(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;
    int layers = x->job->shape.layers;

    if (!emit_stages_equal(x))
        add_chunks(x, out);
    else if (stage_split_is(&l->less, &stages_ends))
        str_add(out, "    --account-for-embedding-in-pipeline-split "
                     "--account-for-loss-in-pipeline-split\n");
    else if (stage_split_is(&l->less, &stages_even))
        return;
    else if (l->vpp > 1) /* the flags below would take layers from every chunk */
        add_chunks(x, out);
    else
        str_addf(out,
                 "    --decoder-first-pipeline-num-layers %d "
                 "--decoder-last-pipeline-num-layers %d\n",
                 layout_layers(l, layers, 0), layout_layers(l, layers, l->pp - 1));
}

static void add_pipeline(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;

    if (l->pp == 1)
        return;
    str_addf(out, "    --pipeline-model-parallel-size %d", l->pp);
    if (l->vpp > 1)
        str_addf(out, " --num-virtual-stages-per-pipeline-rank %d", l->vpp);
    if (l->vpp > 1 && !l->overlap_pp)
        str_add(out, " --no-overlap-p2p-communication");
    str_add_char(out, '\n');
    add_stages(x, out);
}

static void add_data_parallel(const struct layout *l, struct str *out)
{
    if (l->zero == 1)
        str_add(out, "    --use-distributed-optimizer\n");
    if (l->zero >= 2)
        str_addf(out,
                 "    --use-megatron-fsdp --data-parallel-sharding-strategy %s "
                 "--use-distributed-optimizer\n"
                 "    --ckpt-format fsdp_dtensor --no-gradient-accumulation-fusion\n",
                 l->zero == 2 ? "optim_grads" : "optim_grads_params");
    if (l->shard > 0)
        str_addf(out, "    --num-distributed-optimizer-instances %d\n", l->dp * l->cp / l->shard);
    if (l->overlap_dp)
        str_addf(out, "    --overlap-grad-reduce%s\n",
                 l->zero > 0 ? " --overlap-param-gather" : "");
}

/* What is computed again, and what lies elsewhere. */
static void add_memory(const struct emit *x, struct str *out)
{
    const struct shape *s = &x->job->shape;
    const struct layout *l = x->l;
    bool experts = s->experts > 0;

    if (l->recompute == RECOMPUTE_SELECTIVE)
        str_add(out, "    --recompute-granularity selective\n");
    if (l->recompute == RECOMPUTE_NORMS)
        str_addf(out, "    --recompute-granularity selective --recompute-modules layernorm%s\n",
                 experts ? " moe_act" : "");
    if (l->recompute == RECOMPUTE_MLP)
        str_addf(out, "    --recompute-granularity selective --recompute-modules %s\n",
                 !experts                                    ? "mlp"
                 : s->dense_first > 0 || s->expert_every > 1 ? "mlp moe"
                                                             : "moe");
    if (l->overlap_ep)
        str_add(out, "    --overlap-moe-expert-parallel-comm\n");
    if (l->offload)
        str_add(out, "    --optimizer-cpu-offload --use-precision-aware-optimizer\n");
    if (l->recompute == RECOMPUTE_FULL)
        str_add(out, "    --recompute-granularity full --recompute-method uniform "
                     "--recompute-num-layers 1\n");
}

static void add_layout(const struct emit *x, struct str *out)
{
    static const char *const exchanges[] = {
        [CONTEXT_RING] = "p2p", [CONTEXT_ULYSSES] = "a2a", [CONTEXT_GATHER] = "all_gather"
    };
    const struct layout *l = x->l;

    str_addf(out, "    --tensor-model-parallel-size %d%s%s\n", l->tp,
             l->seq_parallel ? " --sequence-parallel" : "",
             l->overlap_tp ? " --tp-comm-overlap" : "");
    add_pipeline(x, out);
    if (l->cp > 1)
        str_addf(out, "    --context-parallel-size %d --cp-comm-type %s\n", l->cp,
                 exchanges[l->context]);
    if (x->job->shape.experts)
        str_addf(out, "    --expert-model-parallel-size %d --expert-tensor-parallel-size %d\n",
                 l->ep, l->etp);
    add_data_parallel(l, out);
    if (x->job->moment_b == 2)
        str_add(out, "    --use-precision-aware-optimizer --exp-avg-dtype bf16 "
                     "--exp-avg-sq-dtype bf16\n");
    str_addf(out, "    --micro-batch-size %d --global-batch-size %d\n", l->micro_batch,
             x->job->global_batch);
    add_memory(x, out);
}

static void add_compute(const struct plan_job *job, struct str *out)
{
    static const char *const precisions[PLAN_PRECISIONS] = {
        [PLAN_FP16] = "--fp16",
        [PLAN_BF16] = "--bf16",
        [PLAN_FP8] = "--bf16 --fp8-format hybrid --fp8-recipe tensorwise",
        [PLAN_FP8_BLOCKS] = "--bf16 --fp8-format e4m3 --fp8-recipe blockwise",
        [PLAN_MXFP8] = "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8",
        [PLAN_NVFP4] = "--bf16 --fp4-format e2m1 --fp4-recipe nvfp4",
    };

    str_addf(out, "    %s", precisions[job->precision]);
    if (job->precision != PLAN_FP16)
        str_add(out, job->gradient_b == 2 ? " --grad-reduce-in-bf16"
                                          : " --accumulate-allreduce-grads-in-fp32");
    else if (job->gradient_b == 4)
        str_add(out, " --accumulate-allreduce-grads-in-fp32");
    str_addf(out, "\n    --attention-backend %s%s%s\n",
             job->attention == ATTENTION_PLAIN ? "unfused" : "auto",
             job->graphs ? " --cuda-graph-impl local" : "",
             job->fused_loss ? " --cross-entropy-loss-fusion --cross-entropy-fusion-impl te" : "");
    if (!job->fused)
        str_add(out, "    --no-bias-gelu-fusion --no-bias-swiglu-fusion --no-bias-dropout-fusion "
                     "--no-rope-fusion\n    --no-masked-softmax-fusion --no-persist-layer-norm\n");
}

static void add_setup(const struct emit *x, struct str *out)
{
    /* It asserts this where tensor or context parallelism runs without FSDP. */
    if (x->l->zero < 2)
        str_add(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    str_add(out, "ARGS=(\n");
    add_shape(x, out);
    add_layout(x, out);
    add_compute(x->job, out);
    str_add(out, ")\n# Not known here: activations other than SwiGLU and GELU, rotary bases, "
                 "epsilons. Add yours\n# behind the script's name, and your data and steps in "
                 "DATA in place of these.\n");
    str_addf(out,
             "DATA=${DATA:---mock-data --tokenizer-type NullTokenizer --vocab-size %d "
             "--train-iters 100 --lr 1e-4 --log-interval 10 --log-throughput}\n",
             x->job->shape.vocab - 1);
}

static void add_command(const struct emit *x, struct str *out)
{
    (void)x;
    str_addf(out, "%s \"${ARGS[@]}\" $DATA", program);
}

const struct emit_ops emit_megatron = {
    .name = "megatron",
    .version = "Megatron-LM core_v0.15",
    .engine = ENGINE_MEGATRON,
    .modules = true,
    .overlap_ep = true,
    .offload = true,
    .moments = true,
    .check = check,
    .add_setup = add_setup,
    .add_command = add_command,
};
