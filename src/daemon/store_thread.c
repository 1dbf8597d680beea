#include "daemon/store_thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "daemon/store_queue.h"

enum { PATIENCE_S = 2, NOTES = 8 };

static const int64_t retry_ns = 10 * NS_PER_S;

/* Shared by the loop and the thread, freed by the one that is done with it last. */
struct store_thread {
    pthread_mutex_t lock; /* for all up to 'thread' */
    pthread_cond_t wake;  /* there is a tick, or it is time to end */
    pthread_cond_t ended;
    struct store_queue queue;
    struct store_thread_state state;
    struct store_thread_note notes[NOTES];
    size_t n_notes;
    bool closing, finished, abandoned;
    pthread_t thread;
    /* the thread's own */
    struct store *store;
    int64_t tried_ns;       /* monotonic time of the tick at which the store was last opened */
    struct tick left;       /* events of ticks that could not be stored */
    uint64_t lost_in_a_row; /* ticks since the error began */
    char path[4096];
    struct store_config config;
};

static void keeper_free(struct store_thread *k)
{
    store_queue_done(&k->queue);
    tick_done(&k->left);
    pthread_cond_destroy(&k->ended);
    pthread_cond_destroy(&k->wake);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

/* ---- the thread ---- */

/* Under the lock. The last ones are dropped when nobody asks. */
static void say(struct store_thread *k, bool warning, const char *text)
{
    if (k->n_notes == NOTES)
        return;
    k->notes[k->n_notes].warning = warning;
    err_set(&k->notes[k->n_notes++].text, 0, "%s", text);
}

/* 0, or what store_open() or store_tick() said. */
static int put(struct store_thread *k, const struct tick *t, struct err *e)
{
    if (!k->store) {
        int rc = -EAGAIN;

        if (k->tried_ns && t->monotonic_ns - k->tried_ns < retry_ns)
            return rc; /* e stays what it was */
        k->tried_ns = t->monotonic_ns ? t->monotonic_ns : 1;
        rc = store_open(&k->store, k->path, &k->config, t->wall_ns, e);
        if (rc < 0)
            return rc;
    }
    return store_tick(k->store, t, e);
}

/* Under the lock: what became of a tick. */
static void report(struct store_thread *k, const struct tick *t, int rc, const struct err *e)
{
    const char *note = k->store ? store_note(k->store) : "";

    if (note[0])
        say(k, true, note);
    if (rc == 0) {
        k->state.stored += t->n_rows > 0; /* else it brought events only */
        if (k->state.error_since_ns) {
            struct err text;

            err_set(&text, 0, "storing again; %llu ticks were lost",
                    (unsigned long long)k->lost_in_a_row);
            say(k, false, text.text);
        }
        k->state.error.text[0] = 0;
        k->state.error_since_ns = 0;
        k->lost_in_a_row = 0;
        return;
    }
    k->state.dropped++;
    k->lost_in_a_row++;
    if (!k->state.error_since_ns)
        k->state.error_since_ns = t->wall_ns ? t->wall_ns : 1;
    if (rc != -EAGAIN && strcmp(k->state.error.text, e->text) != 0) {
        k->state.error = *e;
        say(k, true, e->text);
    }
}

/* Under the lock: a tick that was not stored leaves its events to the next one. */
static void keep_events(struct store_thread *k, const struct tick *t)
{
    if (store_queue_pass_events(&k->queue, t, &k->state.events_lost))
        return;
    tick_begin(&k->left, t->wall_ns, t->monotonic_ns);
    k->state.events_lost += store_queue_add_events(&k->left, t);
}

static void store_one(struct store_thread *k, struct tick *t)
{
    struct err e = { "" };
    uint64_t lost = store_queue_add_events(t, &k->left);
    int rc;

    k->left.n_events = 0;
    rc = put(k, t, &e);
    pthread_mutex_lock(&k->lock);
    k->state.events_lost += lost;
    report(k, t, rc, &e);
    if (rc < 0)
        keep_events(k, t);
    store_queue_release(&k->queue, t);
    pthread_mutex_unlock(&k->lock);
}

/* The next tick; NULL at the end. */
static struct tick *wait_tick(struct store_thread *k)
{
    struct tick *t;

    pthread_mutex_lock(&k->lock);
    while (!(t = store_queue_take(&k->queue)) && !k->closing)
        pthread_cond_wait(&k->wake, &k->lock);
    if (k->abandoned && t) {
        store_queue_release(&k->queue, t);
        t = NULL;
    }
    pthread_mutex_unlock(&k->lock);
    return t;
}

static void *run(void *arg)
{
    struct store_thread *k = arg;
    struct tick *t;
    bool abandoned;

    while ((t = wait_tick(k)) != NULL)
        store_one(k, t);
    store_close(k->store);
    pthread_mutex_lock(&k->lock);
    k->finished = true;
    abandoned = k->abandoned;
    pthread_cond_signal(&k->ended);
    pthread_mutex_unlock(&k->lock);
    if (abandoned)
        keeper_free(k);
    return NULL;
}

/* ---- the loop's side ---- */

int store_thread_open(struct store_thread **ret, const char *path,
                      const struct store_config *config, struct err *e)
{
    struct store_thread *k = calloc(1, sizeof(*k));
    int rc;

    if (!k)
        return err_nomem(e);
    snprintf(k->path, sizeof(k->path), "%s", path);
    if (config)
        k->config = *config;
    store_queue_init(&k->queue);
    pthread_mutex_init(&k->lock, NULL);
    thread_cond_init(&k->wake);
    thread_cond_init(&k->ended);
    rc = thread_start(&k->thread, run, k);
    if (rc < 0) {
        keeper_free(k);
        return err_set(e, rc, "cannot start the thread of the store: %s", strerror(-rc));
    }
    *ret = k;
    return 0;
}

void store_thread_push(struct store_thread *k, const struct tick *t)
{
    int rc;

    pthread_mutex_lock(&k->lock);
    rc = store_queue_push(&k->queue, t, &k->state.events_lost);
    if (rc != 0) {
        k->state.dropped++;
        if (!k->state.error_since_ns) {
            k->state.error_since_ns = t->wall_ns ? t->wall_ns : 1;
            err_set(&k->state.error, 0, "%s",
                    rc < 0 ? "out of memory" : "the disk of the store is slow: ticks are lost");
            say(k, true, k->state.error.text);
        }
        k->lost_in_a_row++;
    }
    pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

bool store_thread_note(struct store_thread *k, struct store_thread_note *ret)
{
    bool any;

    pthread_mutex_lock(&k->lock);
    any = k->n_notes > 0;
    if (any) {
        *ret = k->notes[0];
        k->n_notes--;
        memmove(&k->notes[0], &k->notes[1], k->n_notes * sizeof(*ret));
    }
    pthread_mutex_unlock(&k->lock);
    return any;
}

void store_thread_state(struct store_thread *k, struct store_thread_state *ret)
{
    pthread_mutex_lock(&k->lock);
    k->state.waiting = k->queue.n_waiting;
    *ret = k->state;
    pthread_mutex_unlock(&k->lock);
}

void store_thread_close(struct store_thread *k)
{
    const int64_t until_ns = clock_monotonic_ns(&clock_system) + PATIENCE_S * NS_PER_S;
    pthread_t thread;
    bool finished;

    if (!k)
        return;
    thread = k->thread; /* an abandoned one may free k at any time */
    pthread_mutex_lock(&k->lock);
    k->closing = true;
    pthread_cond_signal(&k->wake);
    while (!k->finished && thread_wait_until(&k->ended, &k->lock, until_ns))
        ;
    finished = k->finished;
    k->abandoned = !finished;
    pthread_mutex_unlock(&k->lock);
    if (finished) {
        pthread_join(thread, NULL);
        keeper_free(k);
    } else {
        pthread_detach(thread);
    }
}
