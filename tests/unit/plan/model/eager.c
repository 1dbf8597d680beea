#include "plan/model/eager.h"

#include "plan/model/layer.h"
#include "plan/model/memory.h"
#include "tap.h"

static struct plan_job llama(void)
{
    return (struct plan_job){ .shape = { .layers = 1,
                                         .hidden = 4096,
                                         .heads = 32,
                                         .kv_heads = 8,
                                         .head_dim = 128,
                                         .ffn = 14336,
                                         .vocab = 128256,
                                         .gated = true },
                              .seq = 8192,
                              .global_batch = 1,
                              .precision = PLAN_BF16,
                              .attention = ATTENTION_SECOND,
                              .engine = ENGINE_TORCH,
                              .gradient_b = 2,
                              .imbalance = 1 };
}

static void test_bytes(void)
{
    struct eager_bytes norm = eager_norm(), rotary = eager_rotary();

    ok(norm.forward == 6 + 8 + 4 + 8 + 6 + 4, "RMSNorm reads and writes 36 bytes of a number");
    ok(norm.backward == 4 + 6 + 2 + 6 + 8 + 12 + 4 + 8 + 8 + 12 + 6,
       "RMSNorm's backward pass reads and writes 76 bytes of a number");
    ok(rotary.forward == 6 + 8 + 6 && rotary.backward == rotary.forward,
       "rotary positions read and write 20 bytes of a number, both ways");
}

static void test_who(void)
{
    struct plan_job job = llama();

    ok(eager_is(&job), "PyTorch without a compiler runs Llama's norms one kernel after the other");
    job.fused = true;
    ok(!eager_is(&job), "torch.compile fuses the norms");
    job.fused = false;
    job.engine = ENGINE_MEGATRON;
    ok(!eager_is(&job), "Megatron-LM has kernels for norms");
    job.engine = ENGINE_TORCH;
    job.shape.norm_biases = true;
    ok(!eager_is(&job), "LayerNorm is a single kernel");
    job.shape.norm_biases = false;
    job.shape.gated = false;
    ok(!eager_is(&job), "models without gates are not of Llama's kind");
}

/* What a layer takes beside the kernels of Megatron-LM: two norms of 8192 x 4096 numbers, and 40
 * heads of 128 to turn. */
static void test_layer(void)
{
    const struct layout l = {
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .dp = 1, .micro_batch = 1
    };
    struct cluster c = { .nodes = 1, .per_node = 1, .domain = 1 };
    struct plan_job job = llama(), other = job;
    double rows = 8192. * 4096, turned = 8192. * 40 * 128, more, want;
    struct layer_costs a, b;

    c.gpu.flops[PLAN_BF16] = 1e15;
    c.gpu.memory_rate = 1e12;
    c.gpu.memory_best = c.gpu.gemm_best[PLAN_BF16] = c.gpu.gemm_sustained[PLAN_BF16] = 1;
    c.gpu.attention_best = c.gpu.attention_back = 1;
    c.gpu.attention_half = 1;
    other.engine = ENGINE_MEGATRON;
    layer_costs(&job, &c, &l, &a);
    layer_costs(&other, &c, &l, &b);
    more = a.dense.part[PART_TRAFFIC] - b.dense.part[PART_TRAFFIC];
    want = (rows * 2 * (36 - 4 + 76 - 6) + turned * (20 - 4) * 2) / 1e12;
    ok(more > want * (1 - 1e-9) && more < want * (1 + 1e-9),
       "a layer of PyTorch's own code makes 204 bytes more of traffic a number");
    ok(memory_layer(&job, &l, false, RECOMPUTE_NONE) -
               memory_layer(&other, &l, false, RECOMPUTE_NONE) ==
           2 * 6 * rows,
       "both norms keep 6 bytes more of a number");
    ok(memory_layer(&job, &l, false, RECOMPUTE_FULL) ==
           memory_layer(&other, &l, false, RECOMPUTE_FULL),
       "a layer that is recomputed keeps no more");
}

int main(void)
{
    test_bytes();
    test_who();
    test_layer();
    return done();
}
