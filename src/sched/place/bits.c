#include "sched/place/bits.h"

#include <errno.h>
#include <string.h>

enum { WORD = 64 };

int bits_init(struct bits *b, struct arena *a, uint32_t n)
{
    *b = (struct bits){ .n_words = n / WORD + 1 };
    b->n_any = b->n_words / WORD + 1;
    b->words = arena_alloc(a, b->n_words * sizeof(*b->words));
    b->any = arena_alloc(a, b->n_any * sizeof(*b->any));
    return b->words && b->any ? 0 : -ENOMEM;
}

void bits_add(struct bits *b, uint32_t i)
{
    b->words[i / WORD] |= 1ULL << i % WORD;
    b->any[i / WORD / WORD] |= 1ULL << i / WORD % WORD;
    b->count++;
}

void bits_remove(struct bits *b, uint32_t i)
{
    uint32_t word = i / WORD;

    b->words[word] &= ~(1ULL << i % WORD);
    if (!b->words[word])
        b->any[word / WORD] &= ~(1ULL << word % WORD);
    b->count--;
}

/* The first set bit from bit 'from' of an array of n words; -1. */
static int64_t first_from(const uint64_t *words, uint32_t n, uint32_t from)
{
    uint32_t word = from / WORD;
    uint64_t left;

    if (word >= n)
        return -1;
    left = words[word] & ~0ULL << from % WORD;
    while (!left) {
        if (++word == n)
            return -1;
        left = words[word];
    }
    return (int64_t)word * WORD + __builtin_ctzll(left);
}

int64_t bits_next(const struct bits *b, uint32_t from)
{
    uint32_t word = from / WORD;
    uint64_t left;
    int64_t at;

    if (b->count == 0 || word >= b->n_words)
        return -1;
    left = b->words[word] & ~0ULL << from % WORD;
    if (left)
        return (int64_t)word * WORD + __builtin_ctzll(left);
    at = first_from(b->any, b->n_any, word + 1);
    return at < 0 ? -1 : at * WORD + __builtin_ctzll(b->words[at]);
}
