/* The store thread writes the store, so that a slow disk makes no tick late. The agent's loop:
 *
 *     store_thread_open(&a.store, path, &config, &e)     at start; only -ENOMEM and -EAGAIN
 *     store_thread_push(a.store, &a.tick)                after each sample; never waits for a disk
 *     while (store_thread_note(a.store, &note)) log_...  once a tick: what there is to log
 *     store_thread_state(a.store, &state)                for the metrics
 *     store_thread_close(a.store)                        at the end: at most 2 s
 *
 * The store is opened in the thread. Where that fails (full, read-only, another agent) it is tried
 * again every 10 s of ticks, and the agent runs on: ticks are counted as dropped. Nothing here may
 * be called by two threads at once; readers of the store have connections of their own. */
#ifndef BRIM_DAEMON_STORE_THREAD_H
#define BRIM_DAEMON_STORE_THREAD_H
#include <stdbool.h>

#include "base/err.h"
#include "model/signal/signal.h"
#include "store/store.h"

enum { KEEPER_QUEUE = 8 };

struct store_thread;

struct store_thread_state {
    uint64_t stored, dropped; /* ticks; dropped: their rows are lost */
    uint64_t events_lost;
    size_t waiting;         /* ticks */
    struct err error;       /* of the last tick; "" when it was stored */
    int64_t error_since_ns; /* wall time of the first tick that failed so; 0: none */
};

struct store_thread_note {
    bool warning; /* else it is information: it works again */
    struct err text;
};

int store_thread_open(struct store_thread **ret, const char *path,
                      const struct store_config *config, struct err *e) CHECK_RESULT;

/* Copy the rows and events into the queue. When KEEPER_QUEUE ticks wait, the rows of the oldest are
 * dropped; its events go with the next tick, as many as fit. Out of memory drops the tick. */
void store_thread_push(struct store_thread *k, const struct tick *t);

/* The next sentence for the log; false when there is none. A state that lasts is told once. */
bool store_thread_note(struct store_thread *k, struct store_thread_note *ret);

void store_thread_state(struct store_thread *k, struct store_thread_state *ret);

/* Write what waits and close the store, for at most 2 s: then the thread is left to itself, and
 * what it did not write is lost. NULL is allowed. */
void store_thread_close(struct store_thread *k);

#endif
