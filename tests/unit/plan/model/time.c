#include <math.h>
#include <string.h>

#include "plan/cluster/constants.h"
#include "plan/model/collective.h"
#include "plan/model/gemm.h"
#include "plan/model/step.h"
#include "tap.h"

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-6 * fabs(want);
}

/* Round figures, so that times can be computed by hand. */
static struct cluster round_cluster(void)
{
    struct cluster c = { .nodes = 64,
                         .per_node = 8,
                         .domain = 8,
                         .link_rate = 300e9,
                         .nics = 8,
                         .nic_rate = 25e9,
                         .nic_latency_s = 4e-6,
                         .link_latency_s = 2e-6,
                         .oversubscribed = 1 };
    struct gpu *g = &c.gpu;

    for (int p = 0; p < PLAN_PRECISIONS; p++) {
        g->flops[p] = p <= PLAN_BF16 ? 300e12 : (double)NAN;
        g->gemm_best[p] = 1;
        g->gemm_k0[p] = 128;
        g->gemm_sustained[p] = 1;
    }
    g->sms = 100;
    g->memory_b = 80e9;
    g->memory_rate = 2e12;
    g->memory_best = 1;
    g->gemm_t0_s = 1e-6;
    g->link_best = 1;
    g->link_few = 1e-9;
    g->link_fill_s = 1e-12;
    g->domain = 8;
    g->link_rate = 300e9;
    gpu_assume(g);
    return c;
}

static struct plan_job small_job(void)
{
    return (struct plan_job){ .shape = { .layers = 24,
                                         .hidden = 4096,
                                         .heads = 32,
                                         .kv_heads = 32,
                                         .head_dim = 128,
                                         .ffn = 16384,
                                         .vocab = 51200 },
                              .seq = 2048,
                              .global_batch = 512,
                              .precision = PLAN_BF16,
                              .attention = ATTENTION_FLASH,
                              .gradient_b = 4,
                              .imbalance = 1 };
}

static struct layout one(void)
{
    return (struct layout){
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .dp = 1, .micro_batch = 1
    };
}

/* Scales of 8 bits without figures of their own: those of rows leave 0.74 of the usual rates, those
 * of blocks what MXFP8 does, or the usual 8 bits without it. */
static void test_scales(void)
{
    struct gpu g = round_cluster().gpu;

    g.gemm_best[PLAN_FP8] = 0.6;
    g.gemm_sustained[PLAN_FP8] = 0.5;
    g.gemm_best[PLAN_MXFP8] = 0.7;
    g.gemm_sustained[PLAN_MXFP8] = 0.65;
    for (int p = PLAN_FP8_ROWS; p <= PLAN_FP8_BLOCKS; p++)
        g.gemm_best[p] = g.gemm_k0[p] = g.gemm_sustained[p] = (double)NAN;
    g.flops[PLAN_MXFP8] = (double)NAN;
    ok(gpu_assume(&g), "gpu_assume takes what scales of rows and blocks leave");
    ok(near(g.gemm_sustained[PLAN_FP8_ROWS], 0.37) && near(g.gemm_best[PLAN_FP8_ROWS], 0.444),
       "a scale for each row leaves 0.74 of the rates of 8 bits");
    ok(near(g.gemm_sustained[PLAN_FP8_BLOCKS], 0.5), "blocks have the rates of 8 bits");
    g.gemm_sustained[PLAN_FP8_BLOCKS] = (double)NAN;
    g.flops[PLAN_MXFP8] = 600e12;
    ok(gpu_assume(&g), "gpu_assume takes what blocks leave where there is MXFP8");
    ok(near(g.gemm_sustained[PLAN_FP8_BLOCKS], 0.65), "blocks have the rates of MXFP8 there");
}

/* 343 of 512 W leave seven eighths of the clock. */
static void test_limit(void)
{
    struct gpu g = round_cluster().gpu, full = g;

    g.tdp_w = full.tdp_w = 512;
    gpu_limit(&g, 343);
    ok(near(g.gemm_sustained[PLAN_BF16], 0.875 * full.gemm_sustained[PLAN_BF16]) &&
           near(g.attention_best, 0.875 * full.attention_best),
       "products and attention have what the cube root of a limit of power leaves");
    ok(near(g.gemm_best[PLAN_BF16], full.gemm_best[PLAN_BF16]) &&
           near(g.memory_best, full.memory_best),
       "tiles that take less power and memory keep their rate below a limit");
    g = full;
    gpu_limit(&g, 600);
    ok(near(g.attention_best, full.attention_best), "a limit above the GPU's own changes nothing");
}

