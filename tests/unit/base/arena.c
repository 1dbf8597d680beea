#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>

enum { FENCE = _Alignof(max_align_t) };

static bool is_open(const void *at)
{
    return !__asan_address_is_poisoned(at);
}

/* What was asked for may be touched, what lies behind it may not. */
static void test_fences(void)
{
    struct arena a = ARENA_INIT;
    char *text = arena_strdup(&a, "four"), *next = arena_alloc(&a, 16);
    char *large = arena_alloc(&a, 1 << 20);
    int *list = NULL, *one = NULL;
    size_t n = 0;

    ok(text && is_open(text + 4) && !is_open(text + 5), "a text ends behind its NUL");
    ok(next && is_open(next + 15) && !is_open(next + 16), "16 bytes have an end");
    ok(large && is_open(large + (1 << 20) - 1) && !is_open(large + (1 << 20)),
       "a chunk of its own has an end");
    for (int i = 0; i < 9; i++)
        one = ARENA_PUSH(&a, &list, &n);
    ok(one && is_open(one) && !is_open(one + 1), "a list ends behind its last element");
    arena_done(&a);
}
#else
enum { FENCE = 0 };

static void test_fences(void)
{
}
#endif

static bool is_zero(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static void test_alloc(void)
{
    struct arena a = ARENA_INIT;
    bool aligned = true, zero = true;
    char *first, *second;

    for (size_t size = 0; size < 300; size++) {
        char *p = arena_alloc(&a, size);

        aligned = aligned && p && (uintptr_t)p % _Alignof(max_align_t) == 0;
        zero = zero && p && is_zero(p, size);
        if (p)
            memset(p, 0xff, size);
    }
    ok(aligned, "allocations of 0 to 299 bytes are aligned for any type");
    ok(zero, "arena_alloc zeroes allocations of 0 to 299 bytes");

    first = arena_alloc(&a, 0);
    second = arena_alloc(&a, 0);
    ok(first && second && first != second, "allocations of nothing are distinct");
    arena_done(&a);
    ok(!a.chunks && !a.next && a.left == 0 && a.total == 0, "done leaves an arena as at first");
    first = arena_alloc(&a, 1);
    ok(first != NULL, "an arena can be used again after done");
    arena_done(&a);
    arena_done(&a);
    ok(true, "done twice does no harm");
}

static void test_chunks(void)
{
    struct arena a = ARENA_INIT;
    char *small, *large, *next;
    size_t before;

    small = arena_alloc(&a, 16);
    ok(small && a.total >= 16 << 10, "the first chunk has 16 KiB");
    ok(a.total < 17 << 10, "the first chunk has no more than 16 KiB and its header: %zu bytes",
       a.total);
    before = a.total;
    large = arena_alloc(&a, 1 << 20);
    ok(large && is_zero(large, 1 << 20), "a large allocation is zeroed");
    ok(a.total - before < (1 << 20) + 64, "a large allocation has a chunk of its own size");
    next = arena_alloc(&a, 16);
    ok(next >= small + 16 && next <= small + 64, "the newest chunk stays in use");

    before = a.total;
    for (int i = 0; i < 16; i++)
        next = arena_alloc(&a, 1024);
    ok(next && a.total - before >= 32 << 10 && a.total - before < 33 << 10,
       "the second chunk is twice the first");
    ok(a.total >= a.left, "the total counts the chunks");
    arena_done(&a);

    large = arena_alloc(&a, 1 << 20);
    next = arena_alloc(&a, 1);
    ok(large && next && a.total < (1 << 20) + (17 << 10),
       "a large allocation at first does not make the later chunks large");
    arena_done(&a);
}

/* A quarter of a chunk shares it, more than that is alone; a chunk is filled to its end. */
static void test_quarters(void)
{
    const size_t quarter = (4 << 10) - FENCE;
    struct arena a = ARENA_INIT;
    void *p = arena_alloc(&a, quarter + 1);

    ok(p && a.total < 5 << 10, "more than a quarter of a chunk is alone");
    arena_done(&a);
    p = arena_alloc(&a, quarter);
    ok(p && a.total >= 16 << 10, "a quarter of a chunk shares it");
    for (int i = 0; i < 3; i++)
        p = arena_alloc(&a, quarter);
    ok(p && a.total < 17 << 10 && a.left == 0, "four quarters fill a chunk");
    p = arena_alloc(&a, 1);
    ok(p && a.total >= 48 << 10, "a chunk that is full has one behind it");
    arena_done(&a);
}

static void test_too_large(void)
{
    struct arena a = ARENA_INIT;
    char *items = NULL;
    size_t count = 0;
    void *p = arena_alloc(&a, SIZE_MAX);

    ok(!p, "SIZE_MAX bytes are not to be had");
    p = arena_alloc(&a, SIZE_MAX - 16);
    ok(!p, "arena_alloc refuses sizes where the sum with a header would overflow");
    ok(a.total == 0, "a refused allocation takes nothing from the system");
    p = arena_push(&a, (void **)&items, &count, SIZE_MAX / 4);
    ok(!p && !items && count == 0, "an array too large leaves array and count alone");
    arena_done(&a);
}

static void test_strings(void)
{
    struct arena a = ARENA_INIT;
    char unterminated[3] = { 'a', 'b', 'c' };
    char *text;

    text = arena_strdup(&a, "four");
    is_str(text, "four", "arena_strdup copies a text");
    text = arena_strdup(&a, "");
    is_str(text, "", "strdup of nothing is an empty text");
    text = arena_strndup(&a, "four", 2);
    is_str(text, "fo", "arena_strndup stops at n");
    text = arena_strndup(&a, "four", SIZE_MAX);
    is_str(text, "four", "arena_strndup stops at the NUL");
    text = arena_strndup(&a, unterminated, sizeof(unterminated));
    is_str(text, "abc", "arena_strndup does not read behind n");
    text = arena_printf(&a, "%s-%d", "n", 7);
    is_str(text, "n-7", "arena_printf formats a text and a number");
    text = arena_printf(&a, "%s", "");
    is_str(text, "", "arena_printf of nothing is an empty text");
    text = arena_printf(&a, "%*d", 100000, 1);
    ok(text && strlen(text) == 100000, "arena_printf writes 100,000 characters");
    arena_done(&a);
}

static void test_push(void)
{
    struct pair {
        int64_t a;
        char b;
    } *pairs = NULL, *new;
    struct arena a = ARENA_INIT;
    size_t count = 0;
    bool zero = true, kept = true, last = true;

    for (int i = 0; i < 1000; i++) {
        new = ARENA_PUSH(&a, &pairs, &count);
        last = new &&new == &pairs[i] && count == (size_t)i + 1;
        if (!last)
            break;
        zero = zero && new->a == 0 && new->b == 0;
        new->a = i;
        new->b = 'x';
    }
    for (int i = 0; i < (int)count; i++)
        kept = kept && pairs[i].a == i && pairs[i].b == 'x';
    ok(last, "a new element is the last one");
    ok(zero, "ARENA_PUSH zeroes each new element");
    ok(kept && count == 1000, "ARENA_PUSH keeps elements while the array moves");

    count -= 3;
    new = ARENA_PUSH(&a, &pairs, &count);
    ok(new == &pairs[997] && new->a == 0 && new->b == 0, "an element in a dropped place is zeroed");
    ok(a.total < 8000 * sizeof(*pairs), "the arena holds a few times the array at most");
    arena_done(&a);
}

int main(void)
{
    test_fences();
    test_alloc();
    test_chunks();
    test_quarters();
    test_too_large();
    test_strings();
    test_push();
    return done();
}
