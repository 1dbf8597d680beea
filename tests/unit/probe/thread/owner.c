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
    int device; /* that a gated read is about */
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
        watch_at(where, "thing_get", d->device);
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
    *d = (struct driver){ .device = 3 };
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
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread");
    sem_wait(&d.entered);
    is_int(owner_newest(o, &r, &e), 0, "owner_newest is 0 before the first reading");
    ok(!owner_wait(o, 2 * MS), "owner_wait ends without a reading");
    atomic_store(&d.gated, false);
    sem_post(&d.go);
    ok(owner_wait(o, LONG), "the first reading is made without being asked for");
    is_int(owner_newest(o, &r, &e), 1, "owner_newest has the first reading");
    is_int(r.count, 1, "the first reading has number 1");
    is_int(owner_newest(o, &r, &e), 1, "owner_newest still has the first reading");
    is_int(newest(o, 2, &r, &e), 1, "owner_newest has a reading that was asked for");
    is_int(r.count, 2, "the reading asked for has number 2");
    is_int(r.before, 1, "a reading starts from the last one");
    atomic_store(&d.fails, true);
    is_int(newest(o, 1 << 30, &r, &e), -EIO,
           "owner_newest returns the error of a reading that fails");
    is_str(e.text, "it broke", "owner_newest has the sentence of a reading that fails");
    is_int(owner_newest(o, &r, NULL), -EIO, "owner_newest needs no struct err");
    ok(owner_wait(o, 0), "a reading that failed counts as finished");
    atomic_store(&d.fails, false);
    ok(!owner_hung(o, 1, &stuck), "an idle thread does not hang");
    owner_stop(o);
    ok(atomic_load(&d.freed), "owner_stop frees the state of an idle thread");
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
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread that will hang");
    sem_wait(&d.entered);
    ok(!owner_hung(o, LONG * (int64_t)60, &stuck), "a call does not hang within the patience");
    ok(!owner_hung(o, 0, &stuck), "a call never hangs where the patience has no end");
    ok(hangs(o, &t, true), "a call that does not answer hangs");
    is_int(t.n_events, 1, "a call that hangs makes one event");
    is_str(t.events[0].kind, "probe", "the event is of kind probe");
    is_str(t.events[0].thing, "thing3", "the event names the device");
    is_str(t.events[0].action, "shake it", "the event has the way out");
    ok(strstr(t.events[0].text, "thing_get of thing 3 has not answered for 0.") == t.events[0].text,
       "the event names the call: %s", t.events[0].text);
    ok(!t.events[0].over, "the event of a call that hangs begins");
    ok(owner_hung(o, 20 * MS, &stuck), "owner_hung knows that the call still hangs");
    is_str(stuck.call, "thing_get", "owner_hung names the call");
    is_int(stuck.device, 3, "owner_hung names the device");
    ok(stuck.ns >= 20 * MS, "owner_hung knows how long the call hangs");
    tick_begin(&t, 0, 0);
    ok(owner_report(o, &t, 20 * MS), "owner_report knows that the call still hangs");
    is_int(t.n_events, 0, "a call that still hangs is told once");
    owner_ask(o);
    atomic_store(&d.gated, false);
    sem_post(&d.go);
    ok(hangs(o, &t, false), "a call that answers does not hang");
    is_int(t.n_events, 1, "a call that answers makes one event");
    ok(t.events[0].over, "the event of a call that answers ends the other");
    is_str(t.events[0].thing, "thing3", "the event of a call that answers names the device");
    is_str(t.events[0].text, "the driver of the things answers again",
           "the event of a call that answers has its sentence");
    tick_begin(&t, 0, 0);
    ok(!owner_report(o, &t, 20 * MS) && t.n_events == 0, "a call that answers is told once");
    is_int(newest(o, 2, &r, &e), 1, "readings go on after a call that hung");
    owner_stop(o);
    tick_done(&t);
}

