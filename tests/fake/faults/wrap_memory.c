/* What takes memory: the five functions of base/arena.h as well, whose chunks are rarely full. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "faults.h"

#define WRAP(name, params, args) \
    void *__real_##name params; \
    void *__wrap_##name params; \
    void *__wrap_##name params \
    { \
        return fault_now(#name, FAULT_CALLER) ? NULL : __real_##name args; \
    }

WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t n, size_t size), (n, size))
WRAP(realloc, (void *old, size_t size), (old, size))
WRAP(reallocarray, (void *old, size_t n, size_t size), (old, n, size))
WRAP(arena_alloc, (struct arena * a, size_t size), (a, size))
WRAP(arena_strdup, (struct arena * a, const char *text), (a, text))
WRAP(arena_strndup, (struct arena * a, const char *text, size_t n), (a, text, n))
WRAP(arena_push, (struct arena * a, void **array, size_t *count, size_t size),
     (a, array, count, size))

char *__wrap_arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);

char *__wrap_arena_printf(struct arena *a, const char *fmt, ...)
{
    char *text = NULL, *ret = NULL;
    va_list ap;

    if (fault_now("arena_printf", FAULT_CALLER))
        return NULL;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) >= 0)
        ret = __real_arena_strdup(a, text);
    va_end(ap);
    free(text);
    return ret;
}