static void test_gemm(void)
{
    struct cluster c = round_cluster();
    struct gemm x = { 2560, 1280, 1024, 1 }; /* 10 x 10 tiles of 256 x 128: one full wave */
    double full = 100. * 256 * 128 * 2 * (1024 + 128) / 300e12;

    ok(near(gemm_time(&c.gpu, PLAN_BF16, &x), 1e-6 + full),
       "a product takes a wave of the largest tiles");
    ok(near(gemm_time(&c.gpu, PLAN_FP8, &x), 1e-6 + full),
       "8 bits that a GPU lacks take as long as 16 bits");
    ok(near(gemm_time(&c.gpu, PLAN_FP8_ROWS, &x), 1e-6 + full),
       "8 bits with a scale for each row, which a GPU lacks, take as long as 16 bits");
    x = (struct gemm){ 256, 128, 64, 1000 };
    ok(gemm_time(&c.gpu, PLAN_BF16, &x) >=
           1e-6 + 1000. * 2 * (256 * 64 + 64 * 128 + 256 * 128) / 2e12,
       "a product is never faster than its memory");
    x = (struct gemm){ 2561, 1280, 1024, 1 };
    ok(gemm_time(&c.gpu, PLAN_BF16, &x) > 1e-6 + full, "a row more than a tile begins another");
    x = (struct gemm){ 2560, 1279, 1024, 1 };
    ok(gemm_time(&c.gpu, PLAN_BF16, &x) > 2 * full,
       "rows that do not start on 16 bytes take twice as long");
    x = (struct gemm){ 2048, 2048, 108, 24 };
    full = gemm_time(&c.gpu, PLAN_BF16, &x);
    x.k = 112;
    ok(full > 4 * gemm_time(&c.gpu, PLAN_BF16, &x), "heads of 108 in a batch cannot be padded");
}

static void test_collectives(void)
{
    struct cluster c = round_cluster();
    struct collective_group one_node = collective_group_make(&c, 8, 1),
                            across = collective_group_make(&c, 8, 8),
                            both = collective_group_make(&c, 64, 1);

    is_int(one_node.domains, 1, "8 GPUs beside each other lie in one domain");
    is_int(across.domains, 8, "8 GPUs, one of each node, lie in 8 domains");
    is_int(both.inside, 8, "64 GPUs beside each other have 8 in each domain");
    ok(near(all_reduce_time(&one_node, 8e9), 2 * 7 / 8. * 8e9 / 300e9 + 9 * 2e-6),
       "a ring on fast links moves 2 (n-1)/n of the bytes");
    ok(near(1 / across.byte_s, 25e9 * .85), "groups that share a node have a card for each GPU");
    ok(near(1 / both.byte_s, 200e9 * .85), "a group that has the node uses all cards");
    ok(all_reduce_time(&(struct collective_group){ .size = 1 }, 1e9) == 0,
       "a group of one GPU takes no time");
    ok(dispatch_time(&both, 1e9, 8, 8) < all_to_all_time(&both, 1e9),
       "a row goes to each node once");
    ok(dispatch_time(&both, 1e9, 8, 4) < dispatch_time(&both, 1e9, 8, 8) * 4.1 / 5.2,
       "a row that may go to 4 of 8 nodes leaves its own less often");
}

static struct plan_step make(const struct plan_job *job, const struct cluster *c,
                             const struct layout *l)
{
    struct plan_tables t;
    struct plan_step s;

    plan_tables_make(job, c, l, &t);
    plan_step_make(job, c, l, &t, &s);
    return s;
}

/* Attention that looks back less takes less, in the share of layers that do not look at all. */
static void test_windows(void)
{
    struct cluster c = round_cluster();
    struct layout l = one();
    double all, none, half, each;
    struct plan_job job = small_job();

    all = make(&job, &c, &l).time_s;
    job.shape.full_every = 2;
    ok(near(make(&job, &c, &l).time_s, all), "without a window all layers look at all");
    job.shape.window = 256;
    half = make(&job, &c, &l).time_s;
    job.shape.full_every = 1;
    each = make(&job, &c, &l).time_s;
    job.shape.full_every = 0;
    none = make(&job, &c, &l).time_s;
    ok(near(each, all), "where each layer looks at all, a window saves nothing");
    ok(none < all && near(half - none, (all - none) / 2), "of two layers one saves: %g, %g, %g",
       all, half, none);
}

