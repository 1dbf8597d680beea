#include "plan/model/gemm.h"

#include <math.h>
#include <stdint.h>

/* The part of a last wave that is not full which counts: smaller tiles and split depth fill the
 * rest. Fitted to 10,013 products on each of nine GPUs (script/calibrate); the same for all. */
static const double tail = 0.4;

/* Of heads of 64 dimensions, next to 128: the softmax takes a larger part. */
static const double narrow_share = 0.75;

/* Of the rate of tensor cores when rows of an operand do not start on 16 bytes: what vTrain's rows
 * with a vocabulary of 50,257 take for head and loss, next to those where it is padded. */
static const double unaligned_share = 0.45;
/* The same of products beside each other, which nobody can pad: BigScience's steps of 107 s with 96
 * heads of 144 dimensions and 147 s with 128 of 108. */
static const double unaligned_batch_share = 0.1;

/* Of what kernels for Hopper reach on it, those for Ampere do: the figures of the FlashAttention-3
 * paper (arXiv 2407.08608), 128 dimensions, causal, 4K to 16K tokens, both passes. */
static const double second_share = 0.62;

/* Rows and columns of tiles, 64 << m and 64 << n, and their size over what is left of the rate:
 * smaller ones read their operands more often. */
enum { SIZES = 3 };
static const struct {
    int m, n;
    double work;
} tiles[] = {
    { 2, 1, 256 * 128 },      { 1, 2, 128 * 256 },      { 1, 1, 128 * 128 / .92 },
    { 0, 1, 64 * 128 / .75 }, { 1, 0, 128 * 64 / .75 }, { 0, 0, 64 * 64 / .55 },
};

static enum plan_precision usable(const struct gpu *g, enum plan_precision p)
{
    static const enum plan_precision wider[PLAN_PRECISIONS] = {
        [PLAN_FP16] = PLAN_BF16,      [PLAN_BF16] = PLAN_FP16, [PLAN_FP8] = PLAN_BF16,
        [PLAN_FP8_ROWS] = PLAN_FP8,   [PLAN_MXFP8] = PLAN_FP8, [PLAN_NVFP4] = PLAN_FP8,
        [PLAN_FP8_BLOCKS] = PLAN_FP8,
    };

    for (int i = 0; i < PLAN_PRECISIONS && !(g->flops[p] > 0); i++)
        p = wider[p];
    return p;
}

double gemm_peak(const struct gpu *g, enum plan_precision p)
{
    return g->flops[usable(g, p)];
}

static double bytes_of(enum plan_precision p)
{
    return p == PLAN_NVFP4 ? .5625 : p >= PLAN_FP8 ? 1 : 2;
}

double gemm_bytes(const struct gpu *g, enum plan_precision p)
{
    return bytes_of(usable(g, p));
}

/* Rows of n or k elements that are no multiple of 8. */
static bool unaligned(const struct gemm *x)
{
    return (int64_t)x->n % 8 != 0 || (int64_t)x->k % 8 != 0;
}

/* x rounded up; ceil() is a call. */
static inline double whole(double x)
{
    double n = (double)(int64_t)x;

    return n < x ? n + 1 : n;
}

/* Elements of the best tiles that one multiprocessor works on. */
static double tile_work(const struct gemm *x, double sms)
{
    double rows[SIZES], columns[SIZES], best = (double)INFINITY, each = x->count / sms;

    for (int i = 0; i < SIZES; i++) {
        rows[i] = whole(x->m / (64 << i));
        columns[i] = whole(x->n / (64 << i)) * each;
    }
    for (size_t i = 0; i < ARRAY_SIZE(tiles); i++) {
        double n = rows[tiles[i].m] * columns[tiles[i].n];
        double waves = tail * whole(n) + (1 - tail) * MAX(n, 1);

        best = MIN(best, waves * tiles[i].work);
    }
    return best;
}

double gemm_time(const struct gpu *g, enum plan_precision p, const struct gemm *x)
{
    enum plan_precision q = usable(g, p);
    double sms = g->sms > 0 ? g->sms : 128, best, size = bytes_of(q), traffic, flops;
    double rate = g->memory_rate * g->memory_best;

    best = tile_work(x, sms) * sms * (x->k + g->gemm_k0[q]) * 2 / (g->flops[q] * g->gemm_best[q]);
    flops = 2 * x->m * x->n * x->k * x->count;
    best = MAX(best, flops / (g->flops[q] * g->gemm_sustained[q]));
    if (unaligned(x))
        best /= x->count > 1 ? unaligned_batch_share : unaligned_share;
    traffic = size * (x->m * x->k + x->k * x->n) + 2 * x->m * x->n;
    best = MAX(best, traffic * x->count / rate);
    if (size < 2) /* the activations are read in 16 bits and written in the narrow format first */
        best += g->gemm_t0_s + (2 + size) * x->m * x->k * x->count / rate;
    return g->gemm_t0_s + best;
}

double flash_flops(const struct flash *f)
{
    double seen = f->keys / 2; /* keys of a query in the mean */

    if (f->window > 0 && f->window < f->keys)
        seen = f->window * (1 - f->window / f->keys / 2);
    return 2 * f->batch * f->heads * f->queries * seen * (f->qk_dim + f->v_dim);
}

double flash_time(const struct gpu *g, const struct flash *f)
{
    double seen = f->window > 0 ? fmin(f->window, f->keys) : f->keys;
    double far = g->attention_half;
    double best = f->first ? g->attention_first : g->attention_best;
    double share = best * (1 + far / 4096) * seen / (seen + far);
    double narrow = (f->qk_dim + f->v_dim) / 2, sms = g->sms > 0 ? g->sms : 128;
    double blocks = f->batch * f->heads * ceil(f->queries / 128), wave = ceil(blocks / sms);

    if (f->second && g->flops[PLAN_FP8] > 0)
        share *= second_share;
    if (!f->first && narrow < 128)
        share *= narrow_share + (1 - narrow_share) * (narrow - 64) / 64;
    share *= .5 + .5 * blocks / (wave * sms);
    return g->gemm_t0_s + flash_flops(f) / (gemm_peak(g, PLAN_BF16) * share);
}
