/* Sets of small numbers, compared with a flag for each: of sizes around whole words and around
 * words of words. */
#include "sched/place/bits.h"

#include "tap.h"

enum { MOST = 4200, ROUNDS = 3000, BEYOND = 200 };

/* Numbers that repeat. */
static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)((*state >> 33) % n);
}

static int64_t slow_next(const bool *has, uint32_t n, uint32_t from)
{
    while (from < n && !has[from])
        from++;
    return from < n ? (int64_t)from : -1;
}

/* How many answers differ, from some numbers on: at the ends, around one, and beyond the set. */
static int differ(const struct bits *b, const bool *has, uint32_t n, uint32_t i, uint64_t *chance)
{
    const uint32_t from[] = {
        0,
        i,
        i + 1,
        n - 1,
        n,
        (n / BITS_WORD + 1) * BITS_WORD,
        n + below(chance, BEYOND),
        below(chance, n),
    };
    int wrong = 0;

    for (size_t k = 0; k < sizeof(from) / sizeof(*from); k++)
        wrong += bits_next(b, from[k]) != slow_next(has, n, from[k]);
    return wrong;
}

/* Numbers come and go; where few are to be there, those that come go soon. */
static void test_set(uint32_t n, bool few)
{
    struct arena a = ARENA_INIT;
    bool has[MOST] = { false };
    uint64_t chance = n;
    uint32_t count = 0;
    struct bits b;
    int wrong = 0, miscounted = 0;

    if (!ok(bits_init(&b, &a, n) == 0, "there is room for the numbers below %d", (int)n))
        return;
    is_int(bits_next(&b, 0), -1, "an empty set of numbers below %d has no member", (int)n);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = below(&chance, n);

        if (few && count > 2)
            i = (uint32_t)slow_next(has, n, 0);
        if (has[i])
            bits_remove(&b, i);
        else
            bits_add(&b, i);
        has[i] = !has[i];
        count = has[i] ? count + 1 : count - 1;
        wrong += differ(&b, has, n, i, &chance);
        miscounted += b.count != count;
    }
    is_int(wrong, 0, "the next member of %s numbers below %d is found as by a look at all",
           few ? "few" : "many", (int)n);
    is_int(miscounted, 0, "%s numbers below %d are counted", few ? "few" : "many", (int)n);
    arena_done(&a);
}

int main(void)
{
    static const uint32_t sizes[] = { 1, 2, 63, 64, 65, 128, 1000, 4095, 4096, 4097, MOST };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (int few = 0; few < 2; few++)
            test_set(sizes[i], few);
    return done();
}
