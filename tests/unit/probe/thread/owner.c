/* The thread that owns a driver. The build runs this with "hangs" for what leaves a thread behind,
 * which valgrind would count as a leak. */
#include "probe/thread/owner.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "oom.h"
#include "tap.h"

enum { MS = 1000000, LONG = 1000000000 };

/* A driver whose calls wait until the test lets them through. */
struct driver {
    sem_t entered, go, gone;
    atomic_int gated; /* reads wait for go */
    atomic_int fails;
    atomic_int naps; /* calls of 40 ms before a reading */
    int count;
    atomic_bool freed;
};

struct reading {
    int count, before;
};

static int64_t now(void)
{
    return clock_monotonic_ns(&clock_system);
}

static int drive(void *state, struct watch_where *where, void *out, struct err *e)
{
    struct driver *d = state;
    struct reading *r = out;
    const struct timespec nap = { .tv_nsec = 40 * MS };

    for (int i = 0; i < atomic_load(&d->naps); i++) {
        watch_at(where, "thing_nap", 2);
        nanosleep(&nap, NULL);
    }
    r->before = r->count;
    if (atomic_load(&d->gated)) {
        watch_at(where, "thing_get", 3);
        sem_post(&d->entered);
        sem_wait(&d->go);
    }
    r->count = ++d->count;
    return atomic_load(&d->fails) ? err_set(e, -EIO, "it broke") : 0;
}

static void forget(void *state)
{
    struct driver *d = state;

    atomic_store(&d->freed, true);
    sem_post(&d->gone);
}

static const struct owner_work work = { drive,   forget,  sizeof(struct reading),
                                        "thing", "thing", "shake it" };

static void driver_init(struct driver *d, bool gated)
{
    *d = (struct driver){ .count = 0 };
    sem_init(&d->entered, 0, 0);
    sem_init(&d->go, 0, 0);
    sem_init(&d->gone, 0, 0);
    atomic_store(&d->gated, gated);
}

/* Ask until the reading of that number is there. */
static int newest(struct owner *o, int count, struct reading *r, struct err *e)
{
    const struct timespec nap = { .tv_nsec = MS };
    int rc = 0;

    for (int i = 0; i < 5000; i++) {
        rc = owner_newest(o, r, e);
        if (rc < 0 || (rc > 0 && r->count >= count))
            break;
        owner_ask(o);
        nanosleep(&nap, NULL);
    }
    return rc;
}

static void check_readings(void)
{
    struct owner *o = NULL;
    struct owner_stuck stuck;
    struct reading r = { 0, 0 };
    struct err e = { "" };
    struct driver d;

    driver_init(&d, true);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    sem_wait(&d.entered);
    is_int(owner_newest(o, &r, &e), 0, "no reading yet");
    ok(!owner_wait(o, 2 * MS), "and none comes in a while");
    atomic_store(&d.gated, false);
    sem_post(&d.go);
    ok(owner_wait(o, LONG), "the first one is made without being asked for");
    is_int(owner_newest(o, &r, &e), 1, "it is there");
    is_int(r.count, 1, "the first");
    is_int(owner_newest(o, &r, &e), 1, "and stays");
    is_int(newest(o, 2, &r, &e), 1, "the next one");
    is_int(r.count, 2, "the second");
    is_int(r.before, 1, "a reading starts from the last one");
    atomic_store(&d.fails, true);
    is_int(newest(o, 1 << 30, &r, &e), -EIO, "a reading that fails");
    is_str(e.text, "it broke", "its sentence");
    is_int(owner_newest(o, &r, NULL), -EIO, "without anyone to tell");
    ok(owner_wait(o, 0), "that is a finished one, too");
    atomic_store(&d.fails, false);
    ok(!owner_hung(o, 1, &stuck), "an idle thread does not hang");
    owner_stop(o);
    ok(atomic_load(&d.freed), "it ends when it is told to");
}

