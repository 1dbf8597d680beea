/* The kernel's log: a record of /dev/kmsg as its parts, and what a line of it means as an event.
 * Pure: all of it comes from the arguments. */
#ifndef BRIM_PROBE_KERNEL_KMSG_H
#define BRIM_PROBE_KERNEL_KMSG_H
#include <stdbool.h>
#include <stdint.h>

#include "model/machine/fault.h"
#include "model/signal/event.h"

/* "6,1234,5678901,-;text\n SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n" */
struct kmsg {
    int level;                /* 0 (emergency) to 7 (debug) */
    int facility;             /* 0: the kernel's own; 1: written by a user */
    uint64_t sequence;        /* grows by 1 with each record */
    int64_t us;               /* since boot, by the kernel's clock for its log */
    const char *text;         /* the line; what cannot be printed is '?' */
    char device[EVENT_THING]; /* as a driver names it, "0000:05:00.0"; "" */
};

/* Take a record apart; its bytes are changed and k->text points into them. record[len] must be
 * writable. 0, -EINVAL when it is none. */
int kmsg_parse(char *record, size_t len, struct kmsg *k) CHECK_RESULT;

/* Fill all of an event but wall_ns from a line. False when the line means nothing here. */
bool kmsg_event(const struct kmsg *k, const struct faults *faults, struct event *ret);

/* All kinds of events that lines can mean, in a fixed order; NULL behind the last. */
const char *kmsg_kind(size_t i);
enum { KMSG_KINDS = 20 };

#endif
