/* Events: what happened at one moment, on one thing: a line of the kernel's log that means
 * something, an alert that began or ended, a sampler that gave up. */
#ifndef BRIM_MODEL_SIGNAL_EVENT_H
#define BRIM_MODEL_SIGNAL_EVENT_H
#include <stdbool.h>
#include <stdint.h>

#include "model/signal/severity.h"

/* The last: of one kind and thing, without a code, so many texts are told apart at a time. */
enum { EVENT_THING = 48, EVENT_TEXT = 224, EVENT_ACTION = 224, EVENTS_MAX = 256, EVENT_TEXTS = 8 };

struct event {
    int64_t wall_ns;  /* since 1970 */
    const char *kind; /* "xid", "oom", "aer", "alert" ...: a literal */
    enum severity severity;
    int code;                /* the number of an XID and its like; -1: none */
    bool over;               /* what an earlier event of this kind, code and thing told has ended */
    char thing[EVENT_THING]; /* "0000:17:00.0", "vda"; "" for the host */
    uint16_t words;          /* of the text, so many bytes say what happened; 0: all */
    char text[EVENT_TEXT];   /* what happened, a sentence */
    char action[EVENT_ACTION]; /* what to do; "" */
};

/* Which event of its kind and thing it is: of those with a code 0, since that says it; else a
 * number of its words. */
uint64_t event_what(const struct event *e);

#endif
