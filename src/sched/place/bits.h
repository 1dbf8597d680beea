/* A set of small numbers that finds its first member from any place in a few steps: bits, and one
 * bit per word that has any. */
#ifndef BRIM_SCHED_PLACE_BITS_H
#define BRIM_SCHED_PLACE_BITS_H
#include <stdint.h>

#include "base/arena.h"

enum { BITS_WORD = 64 };

struct bits {
    uint64_t *words, *any;
    uint32_t n_words, n_any, count;
};

/* Room for the numbers below n, in the arena. -ENOMEM. */
int bits_init(struct bits *b, struct arena *a, uint32_t n) CHECK_RESULT;

/* A number that is not a member becomes one; one that is does not stay. Where places are looked for
 * in each pass these are called most: so they are here. */
static inline void bits_add(struct bits *b, uint32_t i)
{
    b->words[i / BITS_WORD] |= 1ULL << i % BITS_WORD;
    b->any[i / BITS_WORD / BITS_WORD] |= 1ULL << i / BITS_WORD % BITS_WORD;
    b->count++;
}

static inline void bits_remove(struct bits *b, uint32_t i)
{
    uint32_t word = i / BITS_WORD;

    b->words[word] &= ~(1ULL << i % BITS_WORD);
    if (!b->words[word])
        b->any[word / BITS_WORD] &= ~(1ULL << word % BITS_WORD);
    b->count--;
}

/* The smallest member that is not below from; -1 when there is none. */
int64_t bits_next(const struct bits *b, uint32_t from);

#endif
