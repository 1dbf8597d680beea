/* Make the n-th allocation fail. Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc; then
 *
 *     do {
 *         oom_next();
 *         rc = thing_open(&thing);
 *         failed = oom_end();
 *         ok(failed ? rc == -ENOMEM : rc == 0, "it fails with allocation %d", oom_at);
 *         thing_close(thing);
 *     } while (failed);
 *
 * walks every allocation of thing_open() through its failure, and ends with the round in which
 * none failed; a sanitizer or valgrind sees what leaked. Allocations inside libc (strdup, fopen)
 * are not seen: src does without them. */
#ifndef BRIM_TESTS_OOM_H
#define BRIM_TESTS_OOM_H
#include <stdbool.h>
#include <stdlib.h>

static int oom_at, oom_count; /* the allocation that fails, those made so far */
static bool oom_armed;

/* The linker's names for the real functions and for those that stand in. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool oom_now(void)
{
    return oom_armed && ++oom_count == oom_at;
}

void *__wrap_malloc(size_t size)
{
    return oom_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return oom_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return oom_now() ? NULL : __real_realloc(old, size);
}

/* Start a walk from the first allocation. */
static inline void oom_restart(void)
{
    oom_at = 0;
}

/* Start a round: one allocation later than in the last one. */
static inline void oom_next(void)
{
    oom_at++;
    oom_count = 0;
    oom_armed = true;
}

/* End a round; whether an allocation failed in it. */
static inline bool oom_end(void)
{
    oom_armed = false;
    return oom_count >= oom_at;
}

#endif
