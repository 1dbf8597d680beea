/* Events by their times; of one time, in the order in which they were added. */
#ifndef BRIM_SIM_HEAP_H
#define BRIM_SIM_HEAP_H
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct heap_event {
    int64_t at_ms;
    uint32_t order;      /* set by heap_add() */
    uint32_t job, start; /* what ends: a job's start of that number */
};

struct heap {
    struct heap_event *events;
    size_t n, room;
    uint32_t order;
    int64_t later_ms;       /* beyond what events[].at_ms says */
    struct heap_event next; /* what heap_first() hands out */
};

void heap_done(struct heap *h);

/* -ENOMEM. */
int heap_add(struct heap *h, int64_t at_ms, uint32_t job, uint32_t start) CHECK_RESULT;

/* All that were added happen later by that. */
void heap_delay(struct heap *h, int64_t by_ms);

/* The next event; NULL when there is none. Valid until the next call. */
const struct heap_event *heap_first(struct heap *h);

/* Drop it; drop all. */
void heap_pop(struct heap *h);
void heap_clear(struct heap *h);

#endif
