#include <errno.h>
#include <math.h>

#include "plan/model/memory.h"
#include "tap.h"

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want);
}

/* GPT-3 175B as Korthikanti et al. (arXiv 2205.05198) count it. */
static struct plan_job gpt3(void)
{
    return (struct plan_job){ .shape = { .layers = 96,
                                         .hidden = 12288,
                                         .heads = 96,
                                         .kv_heads = 96,
                                         .head_dim = 128,
                                         .ffn = 49152,
                                         .vocab = 51200,
                                         .tied = true,
                                         .dropout = true },
                              .seq = 2048,
                              .global_batch = 64,
                              .attention = ATTENTION_PLAIN,
                              .precision = PLAN_BF16,
                              .gradient_b = 4,
                              .imbalance = 1 };
}

static struct layout one(void)
{
    return (struct layout){
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .dp = 1, .micro_batch = 1
    };
}

/* Table 2 of the paper, bytes of a layer; s b h = 2048 x b x 12288, 5 a s / h = 80. */
static void test_korthikanti(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    double sbh = 2048.0 * 4 * 12288;

    l.micro_batch = 4;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), sbh * (34 + 80)),
       "a layer keeps sbh (34 + 80) without parallelism");
    l.tp = 8;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), sbh * (10 + 24 / 8. + 80 / 8.)),
       "tensor parallelism divides a part of a layer");
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_SELECTIVE), sbh * (10 + 24 / 8.)),
       "selective recompute drops the scores of tensor parallelism");
    l.seq_parallel = true;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), sbh / 8 * (34 + 80)),
       "sequence parallelism divides all of a layer");
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_SELECTIVE), sbh / 8 * 34),
       "sequence parallelism and selective recompute keep 34 sbh / t");
    l.seq_parallel = false;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_FULL), 2 * sbh), "full recompute keeps 2 sbh");
    l.cp = 2;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_FULL), sbh),
       "context parallelism of 2 halves what full recompute keeps");
}

static void test_variants(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    double sb = 2048, h = 12288;

    job.shape.dropout = false;
    job.attention = ATTENTION_FLASH;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), sb * (32 * h + 4 * 96)),
       "flash attention keeps the sums of 96 heads for the scores");
    job.again = 0.5;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_SELECTIVE), sb * (32 * h + 4 * 96) / 2),
       "half of the forward pass again keeps half");
    job.again = 0;
    job.shape.kv_heads = 8; /* 16 kv d + ... : keys and values of 8 heads, not of 96 */
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE),
            sb * (32 * h + 4 * 96 - 4 * (96 - 8) * 128)),
       "grouped queries keep fewer keys and values");
    job.shape.kv_heads = 96;
    job.shape.gated = true;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), sb * (16 * h + 6 * 49152 + 4 * 96)),
       "SwiGLU keeps gate, up and their product");
}

static void test_in_flight(void)
{
    struct layout l = one();

    ok(memory_in_flight(&l, 16, 0) == 1, "one micro-batch is in flight without a pipeline");
    l.pp = 8;
    ok(memory_in_flight(&l, 16, 0) == 8,
       "p micro-batches of 1F1B are in flight on the first stage");
    ok(memory_in_flight(&l, 16, 5) == 3, "p - i micro-batches of 1F1B are in flight on stage i");
    ok(memory_in_flight(&l, 4, 0) == 4, "no more micro-batches are in flight than there are");
    l.vpp = 3;
    ok(near(memory_in_flight(&l, 16, 0), 8 * (1 + 7 / 24.)),
       "interleaving keeps p (1 + (p-1)/(p v)) in flight");
    l.vpp = 1;
    l.schedule = SCHEDULE_GPIPE;
    ok(memory_in_flight(&l, 16, 3) == 16, "GPipe keeps all micro-batches in flight");
}

static struct memory make(const struct plan_job *job, const struct layout *l)
{
    struct layer_bytes b;
    struct memory m;

    layer_bytes(job, l, &b);
    memory_make(job, l, &b, &m);
    return m;
}

static void test_equal_stages(void)
{
    const struct plan_job job = gpt3();
    const struct layer_bytes nothing = { .work = 0 };
    struct layout l = one();
    struct memory m;

    l.pp = 8;
    memory_make(&job, &l, &nothing, &m);
    is_int(m.stage, 0, "of stages that need equally much, the first is told");
}

