#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"

int thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(ret, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

unsigned thread_cpus(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
}

void thread_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

bool thread_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ns)
{
    const struct timespec at = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

    return pthread_cond_timedwait(cond, lock, &at) != ETIMEDOUT;
}
