/* Ticks that wait, in memory that is used again. Whoever calls holds the store thread's lock. */
#ifndef BRIM_DAEMON_STORE_QUEUE_H
#define BRIM_DAEMON_STORE_QUEUE_H
#include <stdbool.h>

#include "daemon/store_thread.h"

struct store_queue {
    struct tick *waiting[KEEPER_QUEUE]; /* the oldest first */
    size_t n_waiting;
    struct tick *spare[KEEPER_QUEUE + 1]; /* the last one used is last: its memory is warm */
    size_t n_spare;
    struct tick slots[KEEPER_QUEUE + 1]; /* one is being written while the others wait */
};

void store_queue_init(struct store_queue *q);
void store_queue_done(struct store_queue *q);

/* Append a copy of the tick. Returns how many ticks were dropped for it: 0 or 1; -ENOMEM when the
 * copy could not be made: then *this* tick is the one that was dropped. */
int store_queue_push(struct store_queue *q, const struct tick *t, uint64_t *events_lost);

/* Take the oldest; NULL when none waits. Hand it back with store_queue_release(). */
struct tick *store_queue_take(struct store_queue *q);
void store_queue_release(struct store_queue *q, struct tick *t);

/* Give the events of a tick to the oldest that waits, or leave them where they are: false when none
 * waits. */
bool store_queue_pass_events(struct store_queue *q, const struct tick *from, uint64_t *lost);

/* Append events to a tick, as many as fit; how many did not. */
size_t store_queue_add_events(struct tick *to, const struct tick *from);

#endif