static void test_states(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    const struct shape_params p = shape_count(&job.shape);
    double n = p.total;
    struct memory m;

    l.dp = 64;
    m = make(&job, &l);
    ok(near(m.weights, 2 * n) && near(m.gradients, 4 * n) && near(m.states, 12 * n),
       "ZeRO 0 keeps 2 + 4 + 12 bytes a parameter");
    l.zero = 1;
    ok(near(make(&job, &l).states, 12 * n / 64), "ZeRO 1 divides states over 64 replicas");
    job.moment_b = 2;
    ok(near(make(&job, &l).states, 8 * n / 64), "moments of 16 bits leave 8 bytes of states");
    job.moment_b = 0;
    job.precision = PLAN_FP16;
    ok(near(make(&job, &l).states, 16 * n / 64),
       "fp16 has gradients in 32 bits beside the states of Megatron-LM");
    job.engine = ENGINE_DEEPSPEED;
    ok(near(make(&job, &l).states, 12 * n / 64), "fp16 has 12 bytes of states with DeepSpeed");
    job.engine = ENGINE_MEGATRON;
    job.precision = PLAN_BF16;
    l.zero = 2;
    m = make(&job, &l);
    ok(near(m.gradients, 4 * n / 64), "ZeRO 2 divides gradients too");
    ok(near(m.gathered, 4 * (p.attention + p.norms + p.mlp)),
       "ZeRO 2 has the gradients of one block whole");
    l.zero = 3;
    m = make(&job, &l);
    ok(near(m.weights, 2 * n / 64) && m.gathered > 0,
       "ZeRO 3 divides weights too and gathers some");
    l.shard = 8;
    ok(near(make(&job, &l).weights, 2 * n / 8), "HSDP divides weights over its group only");
    job.engine = ENGINE_DEEPSPEED;
    l.shard = 0;
    l.zero = 1;
    m = make(&job, &l);
    ok(near(m.gradients, 6 * n) && near(m.gathered, 2 * 2 * 5e8),
       "DeepSpeed keeps gradients of 16 bits beside their sums, and two buckets");
    l.dp = 1;
    ok(make(&job, &l).gathered == 0, "DeepSpeed gathers nothing without replicas");
}

/* FSDP in a pipeline: 175B on 8 stages have 12 layers of 12 h^2 parameters and two norms of h each,
 * of which a GPU has all, and an eighth of the states. */
static void test_pipeline_keeps(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    double h = 12288, block = 12 * h * h + 2 * h, n = 12 * block;
    struct layer_bytes b;
    struct memory m;

    l.pp = 8;
    l.dp = 8;
    l.zero = 3;
    layer_bytes(&job, &l, &b);
    memory_stage(&job, &l, &b, 1, &m);
    ok(near(m.weights, 2 * n) && near(m.gradients, 4 * n),
       "ZeRO 3 keeps all weights and gradients of a stage of a pipeline");
    ok(near(m.states, 12 * n / 8), "ZeRO 3 divides the states of a stage of a pipeline");
    ok(near(m.gathered, 4 * block), "ZeRO 3 has room for a block that arrives in a pipeline");
    l.zero = 2;
    memory_stage(&job, &l, &b, 1, &m);
    ok(near(m.gradients, 4 * n), "ZeRO 2 keeps gradients that micro-batches of a pipeline add to");
    job.global_batch = 8;
    memory_stage(&job, &l, &b, 1, &m);
    ok(near(m.gradients, 4 * n / 8),
       "ZeRO 2 divides the gradients of a pipeline's only micro-batch");
    job.engine = ENGINE_TORCH;
    memory_stage(&job, &l, &b, 1, &m);
    ok(near(m.gradients, 4 * n), "PyTorch's ZeRO 2 keeps all gradients of a stage of a pipeline");
    l.pp = 1;
    l.dp = 64;
    l.zero = 3;
    layer_bytes(&job, &l, &b);
    memory_stage(&job, &l, &b, 0, &m);
    ok(near(m.weights, 2 * shape_count(&job.shape).total / 64),
       "ZeRO 3 divides the weights where no pipeline is");
}

static void test_experts(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    struct shape_params p;
    struct layer_bytes b;
    double own;

    job.shape.experts = 16;
    job.shape.active = 2;
    job.shape.expert_ffn = 4096;
    p = shape_count(&job.shape);
    l.dp = 8;
    l.ep = 4;
    layer_bytes(&job, &l, &b);
    (void)memory_stage_params(&job, &l, &b, 0, &own);
    ok(near(own, 96 * p.expert * 4), "ep 4 of 16 experts puts 4 on a GPU");
    l.zero = 1;
    ok(near(make(&job, &l).states,
            12 * ((p.total - 96 * 16 * p.expert) / 8 + 96 * 4 * p.expert / 2)),
       "states of experts are divided over the 2 that hold them");
}

