#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 16 << 10, FIRST_ELEMENTS = 8, ALIGNMENT = _Alignof(max_align_t) };

/* To ASan a chunk is one piece of memory. What nobody asked for is fenced off, so that it sees who
 * goes beyond an array or a text. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FENCED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(FENCED)
#include <sanitizer/asan_interface.h>

enum { FENCE = ALIGNMENT };

static void fence(void *at, size_t size)
{
    ASAN_POISON_MEMORY_REGION(at, size);
}

static void unfence(void *at, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(at, size);
}
#else
enum { FENCE = 0 };

static void fence(void *at, size_t size)
{
    (void)at;
    (void)size;
}

static void unfence(void *at, size_t size)
{
    (void)at;
    (void)size;
}
#endif

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* bytes of data; 0 in the chunk of one large allocation */
    max_align_t data[];
};

static struct arena_chunk *take_chunk(struct arena *a, size_t size)
{
    struct arena_chunk *chunk;
    size_t bytes;

    if (__builtin_add_overflow(sizeof(*chunk), size, &bytes))
        return NULL;
    chunk = calloc(1, bytes);
    if (!chunk)
        return NULL;
    a->total += bytes;
    fence(chunk->data, size);
    return chunk;
}

/* A chunk for one large allocation goes behind the newest one, whose room stays in use. */
static char *alloc_alone(struct arena *a, size_t size)
{
    struct arena_chunk *chunk = take_chunk(a, size);

    if (!chunk)
        return NULL;
    if (a->chunks) {
        chunk->older = a->chunks->older;
        a->chunks->older = chunk;
    } else {
        a->chunks = chunk;
    }
    return (char *)chunk->data;
}

void arena_done(struct arena *a)
{
    while (a->chunks) {
        struct arena_chunk *chunk = a->chunks;

        a->chunks = chunk->older;
        free(chunk);
    }
    *a = (struct arena)ARENA_INIT;
}

/* Some bytes, a multiple of the alignment. */
static char *take(struct arena *a, size_t size)
{
    size_t chunk_size = a->chunks ? MAX(2 * a->chunks->size, (size_t)FIRST_CHUNK) : FIRST_CHUNK;
    char *ret;

    if (size > a->left) {
        struct arena_chunk *chunk;

        if (size > chunk_size / 4)
            return alloc_alone(a, size);
        chunk = take_chunk(a, chunk_size);
        if (!chunk)
            return NULL;
        chunk->size = chunk_size;
        chunk->older = a->chunks;
        a->chunks = chunk;
        a->next = (char *)chunk->data;
        a->left = chunk_size;
    }
    ret = a->next;
    a->next += size;
    a->left -= size;
    return ret;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t whole;
    char *ret;

    if (size > SIZE_MAX - ALIGNMENT - FENCE)
        return NULL;
    whole = MAX((size + ALIGNMENT - 1) / ALIGNMENT, (size_t)1) * ALIGNMENT + FENCE;
    ret = take(a, whole);
    if (ret)
        unfence(ret, size);
    return ret;
}

char *arena_strdup(struct arena *a, const char *text)
{
    return arena_strndup(a, text, strlen(text));
}

char *arena_strndup(struct arena *a, const char *text, size_t n)
{
    size_t len = strnlen(text, n);
    char *copy = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

    if (copy)
        memcpy(copy, text, len);
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *text;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    text = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return text;
}

/* The room of an array follows from its count: FIRST_ELEMENTS, then the next power of two. */
static bool is_full(size_t count)
{
    return count == 0 || (count >= FIRST_ELEMENTS && (count & (count - 1)) == 0);
}

void *arena_push(struct arena *a, void **array, size_t *count, size_t size)
{
    size_t room = MAX(2 * *count, (size_t)FIRST_ELEMENTS);
    char *elements, *grown;

    /* *array is some other type of pointer to the caller, so it is read and written by memcpy */
    memcpy(&elements, array, sizeof(elements));
    if (!is_full(*count)) {
        elements += (*count)++ * size;
        unfence(elements, size);
        return memset(elements, 0, size); /* the caller may have dropped an element */
    }
    if (room > SIZE_MAX / 2 / size)
        return NULL;
    grown = arena_alloc(a, room * size);
    if (!grown)
        return NULL;
    if (*count > 0)
        memcpy(grown, elements, *count * size);
    memcpy(array, &grown, sizeof(grown));
    elements = grown + (*count)++ * size;
    fence(elements + size, (room - *count) * size);
    return elements;
}
