/* A set of small numbers that finds its first member from any place in a few steps: bits, and one
 * bit per word that has any. */
#ifndef BRIM_SCHED_PLACE_BITS_H
#define BRIM_SCHED_PLACE_BITS_H
#include <stdint.h>

#include "base/arena.h"

struct bits {
    uint64_t *words, *any;
    uint32_t n_words, n_any, count;
};

/* Room for the numbers below n, in the arena. -ENOMEM. */
int bits_init(struct bits *b, struct arena *a, uint32_t n) CHECK_RESULT;

void bits_add(struct bits *b, uint32_t i);    /* which is not a member */
void bits_remove(struct bits *b, uint32_t i); /* which is one */

/* The smallest member that is not below from; -1 when there is none. */
int64_t bits_next(const struct bits *b, uint32_t from);

#endif
