/* A stack of our own where the limit is low, and the limit as it was. */
#include "cmd/common/own_stack.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "tap.h"

enum { LITTLE = 96 << 10, MUCH = 1 << 20 };

/* More than the limit allows; the last byte of what was filled. */
static int __attribute__((noinline)) use_much(int value)
{
    volatile char much[MUCH];

    for (size_t i = 0; i < MUCH; i += 1024)
        much[i] = (char)value;
    return much[MUCH - 1024];
}

static void *thread(void *arg)
{
    *(int *)arg = use_much(5);
    return NULL;
}

static int work(int argc, char **argv)
{
    struct rlimit limit = { .rlim_cur = 0 };
    pthread_t id;
    int seen = 0;

    is_str(argv[0], "a", "the words come through");
    is_int(use_much(7), 7, "there is stack for a lot");
    is_int(getrlimit(RLIMIT_STACK, &limit), 0, "the limit can be asked for");
    ok(limit.rlim_cur == LITTLE || argc == 1, "the limit stays as it was");
    is_int(pthread_create(&id, NULL, thread, &seen), 0, "a thread is started");
    is_int(pthread_join(id, NULL), 0, "the thread ends");
    is_int(seen, 5, "a thread has stack for a lot");
    return argc;
}

int main(void)
{
    char a[] = "a", b[] = "b", *argv[] = { a, b, NULL };
    struct rlimit limit, low;

    is_int(own_stack_call(work, 1, argv), 1, "with a usual limit the call returns what it made");
    if (getrlimit(RLIMIT_STACK, &limit) < 0)
        return done();
    low = limit;
    low.rlim_cur = LITTLE;
    is_int(setrlimit(RLIMIT_STACK, &low), 0, "the limit is lowered");
    is_int(own_stack_call(work, 2, argv), 2, "with a low limit the call returns what it made");
    (void)setrlimit(RLIMIT_STACK, &limit);
    return done();
}