static void test_pipeline(void)
{
    struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one();
    struct plan_step s;

    job.shape.vocab = 16; /* next to no head: all stages are alike */
    s = make(&job, &c, &l);
    ok(s.part[PART_BUBBLE] == 0 && s.part[PART_PP] == 0, "a step without a pipeline has no bubble");
    l.pp = 4;
    s = make(&job, &c, &l);
    {
        double work = s.time_s - s.part[PART_BUBBLE] - s.part[PART_OPTIMIZER] - s.part[PART_DP];

        ok(fabs(s.part[PART_BUBBLE] / work - 3 / 512.) < 3e-4,
           "a pipeline has a bubble of (p - 1) / m");
    }
    l.vpp = 3;
    ok(fabs(make(&job, &c, &l).part[PART_BUBBLE] / s.part[PART_BUBBLE] - 1 / 3.) < .02,
       "3 chunks leave a third of the bubble");
    l.vpp = 1;
    l.schedule = SCHEDULE_ZERO_BUBBLE;
    ok(make(&job, &c, &l).part[PART_BUBBLE] < s.part[PART_BUBBLE],
       "weights that are put off leave a smaller bubble");
}

/* With ZeRO-2 each of 8 micro-batches scatters gradients of 32 bits, with ZeRO-1 the last one; both
 * gather weights of 16 bits once. */
static void test_scatter(void)
{
    struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one();
    double once, each, hidden;

    l.dp = 64;
    l.zero = 1;
    once = make(&job, &c, &l).part[PART_DP];
    l.zero = 2;
    each = make(&job, &c, &l).part[PART_DP];
    ok(fabs(each / once - (8 * 4 + 2) / 6.) < .1, "ZeRO-2 scatters with every micro-batch");
    l.overlap_dp = true;
    hidden = make(&job, &c, &l).part[PART_DP];
    ok(hidden < each / 2, "the backward pass hides most of what ZeRO-2 scatters");
    l.micro_batch = 8;
    each = make(&job, &c, &l).part[PART_DP];
    l.zero = 1;
    ok(near(make(&job, &c, &l).part[PART_DP], each),
       "ZeRO-2 is ZeRO-1 in time with one micro-batch");
}

/* Every legal layout of a small set: fn(layout). */
static void each(const struct plan_job *job, const struct cluster *c,
                 void (*fn)(const struct plan_job *, const struct cluster *, const struct layout *,
                            bool *),
                 bool *good)
{
    for (int tp = 1; tp <= 16; tp *= 2)
        for (int pp = 1; pp <= 8; pp *= 2)
            for (int cp = 1; cp <= 2; cp++)
                for (int zero = 0; zero <= 3; zero++)
                    for (int bits = 0; bits < 24; bits++) {
                        struct layout l = one();

                        l.tp = tp;
                        l.pp = pp;
                        l.cp = cp;
                        l.dp = 128 / (tp * pp * cp);
                        l.zero = zero;
                        l.recompute = (enum recompute)(bits % 3);
                        l.seq_parallel = bits & 8;
                        l.overlap_dp = bits & 4;
                        l.context = bits & 16 ? CONTEXT_ULYSSES : CONTEXT_RING;
                        if (layout_check(&l, job, c, NULL) == 0)
                            fn(job, c, &l, good);
                    }
}

static void check_parts(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                        bool *good)
{
    struct plan_step s = make(job, c, l);
    double sum = 0;

    for (int p = 0; p < PARTS; p++) {
        sum += s.part[p];
        *good &= s.part[p] > -1e-9 && isfinite(s.part[p]);
    }
    *good &= near(sum, s.time_s) && s.mfu > 0 && s.mfu < 1;
}

