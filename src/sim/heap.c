#include "sim/heap.h"

#include <errno.h>
#include <stdbool.h>

enum { FIRST = 64 };

void heap_done(struct heap *h)
{
    free(h->events);
    *h = (struct heap){ .n = 0 };
}

static bool earlier(const struct heap_event *a, const struct heap_event *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

int heap_add(struct heap *h, int64_t at_ms, uint32_t job, uint32_t start)
{
    struct heap_event added = { at_ms - h->later_ms, h->order++, job, start };
    size_t at = h->n;

    if (h->n == h->room) {
        size_t room = h->room ? 2 * h->room : FIRST;
        struct heap_event *grown = reallocarray(h->events, room, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        h->events = grown;
        h->room = room;
    }
    h->n++;
    while (at > 0 && earlier(&added, &h->events[(at - 1) / 2])) {
        h->events[at] = h->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->events[at] = added;
    return 0;
}

void heap_clear(struct heap *h)
{
    h->n = 0;
}

void heap_delay(struct heap *h, int64_t by_ms)
{
    h->later_ms += by_ms;
}

const struct heap_event *heap_first(struct heap *h)
{
    if (h->n == 0)
        return NULL;
    h->next = h->events[0];
    h->next.at_ms += h->later_ms;
    return &h->next;
}

void heap_pop(struct heap *h)
{
    struct heap_event last = h->events[--h->n];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= h->n)
            break;
        if (child + 1 < h->n && earlier(&h->events[child + 1], &h->events[child]))
            child++;
        if (!earlier(&h->events[child], &last))
            break;
        h->events[at] = h->events[child];
        at = child;
    }
    if (h->n)
        h->events[at] = last;
}
