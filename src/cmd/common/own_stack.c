#include "cmd/common/own_stack.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { LEAST = 2 << 20, GUARD = 64 << 10 };

struct call {
    own_stack_fn *fn;
    int argc, rc;
    char **argv;
    ucontext_t here, there;
};

/* makecontext() hands on numbers of int's size: two of them are where the call lies. */
static void begin(unsigned high, unsigned low)
{
    struct call *c = (struct call *)(uintptr_t)((uint64_t)high << 32 | low); // NOLINT

    c->rc = c->fn(c->argc, c->argv);
}

static void allow_threads(void)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0)
        return;
    if (pthread_attr_setstacksize(&attr, LEAST) == 0)
        (void)pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

int own_stack_call(own_stack_fn *fn, int argc, char **argv)
{
    struct call c = { .fn = fn, .argc = argc, .argv = argv };
    uint64_t at = (uintptr_t)&c;
    struct rlimit limit;
    char *stack;

    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= LEAST)
        return fn(argc, argv);
    stack = mmap(NULL, GUARD + LEAST, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return fn(argc, argv);
    (void)mprotect(stack, GUARD, PROT_NONE);
    allow_threads();
    c.rc = -1;
    if (getcontext(&c.there) == 0) {
        c.there.uc_stack = (stack_t){ .ss_sp = stack + GUARD, .ss_size = LEAST };
        c.there.uc_link = &c.here;
        makecontext(&c.there, (void (*)(void))begin, 2, (unsigned)(at >> 32), (unsigned)at);
        c.rc = swapcontext(&c.here, &c.there) < 0 ? fn(argc, argv) : c.rc;
    }
    munmap(stack, GUARD + LEAST);
    return c.rc;
}