static void test_uneven(void)
{
    struct layout l = one();

    l.pp = 16;
    l.less = stages_ends;
    is_int(layout_layers(&l, 126, 0), 7, "126 layers on 16 stages with ends put 7 on the first");
    is_int(layout_layers(&l, 126, 7), 8, "126 layers on 16 stages with ends put 8 between");
    is_int(layout_layers(&l, 126, 15), 7, "126 layers on 16 stages with ends put 7 on the last");
    l.pp = 4;
    l.less = stages_even;
    is_int(layout_layers(&l, 10, 1), 3, "10 layers on 4 stages put 3 on the second");
    is_int(layout_layers(&l, 10, 3), 2, "10 layers on 4 stages put 2 on the last");
    l.pp = 16;
    l.less = (struct stage_split){ 1, 2 };
    ok(layout_layers(&l, 61, 0) == 3 && layout_layers(&l, 61, 8) == 4 &&
           layout_layers(&l, 61, 15) == 2,
       "61 layers on 16 stages less 1 and 2 put 3 on the first, 4 between and 2 on the last");
    l.vpp = 2;
    ok(layout_chunk_layers(&l, 61, 0) == 1 && layout_chunk_layers(&l, 61, 16) == 2 &&
           layout_chunk_layers(&l, 61, 31) == 0,
       "the first chunk and the last have the layers fewer that their stages have");
}

static void refused(const struct layout *l, const struct plan_job *job, const char *why)
{
    const struct cluster c = { .nodes = 16, .per_node = 8 };
    struct err e = { .text = "" };

    is_int(layout_check(l, job, &c, &e), -EINVAL, "layout_check refuses: %s", why);
    is_str(e.text, why, "layout_check says: %s", why);
}

static void test_check(void)
{
    const struct cluster c = { .nodes = 16, .per_node = 8 };
    struct plan_job job = gpt3();
    struct layout l = one();

    l.tp = 8;
    l.pp = 8;
    l.vpp = 3;
    l.dp = 2;
    is_int(layout_check(&l, &job, &c, NULL), 0,
           "layout_check takes a layout that Megatron would run");
    l.tp = 5;
    refused(&l, &job, "96 heads do not divide by tp 5");
    l.tp = 8;
    l.dp = 4;
    refused(&l, &job, "tp 8 x pp 8 x cp 1 x dp 4 is more than the 128 GPUs");
    l.dp = 2;
    l.micro_batch = 3;
    refused(&l, &job, "batch 64 does not divide by dp 2 x micro-batch 3");
    l.micro_batch = 8;
    refused(&l, &job, "4 micro-batches do not divide by pp 8, as vpp needs");
    l.micro_batch = 1;
    l.ep = 2;
    refused(&l, &job, "ep 2, but the model has no experts");
    l.ep = 1;
    l.shard = 3;
    refused(&l, &job, "dp x cp 2 does not divide by groups of 3 that share states");
}

/* Inputs of products of 8 bits: Transformer Engine keeps them as such, PyTorch's does not. */
static void test_narrow(void)
{
    struct plan_job job = gpt3();
    struct layout l = one();
    double wide = memory_layer(&job, &l, false, RECOMPUTE_NONE), narrow, inputs;

    job.precision = PLAN_FP8;
    narrow = memory_layer(&job, &l, false, RECOMPUTE_NONE);
    inputs = (double)job.seq * (2 * job.shape.hidden + job.shape.hidden + job.shape.ffn);
    ok(near(wide - narrow, inputs), "8 bits keep a byte less of each input of a product");
    job.engine = ENGINE_TORCH;
    ok(near(memory_layer(&job, &l, false, RECOMPUTE_NONE), wide),
       "torchao keeps inputs of 16 bits");
}

static void test_grows(void)
{
    struct plan_job job = gpt3();
    bool grows = true;

    job.global_batch = 1 << 20;
    for (int tp = 1; tp <= 8; tp *= 2)
        for (int pp = 1; pp <= 8; pp++)
            for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++)
                for (int zero = 0; zero <= 3; zero++) {
                    double last = 0;

                    for (int b = 1; b <= 64; b *= 2) {
                        struct layout l = one();
                        struct memory m;

                        l.tp = tp;
                        l.pp = pp;
                        l.dp = 4;
                        l.micro_batch = b;
                        l.recompute = (enum recompute)r;
                        l.zero = zero;
                        m = make(&job, &l);
                        grows &= m.total >= last && isfinite(m.total);
                        last = m.total;
                    }
                }
    ok(grows, "memory never falls when the micro-batch grows");
}

int main(void)
{
    test_korthikanti();
    test_variants();
    test_in_flight();
    test_equal_stages();
    test_states();
    test_pipeline_keeps();
    test_experts();
    test_uneven();
    test_check();
    test_narrow();
    test_grows();
    return done();
}
