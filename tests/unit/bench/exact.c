/* Products that must be exact: what the matrices are, and that every fault is seen. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench/exact.h"
#include "oom.h"
#include "tap.h"

enum { SIDE = 128, COUNT = SIDE * SIDE, TILE = 32, FAULTS = 400 };

struct product {
    double *a, *b;
    double *c; /* right */
    float *bad;
};

/* C = A B, and as float32, which has all of its numbers. */
static void product_open(struct product *p)
{
    p->a = calloc(COUNT, sizeof(double));
    p->b = calloc(COUNT, sizeof(double));
    p->c = calloc(COUNT, sizeof(double));
    p->bad = calloc(COUNT, sizeof(float));
    if (!p->a || !p->b || !p->c || !p->bad)
        abort();
    exact_fill(EXACT_A, EXACT_FLOAT64, 0, COUNT, p->a);
    exact_fill(EXACT_B, EXACT_FLOAT64, 0, COUNT, p->b);
    for (size_t j = 0; j < SIDE; j++)
        for (size_t k = 0; k < SIDE; k++)
            for (size_t i = 0; i < SIDE; i++)
                p->c[j * SIDE + i] += p->a[k * SIDE + i] * p->b[j * SIDE + k];
}

static void product_done(struct product *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->bad);
}

static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return *seed;
}

static void flip(float *value, unsigned bit)
{
    uint32_t bits;

    memcpy(&bits, value, sizeof(bits));
    bits ^= 1U << bit;
    memcpy(value, &bits, sizeof(bits));
}

enum fault { ANY_BIT, LAST_BIT, EXPONENT_BIT, NOT_A_NUMBER, TOO_LARGE, TILE_OFF, TILE_LOST };

static const char *const fault_names[] = {
    [ANY_BIT] = "a bit of a number",
    [LAST_BIT] = "the last bit of a number",
    [EXPONENT_BIT] = "a bit of an exponent",
    [NOT_A_NUMBER] = "a number that is none",
    [TOO_LARGE] = "a number that hides the rest of its row",
    [TILE_OFF] = "a tile that is off by one",
    [TILE_LOST] = "a tile that loses 3 of its products",
};

static void spoil(struct product *p, enum fault fault, uint32_t *seed)
{
    size_t at = next(seed) % COUNT, row = next(seed) % (SIDE / TILE) * TILE;
    size_t column = next(seed) % (SIDE / TILE) * TILE, lost = next(seed) % (SIDE - 3);

    while (p->bad[at] == 0) /* a bit of the sign of zero is none that counts */
        at = next(seed) % COUNT;
    if (fault == ANY_BIT)
        flip(&p->bad[at], next(seed) % 32);
    else if (fault == LAST_BIT)
        flip(&p->bad[at], 0);
    else if (fault == EXPONENT_BIT)
        flip(&p->bad[at], 23 + next(seed) % 8);
    else if (fault == NOT_A_NUMBER)
        p->bad[at] = (float)NAN;
    else if (fault == TOO_LARGE)
        p->bad[at] = 1e30F;
    for (size_t j = column; fault >= TILE_OFF && j < column + TILE; j++)
        for (size_t i = row; i < row + TILE; i++) {
            if (fault == TILE_OFF)
                p->bad[j * SIDE + i] += 1;
            for (size_t k = lost; fault == TILE_LOST && k < lost + 3; k++)
                p->bad[j * SIDE + i] -= (float)(p->a[k * SIDE + i] * p->b[j * SIDE + k]);
        }
}

static void test_faults(struct product *p)
{
    CLEANUP(exact_done) struct exact x = { .side = 0 };
    uint32_t seed = 1;

    is_int(exact_open(&x, SIDE, NULL), 0, "exact_open makes x and A (B x)");
    for (size_t f = 0; f < ARRAY_SIZE(fault_names); f++) {
        int seen = 0;

        for (int i = 0; i < FAULTS; i++) {
            for (size_t k = 0; k < COUNT; k++)
                p->bad[k] = (float)p->c[k];
            spoil(p, (enum fault)f, &seed);
            exact_add(&x, EXACT_FLOAT32, 0, COUNT, p->bad);
            seen += exact_verdict(&x, NULL) == -EBADMSG;
        }
        is_int(seen, FAULTS, "exact_verdict sees %s in each of %d products", fault_names[f],
               FAULTS);
    }
}

static void test_right(const struct product *p)
{
    CLEANUP(exact_done) struct exact x = { .side = 0 };
    struct err e = { "" };

    is_int(exact_open(&x, SIDE, &e), 0, "exact_open makes what a right product is compared with");
    for (int round = 0; round < 2; round++) {
        for (size_t at = 0; at < COUNT; at += COUNT / 8)
            exact_add(&x, EXACT_FLOAT64, at, COUNT / 8, p->c + at);
        is_int(exact_verdict(&x, &e), 0, "a right product passes in round %d: %s", round, e.text);
    }
    p->c[7 * SIDE + 3] += 1;
    exact_add(&x, EXACT_FLOAT64, 0, COUNT, p->c);
    is_int(exact_verdict(&x, &e), -EBADMSG, "a number that is off by one is seen");
    is_str(e.text, "its product of matrices is wrong in row 3 of 128",
           "the sentence names the row");
    p->c[7 * SIDE + 3] -= 0.5;
    exact_add(&x, EXACT_FLOAT64, 0, COUNT, p->c);
    is_int(exact_verdict(&x, &e), -EBADMSG, "a number that is not whole is seen");
    ok(strstr(e.text, "in row 3, column 7 cannot be"), "the sentence names row and column: %s",
       e.text);
    p->c[7 * SIDE + 3] -= 0.5;
    exact_add(&x, EXACT_FLOAT64, 0, COUNT, p->c);
    is_int(exact_verdict(&x, &e), 0, "a right product passes behind a wrong one: %s", e.text);
}

/* The three kinds have the same numbers, wherever a part begins. */
static void test_fill(void)
{
    double wide[64], again[8];
    float narrow[64];
    uint16_t half[64];
    bool same = true, small = true;

    exact_fill(EXACT_A, EXACT_FLOAT64, 4096, 64, wide);
    exact_fill(EXACT_A, EXACT_FLOAT32, 4096, 64, narrow);
    exact_fill(EXACT_A, EXACT_BFLOAT16, 4096, 64, half);
    exact_fill(EXACT_A, EXACT_FLOAT64, 4104, 8, again);
    for (size_t i = 0; i < 64; i++) {
        uint32_t bits = (uint32_t)half[i] << 16;
        float value;

        memcpy(&value, &bits, sizeof(value));
        same = same && narrow[i] == (float)wide[i] && value == narrow[i];
        small = small && fabs(wide[i]) <= 127 && wide[i] == nearbyint(wide[i]);
    }
    ok(same, "float32, float64 and bfloat16 have the same numbers");
    ok(small, "the numbers are whole, from -127 to 127");
    ok(!memcmp(wide + 8, again, sizeof(again)), "a part has the numbers of the whole");
    exact_fill(EXACT_B, EXACT_FLOAT64, 4096, 8, again);
    ok(memcmp(wide, again, sizeof(again)) != 0, "the two matrices differ");
}

static void test_oom(void)
{
    bool failed;
    int rc;

    oom_restart();
    do {
        CLEANUP(exact_done) struct exact x = { .side = 0 };

        oom_next();
        rc = exact_open(&x, 64, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "exact_open with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
}

int main(void)
{
    CLEANUP(product_done) struct product p = { NULL, NULL, NULL, NULL };

    product_open(&p);
    test_fill();
    test_right(&p);
    test_faults(&p);
    test_oom();
    return done();
}