/* Ask for a report in a tick that has no room for an event, until the call hangs. */
static bool hangs_in_full_tick(struct owner *o, struct tick *t)
{
    const struct timespec nap = { .tv_nsec = MS };

    for (int i = 0; i < 5000; i++) {
        tick_begin(t, 0, 0);
        while (tick_event(t, "test", SEVERITY_NOTE, -1))
            ;
        if (owner_report(o, t, 20 * MS))
            return !strcmp(t->events[t->n_events - 1].kind, "test");
        nanosleep(&nap, NULL);
    }
    return false;
}

/* The first device has a number like any other; a call may be about none. */
static void check_devices(void)
{
    static const struct {
        int device;
        const char *thing, *text;
    } cases[] = {
        { 0, "thing0", "thing_get of thing 0 has not answered for 0." },
        { -1, "", "thing_get has not answered for 0." },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct owner *o = NULL;
        struct tick t = { .n_rows = 0 };
        struct err e = { "" };
        struct driver d;

        driver_init(&d, true);
        d.device = cases[i].device;
        is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread about device %d",
               d.device);
        sem_wait(&d.entered);
        ok(hangs_in_full_tick(o, &t), "a tick without room tells nothing of device %d", d.device);
        ok(hangs(o, &t, true), "a call about device %d hangs", d.device);
        is_str(t.events[0].thing, cases[i].thing, "the event about device %d names it", d.device);
        ok(strstr(t.events[0].text, cases[i].text) == t.events[0].text,
           "the event about device %d has its sentence: %s", d.device, t.events[0].text);
        atomic_store(&d.gated, false);
        sem_post(&d.go);
        ok(hangs(o, &t, false), "a call about device %d answers", d.device);
        is_str(t.events[0].thing, cases[i].thing, "the end of the event is about device %d",
               d.device);
        owner_stop(o);
        tick_done(&t);
    }
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
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread that will be late");
    is_int(newest(o, 1, &r, &e), 1, "owner_newest has a first reading");
    ok(gets_late(o, false), "a reading that has come is in time");
    atomic_store(&d.naps, 10);
    owner_ask(o);
    ok(gets_late(o, true), "a reading of many calls is late");
    ok(!owner_late(o, LONG * (int64_t)60), "a reading is not late within the patience");
    ok(!owner_late(o, 0), "a reading is never late where the patience has no end");
    ok(gets_late(o, false), "a reading is not late once it has come");
    atomic_store(&d.naps, 5);
    owner_ask(o);
    nanosleep(&nap, NULL);
    owner_stop(o);
    ok(atomic_load(&d.freed), "owner_stop waits for calls that answer");
    atomic_store(&d.freed, false);
    atomic_store(&d.naps, 0);
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread that will be idle");
    ok(owner_wait(o, LONG), "owner_wait has the reading of the idle thread");
    nanosleep(&idle, NULL);
    owner_stop(o);
    ok(atomic_load(&d.freed), "owner_stop waits for a thread that has been idle");
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
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread with a reading of 4 s");
    ok(!owner_wait(o, 20 * MS), "a reading of 4 s does not come in 20 ms");
    owner_stop(o);
    ok(now() - begin < 3 * (int64_t)LONG, "owner_stop does not wait for all calls of a reading");
    sem_wait(&d.gone);
    ok(atomic_load(&d.freed), "a thread that was left frees its state in the end");
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
    is_int(owner_start(&o, &work, &d, &e), 0, "owner_start starts a thread whose call waits");
    sem_wait(&d.entered);
    begin = now();
    owner_stop(o);
    ok(now() - begin < LONG, "owner_stop does not wait for a call that hangs");
    ok(!atomic_load(&d.freed), "a call that hangs still has its state");
    sem_post(&d.go);
    sem_wait(&d.gone);
    ok(atomic_load(&d.freed), "a call that returns after the stop frees its state");
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
        is_int(rc, failed ? -ENOMEM : 0, "owner_start returns -ENOMEM where allocation %d fails",
               oom_at);
        ok(!o == failed, "owner_start returns no thread where allocation %d fails", oom_at);
        if (o && !owner_wait(o, LONG))
            ok(false, "a thread that started has a reading");
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
    check_devices();
    check_late();
    check_oom();
    return done();
}