static bool hangs(struct owner *o, struct tick *t, bool want)
{
    const struct timespec nap = { .tv_nsec = MS };

    for (int i = 0; i < 5000; i++) {
        tick_begin(t, 0, 0);
        if (owner_report(o, t, 20 * MS) == want)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

static void check_hang(void)
{
    struct owner *o = NULL;
    struct owner_stuck stuck;
    struct reading r = { 0, 0 };
    struct tick t = { .n_rows = 0 };
    struct err e = { "" };
    struct driver d;

    driver_init(&d, true);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    sem_wait(&d.entered);
    ok(!owner_hung(o, LONG * (int64_t)60, &stuck), "patience");
    ok(!owner_hung(o, 0, &stuck), "without end");
    ok(hangs(o, &t, true), "a call hangs");
    is_int(t.n_events, 1, "an event");
    is_str(t.events[0].kind, "probe", "its kind");
    is_str(t.events[0].thing, "thing3", "its thing");
    is_str(t.events[0].action, "shake it", "its way out");
    ok(strstr(t.events[0].text, "thing_get of thing 3 has not answered for 0.") == t.events[0].text,
       "%s", t.events[0].text);
    ok(!t.events[0].over, "it begins");
    ok(owner_hung(o, 20 * MS, &stuck), "it still hangs");
    is_str(stuck.call, "thing_get", "which call");
    is_int(stuck.device, 3, "of which device");
    ok(stuck.ns >= 20 * MS, "for how long");
    tick_begin(&t, 0, 0);
    ok(owner_report(o, &t, 20 * MS), "it still hangs");
    is_int(t.n_events, 0, "is told once");
    owner_ask(o);
    atomic_store(&d.gated, false);
    sem_post(&d.go);
    ok(hangs(o, &t, false), "it answers");
    is_int(t.n_events, 1, "an event");
    ok(t.events[0].over, "it is over");
    is_str(t.events[0].thing, "thing3", "its thing");
    is_str(t.events[0].text, "the driver of the things answers again", "its sentence");
    tick_begin(&t, 0, 0);
    ok(!owner_report(o, &t, 20 * MS) && t.n_events == 0, "is told once");
    is_int(newest(o, 2, &r, &e), 1, "it goes on");
    owner_stop(o);
    tick_done(&t);
}

static bool gets_late(struct owner *o, bool want)
{
    const struct timespec nap = { .tv_nsec = MS };

    for (int i = 0; i < 5000; i++) {
        if (owner_late(o, 100 * MS) == want)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

/* Calls that answer, of which there are many. */
static void check_late(void)
{
    const struct timespec nap = { .tv_nsec = 20 * MS }, idle = { .tv_nsec = 200 * MS };
    struct owner *o = NULL;
    struct reading r = { 0, 0 };
    struct err e = { "" };
    struct driver d;

    driver_init(&d, false);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    is_int(newest(o, 1, &r, &e), 1, "a reading");
    ok(gets_late(o, false), "in time");
    atomic_store(&d.naps, 10);
    owner_ask(o);
    ok(gets_late(o, true), "late");
    ok(!owner_late(o, LONG * (int64_t)60), "patience");
    ok(!owner_late(o, 0), "without end");
    ok(gets_late(o, false), "not when it has come");
    atomic_store(&d.naps, 5);
    owner_ask(o);
    nanosleep(&nap, NULL);
    owner_stop(o);
    ok(atomic_load(&d.freed), "stopping waits for calls that answer");
    atomic_store(&d.freed, false);
    atomic_store(&d.naps, 0);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    ok(owner_wait(o, LONG), "a reading");
    nanosleep(&idle, NULL);
    owner_stop(o);
    ok(atomic_load(&d.freed), "and for a thread that has been idle");
}

/* A reading of 4 s. */
static void check_stop_slow(void)
{
    struct owner *o = NULL;
    struct err e = { "" };
    struct driver d;
    int64_t begin = now();

    driver_init(&d, false);
    atomic_store(&d.naps, 100);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    ok(!owner_wait(o, 20 * MS), "and is slow");
    owner_stop(o);
    ok(now() - begin < 3 * (int64_t)LONG, "stopping does not wait for all calls");
    sem_wait(&d.gone);
    ok(atomic_load(&d.freed), "the thread comes to its end");
}

/* Nothing may be freed under the thread, or twice: for the sanitizers to see. */
static void check_stop(void)
{
    const struct timespec nap = { .tv_nsec = 50 * MS };
    struct owner *o = NULL;
    struct err e = { "" };
    struct driver d;
    int64_t begin;

    driver_init(&d, true);
    is_int(owner_start(&o, &work, &d, &e), 0, "it starts");
    sem_wait(&d.entered);
    begin = now();
    owner_stop(o);
    ok(now() - begin < LONG, "stopping does not wait for a call");
    ok(!atomic_load(&d.freed), "which has its state still");
    sem_post(&d.go);
    sem_wait(&d.gone);
    ok(atomic_load(&d.freed), "and frees it when it returns");
    nanosleep(&nap, NULL); /* for the thread to end, too */
    owner_stop(NULL);
}

static void check_oom(void)
{
    struct driver d;
    bool failed;

    driver_init(&d, false);
    do {
        struct owner *o = NULL;
        int rc;

        oom_next();
        rc = owner_start(&o, &work, &d, NULL);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "allocation %d", oom_at);
        ok(!o == failed, "and nothing is returned then");
        if (o && !owner_wait(o, LONG))
            ok(false, "a reading");
        owner_stop(o);
    } while (failed);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hangs") == 0) {
        check_stop_slow();
        check_stop();
        return done();
    }
    check_readings();
    check_hang();
    check_late();
    check_oom();
    return done();
}