static void check_faster(const struct plan_job *job, const struct cluster *c,
                         const struct layout *l, bool *good)
{
    double before = make(job, c, l).time_s * (1 + 1e-9);
    struct cluster more = *c;

    more.link_rate *= 2;
    *good &= make(job, &more, l).time_s <= before;
    more.nic_rate *= 2;
    *good &= make(job, &more, l).time_s <= before;
    more.gpu.memory_rate *= 2;
    *good &= make(job, &more, l).time_s <= before;
    for (int p = 0; p < PLAN_PRECISIONS; p++)
        more.gpu.flops[p] *= 2;
    *good &= make(job, &more, l).time_s <= before;
    more.gpu.launch_s /= 2;
    more.nic_latency_s = more.link_latency_s = 0;
    *good &= make(job, &more, l).time_s <= before;
}

static void check_recompute(const struct plan_job *job, const struct cluster *c,
                            const struct layout *l, bool *good)
{
    struct layout again = *l;

    again.recompute = RECOMPUTE_FULL;
    *good &= make(job, c, l).time_s <= make(job, c, &again).time_s * (1 + 1e-9);
}

static struct memory memory_of(const struct plan_job *job, const struct cluster *c,
                               const struct layout *l)
{
    struct plan_tables t;
    struct memory m;

    plan_tables_make(job, c, l, &t);
    memory_make(job, l, &t.bytes, &m);
    return m;
}

/* What DeepSpeed does otherwise. */
static void test_engines(void)
{
    const struct cluster c = round_cluster();
    struct plan_job job = small_job(), deep = job;
    struct layout l = one();
    struct plan_step a, b;
    struct plan_tables t;

    deep.engine = ENGINE_DEEPSPEED;
    l.pp = 4;
    l.dp = 16;
    plan_tables_make(&job, &c, &l, &t);
    plan_step_make(&job, &c, &l, &t, &a);
    plan_step_make(&deep, &c, &l, &t, &b);
    ok(near(b.part[PART_PP], 2 * a.part[PART_PP]),
       "DeepSpeed sends and receives one after the other");
    ok(near(b.part[PART_ACCUMULATE], 1.5 * a.part[PART_ACCUMULATE]),
       "DeepSpeed adds gradients of 16 bits in a kernel of its own");
    deep.gradient_b = job.gradient_b = 2;
    plan_step_make(&job, &c, &l, &t, &a);
    plan_step_make(&deep, &c, &l, &t, &b);
    ok(near(b.part[PART_ACCUMULATE], a.part[PART_ACCUMULATE]),
       "DeepSpeed adds gradients of 2 bytes in place");
    l.pp = 1;
    l.dp = 64;
    l.zero = 3;
    plan_tables_make(&job, &c, &l, &t);
    plan_step_make(&job, &c, &l, &t, &a);
    plan_step_make(&deep, &c, &l, &t, &b);
    ok(b.part[PART_DP] > 2 * a.part[PART_DP],
       "DeepSpeed's ZeRO-3 gathers over a port for each GPU");
}

/* Kernels with a backward pass made for the GPU, where there are some. */
static void test_third(void)
{
    struct cluster c = round_cluster();
    struct plan_job job = small_job(), third = job;
    struct layout l = one();
    double share;

    l.dp = 64;
    third.attention = ATTENTION_THIRD;
    c.gpu.attention_back = c.gpu.attention_third = 0.5;
    share = make(&job, &c, &l).part[PART_ATTENTION];
    ok(near(make(&third, &c, &l).part[PART_ATTENTION], share),
       "a GPU without kernels of its own has the rate of before");
    c.gpu.attention_third = 1;
    /* A pass forward, and 2.5 times that backward: 1 + 2.5 in place of 1 + 5. */
    ok(near(make(&third, &c, &l).part[PART_ATTENTION], share * 3.5 / 6),
       "kernels made for the GPU go backward at a rate of their own");
    ok(near(make(&job, &c, &l).part[PART_ATTENTION], share), "older kernels do not have it");
}

/* With one micro-batch there is no sum to add to, but FSDP puts gradients together before it
 * scatters them: 2 bytes of a parameter are read and written. */
