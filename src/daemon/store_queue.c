#include "daemon/store_queue.h"

#include <errno.h>
#include <string.h>

void store_queue_init(struct store_queue *q)
{
    for (size_t i = 0; i < ARRAY_SIZE(q->slots); i++)
        q->spare[q->n_spare++] = &q->slots[i];
}

void store_queue_done(struct store_queue *q)
{
    for (size_t i = 0; i < ARRAY_SIZE(q->slots); i++)
        tick_done(&q->slots[i]);
}

size_t store_queue_add_events(struct tick *to, const struct tick *from)
{
    for (size_t i = 0; i < from->n_events; i++) {
        const struct event *event = &from->events[i];
        struct event *copy = tick_event(to, event->kind, event->severity, event->code);

        if (!copy)
            return from->n_events - i;
        *copy = *event;
    }
    return 0;
}

static bool copy_rows(struct tick *to, const struct tick *from)
{
    for (size_t i = 0; i < from->n_rows; i++) {
        const struct signal_row *row = &from->rows[i];
        struct signal_row *copy = tick_add(to, row->set, row->thing);

        if (!copy)
            return false;
        memcpy(copy->values, row->values, row->set->n_defs * sizeof(*copy->values));
        if (row->set->facts)
            memcpy(copy->facts, row->facts, SIGNAL_FACTS * sizeof(*copy->facts));
    }
    return true;
}

struct tick *store_queue_take(struct store_queue *q)
{
    struct tick *oldest;

    if (!q->n_waiting)
        return NULL;
    oldest = q->waiting[0];
    q->n_waiting--;
    memmove(&q->waiting[0], &q->waiting[1], q->n_waiting * sizeof(struct tick *));
    return oldest;
}

void store_queue_release(struct store_queue *q, struct tick *t)
{
    q->spare[q->n_spare++] = t;
}

bool store_queue_pass_events(struct store_queue *q, const struct tick *from, uint64_t *lost)
{
    if (!q->n_waiting)
        return false;
    *lost += store_queue_add_events(q->waiting[0], from);
    return true;
}

int store_queue_push(struct store_queue *q, const struct tick *t, uint64_t *events_lost)
{
    struct tick *old = q->n_waiting == KEEPER_QUEUE ? store_queue_take(q) : NULL;
    struct tick *to;
    int dropped = old != NULL;

    if (old) {
        store_queue_pass_events(q, old, events_lost);
        store_queue_release(q, old);
    }
    to = q->spare[--q->n_spare]; /* at most KEEPER_QUEUE - 1 wait, and one is being written */
    tick_begin(to, t->wall_ns, t->monotonic_ns);
    *events_lost += store_queue_add_events(to, t);
    q->waiting[q->n_waiting++] = to;
    if (copy_rows(to, t))
        return dropped;
    to->n_rows = 0; /* the events go their way: such a tick tells nothing of things */
    return -ENOMEM;
}
