#include "bench/exact.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

enum { LANES = 8 }; /* numbers of one word of random bits */

size_t exact_size(enum exact_kind kind)
{
    static const size_t sizes[] = { [EXACT_FLOAT32] = sizeof(float),
                                    [EXACT_FLOAT64] = sizeof(double),
                                    [EXACT_BFLOAT16] = sizeof(uint16_t) };

    return sizes[kind];
}

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): each word
 * from its number alone, so that no matrix has to be kept. */
static uint64_t word(enum exact_matrix m, uint64_t i)
{
    uint64_t z = (i + 1 + ((uint64_t)m << 40)) * 0x9e3779b97f4a7c15ULL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/* Eight numbers from -127 to 127. */
static void lanes(enum exact_matrix m, size_t i, int8_t to[LANES])
{
    uint64_t bits = word(m, i / LANES);

    memcpy(to, &bits, sizeof(bits));
    for (int k = 0; k < LANES; k++)
        if (to[k] == INT8_MIN)
            to[k] = 0;
}

/* The upper half of a float32, which has all that a small whole number needs. */
static uint16_t bfloat16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)(bits >> 16);
}

void exact_fill(enum exact_matrix m, enum exact_kind kind, size_t first, size_t count, void *to)
{
    int8_t eight[LANES];

    for (size_t i = 0; i < count; i++) {
        if (i % LANES == 0)
            lanes(m, first + i, eight);
        if (kind == EXACT_FLOAT64)
            ((double *)to)[i] = eight[i % LANES];
        else if (kind == EXACT_FLOAT32)
            ((float *)to)[i] = eight[i % LANES];
        else
            ((uint16_t *)to)[i] = bfloat16(eight[i % LANES]);
    }
}

/* to = M x, column after column. */
static void multiply(enum exact_matrix m, int side, const double *x, double *to)
{
    size_t n = (size_t)side;
    int8_t eight[LANES];

    memset(to, 0, n * sizeof(*to));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i += LANES) {
            lanes(m, j * n + i, eight);
            for (size_t k = 0; k < LANES; k++)
                to[i + k] += eight[k] * x[j];
        }
}

int exact_open(struct exact *x, int side, struct err *e)
{
    size_t n = (size_t)side;
    CLEANUP(freep) double *bx = calloc(n, sizeof(*bx));

    x->side = side;
    x->part = SIZE_MAX;
    x->x = calloc(n, sizeof(*x->x));
    x->want = calloc(n, sizeof(*x->want));
    x->got = calloc(n, sizeof(*x->got));
    if (!bx || !x->x || !x->want || !x->got)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        x->x[i] = (double)(int)(word(EXACT_B + 1, i) % 256) * 2 - 255;
    multiply(EXACT_B, side, x->x, bx);
    multiply(EXACT_A, side, bx, x->want);
    return 0;
}

void exact_done(struct exact *x)
{
    free(x->x);
    free(x->want);
    free(x->got);
    x->x = x->want = x->got = NULL;
}

/* Whether it may stand in C. Parts of a number could be lost in the sums, as could what is added to
 * one that is too large. Not a number is neither. */
static bool is_whole(const struct exact *x, double value)
{
    return fabs(value) <= 127.0 * 127 * x->side && value == nearbyint(value);
}

void exact_add(struct exact *x, enum exact_kind kind, size_t first, size_t count, const void *c)
{
    size_t n = (size_t)x->side;

    for (size_t i = 0; i < count; i++) {
        double value = kind == EXACT_FLOAT64 ? ((const double *)c)[i]
                                             : (double)((const float *)c)[i];

        if (is_whole(x, value)) {
            x->got[(first + i) % n] += value * x->x[(first + i) / n];
        } else if (x->part == SIZE_MAX) {
            x->part = first + i;
            x->part_value = value;
        }
    }
}

int exact_verdict(struct exact *x, struct err *e)
{
    static const char wrong[] = "its product of matrices is wrong";
    size_t n = (size_t)x->side, part = x->part, rows = 0, row = 0;

    for (size_t i = n; i-- > 0;)
        if (x->got[i] != x->want[i]) {
            rows++;
            row = i;
        }
    memset(x->got, 0, n * sizeof(*x->got));
    x->part = SIZE_MAX;
    if (part != SIZE_MAX)
        return err_set(e, -EBADMSG, "%s: %.17g in row %zu, column %zu cannot be", wrong,
                       x->part_value, part % n, part / n);
    if (rows == 1)
        return err_set(e, -EBADMSG, "%s in row %zu of %zu", wrong, row, n);
    if (rows)
        return err_set(e, -EBADMSG, "%s in %zu of %zu rows, the first is %zu", wrong, rows, n, row);
    return 0;
}
