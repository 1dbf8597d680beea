/* What is assumed of a GPU that nobody has measured: each figure, for each generation, and what
 * stays where a table has some of them; what a limit of power leaves, and what counts as new.
 *
 *     t_plan_cluster_assumed FILE */
#include <math.h>

#include "base/str.h"
#include "golden.h"
#include "plan/cluster/constants.h"
#include "plan/cluster/gpus.h"
#include "tap.h"

enum { ROOM = 1 << 16 };

static void add_figures(const char *what, const struct gpu *g, struct str *out)
{
    str_addf(out, "%s\n", what);
    for (int p = 0; p < PLAN_PRECISIONS; p++)
        str_addf(out, "  %s: best %.6g, k0 %.6g, sustained %.6g\n",
                 plan_precision_name((enum plan_precision)p), g->gemm_best[p], g->gemm_k0[p],
                 g->gemm_sustained[p]);
    str_addf(out, "  attention: best %.6g, first %.6g, back %.6g, third %.6g, half %.6g\n",
             g->attention_best, g->attention_first, g->attention_back, g->attention_third,
             g->attention_half);
    str_addf(out, "  products begin after %.6g us, memory %.6g, launches %.6g us, spread %.6g\n",
             g->gemm_t0_s * 1e6, g->memory_best, g->launch_s * 1e6, g->spread);
    str_addf(out, "  links: best %.6g, few %.6g, filled after %.6g us\n", g->link_best, g->link_few,
             g->link_fill_s * 1e6);
}

/* A GPU that computes in 16 bits and in these. */
static struct gpu gpu_with(const enum plan_precision *more, size_t n)
{
    struct gpu g = { .memory_rate = 3e12, .tdp_w = 1000 };

    g.flops[PLAN_FP16] = g.flops[PLAN_BF16] = 1e15;
    for (size_t i = 0; i < n; i++)
        g.flops[more[i]] = 2e15;
    return g;
}

static void add_generations(struct str *out)
{
    static const enum plan_precision kinds[] = { PLAN_FP8, PLAN_MXFP8, PLAN_NVFP4 };
    static const char *const names[] = { "16 bits alone", "and FP8", "and MXFP8", "and NVFP4" };

    for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
        struct gpu g = gpu_with(kinds, n);

        gpu_assume(&g);
        add_figures(names[n], &g, out);
    }
}

/* Figures that a table has stay as they are; others follow from some of them. */
static void add_known(struct str *out)
{
    static const enum plan_precision kinds[] = { PLAN_FP8, PLAN_MXFP8 };
    struct gpu g = gpu_with(kinds, 2);
    double *const figures[] = { &g.gemm_t0_s,      &g.memory_best,    &g.attention_best,
                                &g.attention_back, &g.attention_half, &g.attention_first,
                                &g.launch_s,       &g.link_best,      &g.link_few,
                                &g.link_fill_s,    &g.spread };

    for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
        *figures[i] = 0.001 * (double)(i + 1);
    for (int p = 0; p < PLAN_PRECISIONS; p++) {
        bool scales = p == PLAN_FP8_ROWS || p == PLAN_FP8_BLOCKS;

        g.gemm_best[p] = scales ? (double)NAN : 0.1 + 0.01 * p;
        g.gemm_k0[p] = scales ? (double)NAN : 100 + p;
        g.gemm_sustained[p] = scales ? (double)NAN : 0.2 + 0.01 * p;
    }
    gpu_assume(&g);
    add_figures("all but scales are known", &g, out);
    g.attention_third = 0.9;
    g.gemm_best[PLAN_FP8_ROWS] = g.gemm_best[PLAN_FP8_BLOCKS] = 0.5;
    gpu_assume(&g);
    add_figures("all are known", &g, out);
}

/* From an eighth of its power on, where half of the clock is left. */
static void add_limits(struct str *out)
{
    static const double powers[] = { 1, 124, 126, 343, 999, 1000, 1001, 2000 };

    for (size_t i = 0; i < ARRAY_SIZE(powers); i++) {
        struct gpu g = gpu_with(NULL, 0);

        gpu_assume(&g);
        gpu_limit(&g, powers[i]);
        str_addf(out, "%g of 1000 W: bf16 %.6g, nvfp4 %.6g, attention %.6g\n", powers[i],
                 g.gemm_sustained[PLAN_BF16], g.gemm_sustained[PLAN_NVFP4], g.attention_best);
    }
}

static void test_new(void)
{
    static const enum plan_precision fp8 = PLAN_FP8;
    struct gpu g = gpu_with(&fp8, 1);

    ok(gpu_is_new(&g), "a GPU with 8-bit floats and 3 TB/s is new");
    g.memory_rate = 2.001e12;
    ok(gpu_is_new(&g), "a GPU with 8-bit floats and just over 2 TB/s is new");
    g.memory_rate = 2e12;
    ok(!gpu_is_new(&g), "a GPU with 8-bit floats and 2 TB/s is none of Hopper's kind");
    g = gpu_with(NULL, 0);
    ok(!gpu_is_new(&g), "a GPU without 8-bit floats is not new");
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    add_generations(&out);
    add_known(&out);
    add_limits(&out);
    is_int(str_error(&out), 0, "all figures have room");
    golden(argv[1], str_text(&out));
    test_new();
    return done();
}
