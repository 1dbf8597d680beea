#include "sched/place/bits.h"

#include <errno.h>
#include <string.h>

int bits_init(struct bits *b, struct arena *a, uint32_t n)
{
    *b = (struct bits){ .n_words = n / BITS_WORD + 1 };
    b->n_any = b->n_words / BITS_WORD + 1;
    b->words = arena_alloc(a, b->n_words * sizeof(*b->words));
    b->any = arena_alloc(a, b->n_any * sizeof(*b->any));
    return b->words && b->any ? 0 : -ENOMEM;
}

/* The first set bit from bit 'from', which is in the array of n words; -1. */
static int64_t first_from(const uint64_t *words, uint32_t n, uint32_t from)
{
    uint32_t word = from / BITS_WORD;
    uint64_t left = words[word] & ~0ULL << from % BITS_WORD;

    while (!left) {
        if (++word == n)
            return -1;
        left = words[word];
    }
    return (int64_t)word * BITS_WORD + __builtin_ctzll(left);
}

int64_t bits_next(const struct bits *b, uint32_t from)
{
    uint32_t word = from / BITS_WORD;
    uint64_t left;
    int64_t at;

    if (b->count == 0 || word >= b->n_words)
        return -1;
    left = b->words[word] & ~0ULL << from % BITS_WORD;
    if (left)
        return (int64_t)word * BITS_WORD + __builtin_ctzll(left);
    at = first_from(b->any, b->n_any, word + 1); /* one bit more than there are words is there */
    return at < 0 ? -1 : at * BITS_WORD + __builtin_ctzll(b->words[at]);
}
