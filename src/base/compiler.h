/* Compiler attributes and the few macros that the whole tree may rely on. */
#ifndef BRIM_BASE_COMPILER_H
#define BRIM_BASE_COMPILER_H
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each evaluates its arguments twice. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b))) /* as qsort() asks for it */
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define CHECK_RESULT __attribute__((warn_unused_result))
#define EXPORT __attribute__((visibility("default")))

/* Scope-bound ownership: declare an owner as
 *     CLEANUP(freep) char *s = NULL;
 * and hand it out with  *ret = steal(&s);  */
#define CLEANUP(f) __attribute__((cleanup(f)))

/* Define funcp(), the cleanup of a 'type *' that is freed by func(); NULL is skipped. */
#define DEFINE_CLEANUP(type, func) \
    static inline void func##p(type **p) \
    { \
        if (*p) \
            func(*p); \
    }

#define steal(p) \
    ({ \
        __typeof__(*(p)) v_ = *(p); \
        *(p) = NULL; \
        v_; \
    })

/* The same of a descriptor. */
static inline int steal_fd(int *fd)
{
    int was = *fd;

    *fd = -1;
    return was;
}

static inline void freep(void *p)
{
    void **owner = p;

    free(*owner);
}

static inline void closep(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#endif
