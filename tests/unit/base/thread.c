/* Threads and the conditions that they wait for. */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "tap.h"

enum { MS = 1000000 };

static int64_t now(void)
{
    return clock_monotonic_ns(&clock_system);
}

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ran, blocked;
};

static void *run(void *arg)
{
    struct shared *s = arg;
    sigset_t set;

    pthread_sigmask(SIG_SETMASK, NULL, &set);
    pthread_mutex_lock(&s->lock);
    s->blocked = sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGUSR1) == 1;
    s->ran = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int main(void)
{
    struct shared s = { .ran = false };
    int64_t begin = now();
    pthread_t thread;
    sigset_t set;

    pthread_mutex_init(&s.lock, NULL);
    thread_cond_init(&s.changed);
    pthread_mutex_lock(&s.lock);
    while (thread_wait_until(&s.changed, &s.lock, begin + 20 * MS))
        ;
    ok(now() - begin >= 20 * MS, "thread_wait_until lasts until its time");
    ok(!thread_wait_until(&s.changed, &s.lock, begin),
       "thread_wait_until is false for a time that is over");
    is_int(thread_start(&thread, run, &s), 0, "thread_start starts a thread");
    while (!s.ran && thread_wait_until(&s.changed, &s.lock, begin + 60000LL * MS))
        ;
    ok(s.ran, "the thread ran its function");
    pthread_mutex_unlock(&s.lock);
    pthread_join(thread, NULL);
    ok(s.blocked, "signals are blocked in the thread");
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    is_int(sigismember(&set, SIGTERM), 0, "signals are not blocked in the caller");
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    return done();
}
