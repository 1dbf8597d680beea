/* Memory for things that die together: allocate, never free one by one, free all at the end.
 *
 *     struct arena a = ARENA_INIT;
 *     char *name = arena_strdup(&a, text);      NULL when out of memory
 *     arena_done(&a);
 */
#ifndef BRIM_BASE_ARENA_H
#define BRIM_BASE_ARENA_H
#include <stddef.h>

#include "base/compiler.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    char *next; /* free room in the newest chunk */
    size_t left;
    size_t total; /* bytes taken from the system, for budgets and tests */
};

#define ARENA_INIT \
    { \
        0 \
    }

void arena_done(struct arena *a);

/* gcc -fanalyzer takes for NULL, where nobody looked, what a function of its own frees. There is no
 * such function here: this one is named for that, and defined nowhere. */
void arena_frees(void *p);
#if defined(__GNUC__) && !defined(__clang__)
#define ARENA_OWNED __attribute__((malloc(arena_frees, 1)))
#else
#define ARENA_OWNED
#endif

/* Zeroed, aligned for any type, also of no bytes; NULL when out of memory. Valid until
 * arena_done(). */
void *arena_alloc(struct arena *a, size_t size) CHECK_RESULT ARENA_OWNED;

char *arena_strdup(struct arena *a, const char *text) CHECK_RESULT ARENA_OWNED;
char *arena_strndup(struct arena *a, const char *text, size_t n) CHECK_RESULT ARENA_OWNED;
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3) CHECK_RESULT ARENA_OWNED;

/* Append one zeroed element to the array at *array (NULL at first) that holds *count elements of
 * size bytes: it grows by doubling, inside the arena. Returns the new element, NULL when out of
 * memory (array and count are then unchanged). Use through ARENA_PUSH. */
void *arena_push(struct arena *a, void **array, size_t *count, size_t size)
    CHECK_RESULT ARENA_OWNED;
#define ARENA_PUSH(a, array, count) \
    ((__typeof__(*(array)))arena_push((a), (void **)(array), (count), sizeof(**(array))))

#endif