static void test_flattens(void)
{
    const struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one();
    struct plan_step a, b;

    l.zero = 3;
    l.dp = 8;
    job.global_batch = 8;
    job.gradient_b = 2;
    a = make(&job, &c, &l);
    job.engine = ENGINE_TORCH;
    b = make(&job, &c, &l);
    is_int(b.micro_batches, 1, "the step has one micro-batch");
    ok(a.part[PART_ACCUMULATE] == 0, "gradients of one micro-batch are no sum");
    ok(near(b.part[PART_ACCUMULATE], shape_count(&job.shape).total * 4 / 2e12),
       "FSDP reads and writes the gradients of a micro-batch once");
    l.zero = 1;
    ok(make(&job, &c, &l).part[PART_ACCUMULATE] == 0, "PyTorch does not without FSDP");
}

/* FSDP in a pipeline gathers and scatters once a step, as ZeRO-1 does. */
static void test_gathers_once(void)
{
    const struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one(), first;
    struct plan_step a, b;

    l.pp = 4;
    l.dp = 16;
    l.overlap_dp = true;
    first = l;
    l.zero = 3;
    first.zero = 1;
    a = make(&job, &c, &l);
    b = make(&job, &c, &first);
    ok(near(a.part[PART_DP], b.part[PART_DP]), "ZeRO-3 gathers once a step in a pipeline");
    l.pp = 1;
    l.dp = 64;
    first.pp = 1;
    first.dp = 64;
    job.global_batch *= 4;
    a = make(&job, &c, &l);
    b = make(&job, &c, &first);
    ok(a.part[PART_DP] > b.part[PART_DP], "ZeRO-3 gathers for each micro-batch without a pipeline");
}

/* 64 replicas with a spread of 2 %: the largest of 64 draws is 2.3437, of 8 1.4236. */
static void test_stragglers(void)
{
    struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one();
    struct plan_step s;
    double work;

    c.gpu.spread = .02;
    l.dp = 64;
    job.global_batch = 64 * 4;
    s = make(&job, &c, &l);
    work = s.time_s - s.part[PART_DP] - s.part[PART_STRAGGLERS] - s.part[PART_OPTIMIZER];
    ok(near(s.part[PART_STRAGGLERS], .02 * (2.3437 - 1.4236) / 2 * work),
       "64 replicas that meet after 4 micro-batches wait 0.9 %% longer");
    l.zero = 3;
    s = make(&job, &c, &l);
    work = s.time_s - s.part[PART_DP] - s.part[PART_STRAGGLERS] - s.part[PART_OPTIMIZER];
    ok(near(s.part[PART_STRAGGLERS], .02 * (2.3437 - 1.4236) * work),
       "64 replicas that meet in each micro-batch wait 1.8 %% longer");
    l.zero = 0;
    l.dp = 8;
    ok(make(&job, &c, &l).part[PART_STRAGGLERS] == 0, "8 replicas have no stragglers beside");
}

static struct plan_job expert_job(void)
{
    struct plan_job job = small_job();

    job.shape.experts = 64;
    job.shape.active = 4;
    job.shape.expert_ffn = 2048;
    job.shape.ffn = 0;
    job.shape.gated = true;
    job.fused = true;
    return job;
}

/* With experts: what each kind of recompute costs and leaves, and what the rest does. */
static void test_trades(void)
{
    const struct cluster c = round_cluster();
    const struct plan_job job = expert_job();
    const enum recompute kinds[] = { RECOMPUTE_NONE, RECOMPUTE_NORMS, RECOMPUTE_MLP,
                                     RECOMPUTE_FULL };
    struct layout l = one();
    struct plan_step a, b;
    struct memory m, n;

    l.pp = 2;
    l.vpp = 2;
    l.ep = 16;
    l.dp = 64;
    l.zero = 1;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct plan_tables t;

        l.recompute = kinds[i];
        plan_tables_make(&job, &c, &l, &t);
        plan_step_make(&job, &c, &l, &t, &b);
        memory_make(&job, &l, &t.bytes, &n);
        ok(i == 0 || (b.time_s > a.time_s && n.activations < m.activations),
           "recompute %zu is slower than the one before and keeps less", i);
        a = b;
        m = n;
    }
    l.recompute = RECOMPUTE_NONE;
    a = make(&job, &c, &l);
    m = memory_of(&job, &c, &l);
    l.overlap_ep = true;
    b = make(&job, &c, &l);
    n = memory_of(&job, &c, &l);
    ok(b.part[PART_EP] < a.part[PART_EP] && b.part[PART_GEMM] == a.part[PART_GEMM],
       "experts' collectives beside another micro-batch are shorter");
    ok(n.activations > m.activations, "overlapped experts keep a chunk more");
    l.overlap_ep = false;
    l.offload = true;
    b = make(&job, &c, &l);
    n = memory_of(&job, &c, &l);
    ok(n.states == 0 && n.weights == m.weights && n.gradients == m.gradients,
       "offload keeps states in the host's memory");
    ok(b.part[PART_OPTIMIZER] > a.part[PART_OPTIMIZER],
       "states in the host's memory are slower to step");
}

