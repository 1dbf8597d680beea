/* Storms of the kernel's log: what is like an event told in the last minute is folded into it. */
#ifndef BRIM_PROBE_KERNEL_KMSG_FOLD_H
#define BRIM_PROBE_KERNEL_KMSG_FOLD_H
#include <stdbool.h>
#include <stdint.h>

#include "model/signal/event.h"

enum { KMSG_RECENT = 64 };

/* Zeroed at first. When more than KMSG_RECENT are told within a minute, the oldest is forgotten. */
struct kmsg_fold {
    struct kmsg_recent {
        const char *kind; /* NULL: free */
        enum severity severity;
        int code;
        bool over;
        char thing[EVENT_THING];
        uint64_t what; /* event_what() */
        int64_t told_ns;
        uint64_t folded;
    } recent[KMSG_RECENT];
};

/* Whether an event is one more of what was told: of its kind, code, thing and severity, less than a
 * minute before log_ns; without a code also of its words, unless EVENT_TEXTS others were told. If
 * not, it is noted as told, and how many were folded into the last one told is added to its text.
 * An event that is over and one that is not end each other, so that each change is told. */
bool kmsg_fold(struct kmsg_fold *f, struct event *e, int64_t log_ns);

#endif
