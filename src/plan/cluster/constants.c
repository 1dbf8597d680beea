#include "plan/cluster/constants.h"

#include <math.h>

/* Of data/plan_constants.csv: A100 and H100. */
static const struct figures {
    double best, k0, sustained, narrow_best, narrow_sustained, attention, first, back, half;
} ampere = { .83, 128, .80, .6, .5, .42, .28, .87, 800 },
  blackwell = { .86, 256, .64, .58, .48, .44, .15, .60, 1900 },
  hopper = { .86, 256, .64, .58, .48, .44, .15, .60, 1200 };

/* What a scale for each row leaves of the rate of 8 bits on an H100 (data/plan_constants.csv). */
static const double rows_share = 0.74;

static bool assume(double *figure, double value)
{
    if (*figure > 0)
        return false;
    *figure = value;
    return true;
}

/* Other scales of 8 bits, on the figures of the usual ones. Blocks of 32 numbers that a GPU has
 * units for do what those of 128 do. */
static bool assume_scales(struct gpu *g)
{
    enum plan_precision blocks = g->flops[PLAN_MXFP8] > 0 ? PLAN_MXFP8 : PLAN_FP8;
    bool any = false;

    any |= assume(&g->gemm_best[PLAN_FP8_ROWS], g->gemm_best[PLAN_FP8] * rows_share);
    any |= assume(&g->gemm_k0[PLAN_FP8_ROWS], g->gemm_k0[PLAN_FP8]);
    any |= assume(&g->gemm_sustained[PLAN_FP8_ROWS], g->gemm_sustained[PLAN_FP8] * rows_share);
    any |= assume(&g->gemm_best[PLAN_FP8_BLOCKS], g->gemm_best[blocks]);
    any |= assume(&g->gemm_k0[PLAN_FP8_BLOCKS], g->gemm_k0[blocks]);
    any |= assume(&g->gemm_sustained[PLAN_FP8_BLOCKS], g->gemm_sustained[blocks]);
    return any;
}

bool gpu_assume(struct gpu *g)
{
    const struct figures *f = g->flops[PLAN_NVFP4] > 0 ? &blackwell
                              : g->flops[PLAN_FP8] > 0 ? &hopper
                                                       : &ampere;
    bool any = false;

    for (int p = 0; p < PLAN_PRECISIONS; p++) {
        bool narrow = p >= PLAN_FP8;

        if (p == PLAN_FP8_ROWS || p == PLAN_FP8_BLOCKS)
            continue;
        any |= assume(&g->gemm_best[p], narrow ? f->narrow_best : f->best);
        any |= assume(&g->gemm_k0[p], f->k0);
        any |= assume(&g->gemm_sustained[p], narrow ? f->narrow_sustained : f->sustained);
    }
    any |= assume_scales(g);
    any |= assume(&g->gemm_t0_s, 2e-6);
    any |= assume(&g->memory_best, .83);
    any |= assume(&g->attention_best, f->attention);
    any |= assume(&g->attention_first, f->first);
    any |= assume(&g->attention_back, f->back);
    (void)assume(&g->attention_third, g->attention_back); /* no others are known */
    any |= assume(&g->attention_half, f->half);
    any |= assume(&g->launch_s, 12e-6);
    any |= assume(&g->link_best, .79);
    any |= assume(&g->link_few, .5);
    any |= assume(&g->link_fill_s, 50e-6);
    any |= assume(&g->spread, .02);
    return any;
}

void gpu_limit(struct gpu *g, double power_w)
{
    double share = cbrt(power_w / g->tdp_w);

    if (!(share > 0.5 && share < 1))
        return;
    for (int p = 0; p < PLAN_PRECISIONS; p++)
        g->gemm_sustained[p] *= share;
    g->attention_best *= share;
}

bool gpu_is_new(const struct gpu *g)
{
    return g->flops[PLAN_FP8] > 0 && g->memory_rate > 2e12;
}
