#include "probe/thread/owner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

enum { CALL_GRACE_NS = NS_PER_S / 10, ALL_GRACE_NS = NS_PER_S };
enum { NO_DEVICE = -1 };

/* Shared by two threads, freed by the one that is done with it last. */
struct owner {
    const struct owner_work *work;
    void *state;   /* these two are the thread's */
    void *scratch; /* the reading that is being made */
    pthread_t thread;
    struct watch_where where;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t asked, changed;
    void *newest;
    struct err why;
    int rc; /* of the newest: 0 while there is none, then 1 or a negative errno */
    int64_t asked_ns;
    bool wanted;    /* a reading is asked for, or being made */
    bool stopping;  /* set by the loop */
    bool abandoned; /* by the loop: the thread frees it */
    bool ended;     /* by the thread, with which it is done */
    bool told;      /* these are the loop's: an event told that it hangs */
    char told_of[EVENT_THING];
};

static void owner_free(struct owner *o)
{
    pthread_cond_destroy(&o->changed);
    pthread_cond_destroy(&o->asked);
    pthread_mutex_destroy(&o->lock);
    free(o->newest);
    free(o->scratch);
    free(o);
}
DEFINE_CLEANUP(struct owner, owner_free)

static int64_t now(void)
{
    return clock_monotonic_ns(&clock_system);
}

/* Want a reading; the thread is not at work. */
static void want(struct owner *o, const char *call)
{
    watch_at(&o->where, call, NO_DEVICE);
    o->asked_ns = now();
    o->wanted = true;
}

static int owner_new(const struct owner_work *work, void *state, struct owner **ret)
{
    struct owner *o = calloc(1, sizeof(*o));

    if (!o)
        return -ENOMEM;
    o->work = work;
    o->state = state;
    pthread_mutex_init(&o->lock, NULL);
    thread_cond_init(&o->asked);
    thread_cond_init(&o->changed);
    want(o, "the first call");
    o->scratch = calloc(1, work->size);
    o->newest = calloc(1, work->size);
    if (!o->scratch || !o->newest) {
        owner_free(o);
        return -ENOMEM;
    }
    *ret = o;
    return 0;
}

/* Make one reading and publish it. Called and left with the lock held, which is not held over the
 * work. */
static void make_reading(struct owner *o)
{
    struct err why = { "" };
    int rc;

    pthread_mutex_unlock(&o->lock);
    rc = o->work->read(o->state, &o->where, o->scratch, &why);
    pthread_mutex_lock(&o->lock);
    o->rc = rc < 0 ? rc : 1;
    o->why = why;
    if (rc >= 0)
        memcpy(o->newest, o->scratch, o->work->size);
    o->wanted = false;
    pthread_cond_signal(&o->changed);
}

