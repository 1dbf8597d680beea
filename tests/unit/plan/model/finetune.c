#include "plan/model/finetune_memory.h"

#include <math.h>

#include "plan/cluster/constants.h"
#include "plan/model/step.h"
#include "tap.h"

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want);
}

static struct plan_job llama2(const char *words)
{
    struct plan_job job = { .shape = { .layers = 32,
                                       .hidden = 4096,
                                       .heads = 32,
                                       .kv_heads = 32,
                                       .head_dim = 128,
                                       .ffn = 11008,
                                       .vocab = 32000,
                                       .gated = true },
                            .seq = 1304,
                            .global_batch = 128,
                            .precision = PLAN_BF16,
                            .attention = ATTENTION_FLASH,
                            .gradient_b = 4,
                            .fused = true,
                            .imbalance = 1 };

    ok(finetune_read(&job.tune, words, NULL) == 0, "'%s' is read", words);
    return job;
}

static struct layout one(enum recompute recompute)
{
    return (struct layout){ .tp = 1,
                            .pp = 1,
                            .vpp = 1,
                            .cp = 1,
                            .ep = 1,
                            .etp = 1,
                            .dp = 1,
                            .micro_batch = 1,
                            .recompute = recompute };
}

static struct memory make(const struct plan_job *job, const struct layout *l)
{
    struct layer_bytes b;
    struct memory m;

    layer_bytes(job, l, &b);
    memory_make(job, l, &b, &m);
    return m;
}

/* LitGPT, tutorials/resource-tables.md: 13.84 GB with double quantization, 14.14 without, 21.30 in
 * 16 bits; the first two differ by what the second quantization saves. */
static void test_weights(void)
{
    const double layers = 32 * (4. * 4096 * 4096 + 3. * 4096 * 11008), head = 32000. * 4096;
    const double norms = 65 * 4096, adapters = 4194304;
    struct plan_job wide = llama2("lora,rank=8,modules=q+v,program=litgpt");
    struct plan_job nf4 = llama2("lora,rank=8,modules=q+v,program=litgpt,weights=nf4");
    struct plan_job dq = llama2("lora,rank=8,modules=q+v,program=litgpt,weights=nf4-dq");
    struct plan_job peft = llama2("qlora,rank=8,modules=q+v");
    struct layout l = one(RECOMPUTE_NONE);
    struct memory m = make(&wide, &l);

    ok(near(m.weights, 2 * (layers + 2 * head + norms) + 2 * adapters),
       "frozen weights and adapters have 16 bits in LitGPT");
    ok(near(m.gradients, 2 * adapters) && near(m.states, 4 * adapters),
       "only adapters have gradients and moments");
    m = make(&nf4, &l);
    ok(near(m.weights, .5625 * (layers + head) + 2 * (head + norms) + 2 * adapters),
       "LitGPT's head has 4 bits, its embedding 16");
    ok(near(m.gathered, 2 * head), "the largest matrix is unpacked to 16 bits");
    ok(near(m.weights - make(&dq, &l).weights,
            (4. / 64 - 1. / 64 - 4. / 64 / 256) * (layers + head)),
       "double quantization saves three bytes of four for each 64 weights");
    wide.shape.tied = nf4.shape.tied = true;
    ok(near(make(&wide, &l).weights, 2 * (layers + 2 * head + norms) + 2 * adapters) &&
           near(make(&nf4, &l).weights,
                .5625 * (layers + head) + 2 * (head + norms) + 2 * adapters),
       "LitGPT's head is a matrix of its own where the model's is its embedding");
    m = make(&peft, &l);
    ok(near(m.weights,
            (.5 + 1. / 64 + 4. / 64 / 256) * layers + 4 * (2 * head + norms) + 4 * adapters),
       "PEFT makes embedding, head and norms 32 bits wide beside 4");
    ok(near(m.gradients, 4 * adapters) && near(m.states, 8 * adapters),
       "PEFT's adapters have 32 bits");
    ok(m.context > make(&nf4, &l).context, "libraries of Transformers take memory too");
}

static void test_optimizers(void)
{
    struct plan_job adamw = llama2("lora"), eight = llama2("lora,optimizer=adamw8bit");
    struct plan_job paged = llama2("lora,optimizer=paged8bit"), sgd = llama2("lora,optimizer=sgd");
    struct plan_job ds = llama2("lora,program=deepspeed");
    struct layout l = one(RECOMPUTE_NONE), offload = l;
    double n = finetune_trained(&adamw, 0);

    offload.offload = true;
    ok(near(make(&eight, &l).states, 2 * (1 + 4. / 256) * n), "moments of 8 bits are a quarter");
    ok(make(&paged, &l).states == 0 && make(&sgd, &l).states == 0 &&
           make(&adamw, &offload).states == 0,
       "paged, absent and offloaded moments take nothing of the GPU");
    ok(near(make(&ds, &l).gradients, 2 * n) && near(make(&ds, &l).states, 12 * n),
       "DeepSpeed has gradients of 16 bits and weights of 32 beside both moments");
}