/* Of 8 nodes tokens go to those of 2 groups of experts; what lies on 2 nodes is 4 groups each. */
static void test_groups(void)
{
    const struct cluster c = round_cluster();
    struct plan_job job = expert_job();
    struct layout l = one();
    double any, few;

    l.ep = l.dp = 64;
    any = make(&job, &c, &l).part[PART_EP];
    job.shape.groups = 8;
    job.shape.active_groups = 2;
    few = make(&job, &c, &l).part[PART_EP];
    ok(few < .9 * any, "tokens that go to 2 of 8 groups of experts cross less: %g of %g s", few,
       any);
    job.shape.groups = 1;
    job.shape.active_groups = 1;
    ok(near(make(&job, &c, &l).part[PART_EP], any), "one group of experts is no limit");
    l.ep = l.dp = 16;
    any = make(&job, &c, &l).part[PART_EP];
    job.shape.groups = 8;
    job.shape.active_groups = 2;
    ok(near(make(&job, &c, &l).part[PART_EP], any),
       "2 of 8 groups of experts are no limit on 2 nodes");
}

static void test_properties(void)
{
    const struct cluster c = round_cluster();
    struct plan_job job = small_job();
    bool parts = true, faster = true, recompute = true;

    for (int experts = 0; experts <= 1; experts++) {
        each(&job, &c, check_parts, &parts);
        each(&job, &c, check_faster, &faster);
        each(&job, &c, check_recompute, &recompute);
        job.shape.experts = 64;
        job.shape.active = 4;
        job.shape.expert_ffn = 2048;
        job.shape.gated = true;
    }
    ok(parts, "parts are finite, none is negative, and they sum to the time");
    ok(faster, "more of any rate is never slower");
    ok(recompute, "full recompute is never faster");
}

static void test_narrow(void)
{
    struct cluster c = round_cluster();
    struct plan_job job = small_job();
    struct layout l = one();
    double wide, narrow;

    c.gpu.flops[PLAN_FP8] = 600e12;
    l.tp = 8;
    l.seq_parallel = true;
    wide = make(&job, &c, &l).part[PART_TP];
    job.precision = PLAN_FP8;
    narrow = make(&job, &c, &l).part[PART_TP];
    ok(narrow < wide && narrow > wide / 2, "8 bits are used for gathered inputs, 16 for sums");
}

static void test_key(void)
{
    const struct cluster c = round_cluster();
    const struct plan_job job = small_job();
    struct layout a = one(), b = one();
    struct layer_costs x, y;

    b.pp = 4;
    b.zero = 1;
    b.dp = 8;
    layer_costs(&job, &c, &a, &x);
    layer_costs(&job, &c, &b, &y);
    ok(memcmp(&x, &y, sizeof(x)) == 0, "the times of a layer do not hang on pp, zero and dp");
}

static void test_flops(void)
{
    struct plan_job job = small_job();
    double s = 2048, h = 4096, layers = 24, v = 51200, want;

    /* SC'21 (Narayanan et al.), eq. 3 without recompute: 72 B s L h^2 (1 + s/6h + V/12Lh). */
    want = 72 * 512. * s * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h));
    ok(fabs(plan_step_flops(&job) / want - 1) < 2e-4,
       "FLOPs of a step are as Megatron counts them");
}

int main(void)
{
    for (int p = 0; p < PARTS; p++)
        if (!*step_part_name((enum step_part)p) || !*plan_step_part_why((enum step_part)p))
            ok(false, "part %d has a name and a reason", p);
    test_gemm();
    test_scales();
    test_limit();
    test_collectives();
    test_windows();
    test_pipeline();
    test_scatter();
    test_engines();
    test_third();
    test_flattens();
    test_gathers_once();
    test_stragglers();
    test_trades();
    test_groups();
    test_properties();
    test_narrow();
    test_key();
    test_flops();
    return done();
}
