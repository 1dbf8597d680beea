/* Work that may never return. */
#include "probe/thread/watch.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "oom.h"
#include "tap.h"

enum { MS = 1000000, S = 1000000000 };

static sem_t resume, resumed;

static void sleep_ms(long ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS };

    nanosleep(&t, NULL);
}

static int succeed(void *result, struct watch_where *where, struct err *e)
{
    int *number = result;

    (void)e;
    watch_at(where, "an easy call", 0);
    *number += 42;
    return 7;
}

static int fail(void *result, struct watch_where *where, struct err *e)
{
    (void)result;
    (void)where;
    return err_set(e, -EIO, "it broke");
}

/* Longer than the patience in all, but never without a sign of life. */
static int crawl(void *result, struct watch_where *where, struct err *e)
{
    (void)e;
    for (int i = 0; i < 20; i++) {
        watch_at(where, "a slow call", i);
        sleep_ms(30);
    }
    return succeed(result, NULL, NULL);
}

static int hang(void *result, struct watch_where *where, struct err *e)
{
    (void)result;
    (void)e;
    watch_at(where, "thing_get", 3);
    while (true)
        sleep_ms(1000);
    return 0;
}

static int hang_at_start(void *result, struct watch_where *where, struct err *e)
{
    watch_at(where, "thing_init", -1);
    return hang(result, NULL, e);
}

/* Comes back when nobody waits any more. */
static int come_back(void *result, struct watch_where *where, struct err *e)
{
    int *number = result;

    watch_at(where, "thing_get", 3);
    sem_wait(&resume);
    *number = 1;
    sem_post(&resumed);
    return err_set(e, -EIO, "too late");
}

static int run(int (*fn)(void *, struct watch_where *, struct err *), int64_t patience_ns,
               int *number, struct err *e)
{
    struct watch_work work = { fn, sizeof(int), "thing", "shake it" };
    CLEANUP(freep) void *result = NULL;
    int rc = watch_run(&work, patience_ns, &result, e);

    if (result)
        *number = *(int *)result;
    return rc;
}

static void check_ends(void)
{
    struct err e = { "" };
    int number = 0;

    is_int(run(succeed, S, &number, &e), 7, "watch_run returns what the work returned");
    is_int(number, 42, "the result was zero before the work");
    number = 0;
    is_int(run(succeed, 0, &number, &e), 7,
           "watch_run without a limit returns what the work returned");
    is_int(number, 42, "watch_run without a limit has the result");
    number = 0;
    is_int(run(fail, S, &number, &e), -EIO, "watch_run returns the error of the work");
    is_str(e.text, "it broke", "watch_run has the sentence of the work");
    is_int(number, 0, "watch_run has no result on an error");
    is_int(run(fail, S, &number, NULL), -EIO, "watch_run needs no struct err");
}

static void check_progress(void)
{
    struct err e = { "" };
    int number = 0;

    is_int(run(crawl, 300 * MS, &number, &e), 7, "signs of life renew the deadline: %s", e.text);
    is_int(number, 42, "work with signs of life has its result");
}

static void check_hang(void)
{
    struct err e = { "" };
    int number = 0;

    is_int(run(hang, 50 * MS, &number, &e), -ETIMEDOUT, "watch_run gives up on a call that hangs");
    is_str(e.text, "thing_get of thing 3 has not answered for 0.05 s: shake it",
           "the error names the call, the device and the way out");
    is_int(run(hang_at_start, 50 * MS, &number, &e), -ETIMEDOUT,
           "watch_run gives up on a call without a device");
    is_str(e.text, "thing_init has not answered for 0.05 s: shake it",
           "the error names the call without a device");
    is_int(number, 0, "watch_run has no result of a call that hangs");
}

/* Nothing may be freed under the thread, or twice: for the sanitizers and valgrind to see. */
static void check_late(void)
{
    struct err e = { "" };
    int number = 0;

    sem_init(&resume, 0, 0);
    sem_init(&resumed, 0, 0);
    is_int(run(come_back, 50 * MS, &number, &e), -ETIMEDOUT,
           "watch_run gives up on a call that comes late");
    sem_post(&resume);
    sem_wait(&resumed);
    sleep_ms(50);
    is_int(number, 0, "a result that comes late is not seen");
}

static void check_oom(void)
{
    bool failed;

    do {
        int number = 0, rc;

        oom_next();
        rc = run(succeed, S, &number, NULL);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 7, "watch_run returns -ENOMEM where allocation %d fails",
               oom_at);
    } while (failed);
}

/* Two programs in one, since the second leaves threads behind. */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hangs") == 0) {
        check_hang();
        return done();
    }
    check_ends();
    check_progress();
    check_late();
    check_oom();
    return done();
}
