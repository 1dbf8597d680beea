/* A clock of the job's own, in place of libc's (libbrim-step is linked in and asks it): it shows
 * what the job slept on purpose, and not how late a busy machine woke it. So what brim makes of the
 * job's steps does not depend on who else uses the machine. */
#ifndef BRIM_TESTS_CLI_OWN_CLOCK_H
#define BRIM_TESTS_CLI_OWN_CLOCK_H
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Begins with the machine's clock, and goes by what own_clock_sleep() was asked for. */
static int64_t own_clock_ns;

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC || !own_clock_ns) {
        syscall(SYS_clock_gettime, id, t);
        if (id == CLOCK_MONOTONIC)
            own_clock_ns = t->tv_sec * 1000000000 + t->tv_nsec;
        return 0;
    }
    *t = (struct timespec){ .tv_sec = own_clock_ns / 1000000000,
                            .tv_nsec = own_clock_ns % 1000000000 };
    return 0;
}

static inline void own_clock_sleep(int64_t us)
{
    struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

    if (us <= 0)
        return;
    nanosleep(&t, NULL);
    own_clock_ns += us * 1000;
}

#endif