static void *owner_run(void *arg)
{
    struct owner *o = arg;
    bool abandoned;

    pthread_mutex_lock(&o->lock);
    while (!o->stopping) {
        if (o->wanted)
            make_reading(o);
        else
            pthread_cond_wait(&o->asked, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    o->work->done(o->state);
    pthread_mutex_lock(&o->lock);
    o->ended = true;
    abandoned = o->abandoned;
    pthread_cond_signal(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (abandoned)
        owner_free(o);
    return NULL;
}

int owner_start(struct owner **ret, const struct owner_work *work, void *state, struct err *e)
{
    CLEANUP(owner_freep) struct owner *o = NULL;
    int rc = owner_new(work, state, &o);

    if (rc < 0)
        return err_nomem(e);
    rc = thread_start(&o->thread, owner_run, o);
    if (rc < 0)
        return err_set(e, rc, "cannot start a thread for a driver: %s", strerror(-rc));
    *ret = steal(&o);
    return 0;
}

bool owner_wait(struct owner *o, int64_t ns)
{
    int64_t until = now() + ns;
    bool finished;

    pthread_mutex_lock(&o->lock);
    while (o->rc == 0 && thread_wait_until(&o->changed, &o->lock, until))
        ;
    finished = o->rc != 0;
    pthread_mutex_unlock(&o->lock);
    return finished;
}

void owner_ask(struct owner *o)
{
    pthread_mutex_lock(&o->lock);
    if (!o->wanted) {
        want(o, "the next call");
        pthread_cond_signal(&o->asked);
    }
    pthread_mutex_unlock(&o->lock);
}

int owner_newest(struct owner *o, void *out, struct err *e)
{
    int rc;

    pthread_mutex_lock(&o->lock);
    rc = o->rc;
    if (rc > 0)
        memcpy(out, o->newest, o->work->size);
    if (rc < 0)
        rc = err_set(e, rc, "%s", o->why.text);
    pthread_mutex_unlock(&o->lock);
    return rc;
}

bool owner_hung(struct owner *o, int64_t patience_ns, struct owner_stuck *ret)
{
    int64_t since = atomic_load(&o->where.since_ns);
    bool wanted;

    ret->call = atomic_load(&o->where.call);
    ret->device = atomic_load(&o->where.device);
    ret->ns = now() - since;
    pthread_mutex_lock(&o->lock);
    wanted = o->wanted;
    pthread_mutex_unlock(&o->lock);
    /* what was read above is of one call only when none has begun since */
    return wanted && patience_ns > 0 && ret->ns > patience_ns &&
           atomic_load(&o->where.since_ns) == since;
}

bool owner_late(struct owner *o, int64_t patience_ns)
{
    bool late;

    pthread_mutex_lock(&o->lock);
    late = o->wanted && patience_ns > 0 && now() - o->asked_ns > patience_ns;
    pthread_mutex_unlock(&o->lock);
    return late;
}

static void tell_hung(struct owner *o, struct tick *t, const struct owner_stuck *stuck)
{
    struct event *event = tick_event(t, "probe", SEVERITY_WARNING, -1);
    double s = (double)stuck->ns / NS_PER_S;

    if (!event) /* told with the next tick */
        return;
    if (stuck->device < 0) {
        snprintf(event->text, sizeof(event->text), "%s has not answered for %.2g s", stuck->call,
                 s);
    } else {
        snprintf(event->text, sizeof(event->text), "%s of %s %d has not answered for %.2g s",
                 stuck->call, o->work->device, stuck->device, s);
        snprintf(event->thing, sizeof(event->thing), "%s%d", o->work->thing, stuck->device);
    }
    snprintf(event->action, sizeof(event->action), "%s", o->work->way_out);
    snprintf(o->told_of, sizeof(o->told_of), "%s", event->thing);
    o->told = true;
}

static void tell_over(struct owner *o, struct tick *t)
{
    struct event *event = tick_event(t, "probe", SEVERITY_WARNING, -1);

    if (!event)
        return;
    event->over = true;
    snprintf(event->thing, sizeof(event->thing), "%s", o->told_of);
    snprintf(event->text, sizeof(event->text), "the driver of the %ss answers again",
             o->work->device);
    o->told = false;
}

bool owner_report(struct owner *o, struct tick *t, int64_t patience_ns)
{
    struct owner_stuck stuck;
    bool hung = owner_hung(o, patience_ns, &stuck);

    if (hung && !o->told)
        tell_hung(o, t, &stuck);
    else if (!hung && o->told)
        tell_over(o, t);
    return hung;
}

/* Until when the thread is waited for: each call has its time, and all have that until last. */
static int64_t give_up_ns(struct owner *o, int64_t last)
{
    int64_t since = atomic_load(&o->where.since_ns);

    return MIN(since + CALL_GRACE_NS, last);
}

void owner_stop(struct owner *o)
{
    int64_t last = now() + ALL_GRACE_NS;
    bool ended;

    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    if (!o->wanted)
        watch_at(&o->where, "the last call", NO_DEVICE);
    o->stopping = true;
    pthread_cond_signal(&o->asked);
    while (!o->ended && now() < give_up_ns(o, last))
        thread_wait_until(&o->changed, &o->lock, give_up_ns(o, last));
    ended = o->ended;
    o->abandoned = !ended;
    if (!ended)
        pthread_detach(o->thread);
    pthread_mutex_unlock(&o->lock);
    if (!ended)
        return; /* the thread frees it, should it ever come back */
    pthread_join(o->thread, NULL);
    owner_free(o);
}