static void test_activations(void)
{
    struct plan_job job = llama2("lora,rank=8,modules=q+v,dropout=0,program=litgpt");
    struct plan_job frozen = llama2("lora,rank=8,modules=q+v,dropout=0,program=litgpt,frozen=8");
    struct layout none = one(RECOMPUTE_NONE), full = one(RECOMPUTE_FULL);
    /* Two norms of 6 h; queries, keys, values, outcome and LitGPT's view: 12 h; the sums; gate, up
     * and product; the adapters' input. */
    const double layer = 1304. * (2 * 6 * 4096 + 12 * 4096 + 4 * 32 + 6 * 11008 + 2 * 4096);
    struct memory m = make(&job, &none);

    ok(near(m.activations, 32 * layer), "inputs of frozen matrices are not kept");
    ok(near(m.logits, 12. * 1304 * 32000), "logits of LitGPT take 12 bytes each");
    ok(near(make(&frozen, &none).activations, 24 * layer), "nothing is kept of frozen layers");
    m = make(&job, &full);
    ok(near(m.activations, 32 * 2 * 1304. * 4096 + layer),
       "checkpointing keeps the input of each layer, and one layer at work");
}

static void test_zero(void)
{
    struct plan_job job = llama2("lora");
    struct layout l = one(RECOMPUTE_NONE);
    struct memory whole = make(&job, &l), m;

    l.dp = 4;
    l.zero = 3;
    m = make(&job, &l);
    ok(near(m.weights, whole.weights / 4) && near(m.states, whole.states / 4) && m.gathered > 0,
       "ZeRO-3 divides frozen weights and adapters");
    job.tune.program = FINETUNE_DEEPSPEED;
    ok(near(make(&job, &l).gathered - m.gathered, 4e9),
       "DeepSpeed's ZeRO-3 has live weights and buckets of its own");
}

static void test_full(void)
{
    struct plan_job plain = llama2("full"), all = plain, eight = llama2("full,optimizer=adamw8bit");
    struct plan_job frozen = llama2("full,frozen=16");
    struct layout l = one(RECOMPUTE_NONE);
    struct memory m = make(&plain, &l), want;
    const double total = shape_count(&plain.shape).total;

    all.tune.kind = FINETUNE_NONE;
    want = make(&all, &l);
    ok(near(m.total, want.total), "training all weights with AdamW is what it is without words");
    ok(near(make(&eight, &l).states, 2 * (1 + 4. / 256) * total), "8 bits need no master weights");
    m = make(&frozen, &l);
    ok(near(m.gradients / 4, m.states / 12) && m.gradients < want.gradients / 1.9 &&
           near(m.weights, want.weights),
       "frozen layers have weights, and neither gradients nor states");
}

static void test_layouts(void)
{
    const struct cluster c = { .nodes = 1, .per_node = 8 };
    struct plan_job job = llama2("lora");
    struct layout l = one(RECOMPUTE_NONE);
    struct err e;

    ok(layout_check(&l, &job, &c, &e) == 0, "a whole model on one GPU is possible");
    l.recompute = RECOMPUTE_SELECTIVE;
    ok(layout_check(&l, &job, &c, &e) < 0, "adapters know two levels of recompute");
    l = one(RECOMPUTE_FULL);
    l.tp = 2;
    ok(layout_check(&l, &job, &c, &e) < 0, "tensor parallelism with adapters is refused");
}

/* Round figures, so that times follow from counts. */
static struct cluster round_cluster(void)
{
    struct cluster c = {
        .nodes = 1, .per_node = 1, .domain = 1, .nics = 1, .nic_rate = 1e9, .oversubscribed = 1
    };
    struct gpu *g = &c.gpu;

    for (int p = 0; p < PLAN_PRECISIONS; p++) {
        g->flops[p] = p <= PLAN_BF16 ? 300e12 : (double)NAN;
        g->gemm_best[p] = g->gemm_sustained[p] = 1;
        g->gemm_k0[p] = 128;
    }
    g->sms = 100;
    g->memory_b = 80e9;
    g->memory_rate = 2e12;
    g->memory_best = g->link_best = 1;
    g->gemm_t0_s = 1e-6;
    g->domain = 1;
    gpu_assume(g);
    return c;
}

static void test_time(void)
{
    const struct cluster c = round_cluster();
    struct plan_job all = llama2("full"), lora = llama2("lora"), qlora = llama2("qlora");
    struct layout l = one(RECOMPUTE_NONE);
    struct plan_tables t;
    struct plan_step a, b, q;

    all.tune.kind = FINETUNE_NONE;
    plan_tables_make(&all, &c, &l, &t);
    plan_step_make(&all, &c, &l, &t, &a);
    plan_tables_make(&lora, &c, &l, &t);
    plan_step_make(&lora, &c, &l, &t, &b);
    plan_tables_make(&qlora, &c, &l, &t);
    plan_step_make(&qlora, &c, &l, &t, &q);
    ok(b.part[PART_GEMM] < .7 * a.part[PART_GEMM] && b.part[PART_GEMM] > .6 * a.part[PART_GEMM],
       "frozen weights need two products of three");
    ok(b.part[PART_OPTIMIZER] < .1 * a.part[PART_OPTIMIZER], "few weights are stepped");
    ok(q.time_s > b.time_s, "weights of 4 bits have to be unpacked");
}

int main(void)
{
    test_weights();
    test_optimizers();
    test_activations();
    test_zero();
    test_full();
    test_layouts();
    test_time();
    return done();
}
