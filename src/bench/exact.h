/* Products of matrices that must be exact, and whether they are.
 *
 * The matrices are of whole numbers from -127 to 127: bfloat16 holds them, and sums of 8,192 of
 * their products stay below 2^24, so that float32 is exact whatever the order of the sums, and
 * every wrong bit counts. C = A B is checked by Freivalds' method: C x must be A (B x), for a
 * vector x of odd numbers, and every number of C must be whole. One wrong number of C is always
 * seen, since no odd number is zero; that takes 6 n^2 operations beside 2 n^3 (0.04 % of 8,192).
 * Where several are wrong in a row of C they go unseen when their errors, times x, add up to 0. */
#ifndef BRIM_BENCH_EXACT_H
#define BRIM_BENCH_EXACT_H
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { EXACT_SIDE = 8192 }; /* the largest that stays exact in float32 */

enum exact_kind { EXACT_FLOAT32, EXACT_FLOAT64, EXACT_BFLOAT16 };

enum exact_matrix { EXACT_A = 1, EXACT_B };

/* Bytes of a number. */
size_t exact_size(enum exact_kind kind);

/* Numbers first to first + count - 1 of a matrix, as they stand in memory, column after column;
 * first is a multiple of 8. */
void exact_fill(enum exact_matrix m, enum exact_kind kind, size_t first, size_t count, void *to);

/* What is known of one product. */
struct exact {
    int side;
    double *x, *want, *got; /* the vector; A (B x); C x of what has come */
    size_t part;            /* the first number that is not whole; SIZE_MAX: none */
    double part_value;
};

/* Make x and A (B x). 0 or -ENOMEM; side is a multiple of 8, EXACT_SIDE at most. */
int exact_open(struct exact *x, int side, struct err *e) CHECK_RESULT;
void exact_done(struct exact *x);

/* Take numbers first to first + count - 1 of the product C; float32 for bfloat16 matrices. */
void exact_add(struct exact *x, enum exact_kind kind, size_t first, size_t count, const void *c);

/* Once all of C has come: 0, or -EBADMSG with what is wrong: "its product of matrices is wrong in
 * row 17". The numbers of C may come again after it. */
int exact_verdict(struct exact *x, struct err *e) CHECK_RESULT;

#endif
