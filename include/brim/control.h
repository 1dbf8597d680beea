/* What brim asks of a job that runs: a file "control" in the folder that BRIM_RING names, written
 * by brim alone and read by every process of the job that tells steps. For those who carry requests
 * out in another language; jobs need nothing of it.
 *
 *     0       struct brim_control, BRIM_CONTROL_SIZE bytes in all
 *
 * There is one request at a time: a new one takes the place of the last. It is set of knobs of the
 * job (docs/optimize-internals.md), "loader.workers=13", and is carried out at the end of a step:
 * of the first one that ends after it was seen, or of step number at_step where all ranks have to
 * change together. Each process answers with one record BRIM_RING_SWITCH in its ring; one that
 * refuses tells why before, in a note "switch.NUMBER=the reason".
 *
 * A process may look less often than once a step: the shim for PyTorch does once in 10 ms, and at
 * least each 64 steps. One that finds at_step over refuses.
 *
 * Writer: seq + 1 (odd), the fields, seq + 1 (even). Reader: an unchanged seq says that there is
 * nothing new; else copy the fields, and take them if seq is even and still the same. */
#ifndef BRIM_CONTROL_H
#define BRIM_CONTROL_H
#include <stdint.h>

#define BRIM_CONTROL_MAGIC "BRIMCTRL"
#define BRIM_CONTROL_NAME "control"

enum {
    BRIM_CONTROL_MAJOR = 1,
    BRIM_CONTROL_MINOR = 0,
    BRIM_CONTROL_SIZE = 4096,
    BRIM_CONTROL_TEXT = 1024 /* bytes of a request, with its end */
};

struct brim_control {
    char magic[8];         /* at 0: BRIM_CONTROL_MAGIC without its end */
    uint16_t major, minor; /* 8, 10 */
    uint32_t size;         /* 12: BRIM_CONTROL_SIZE */
    int32_t pid;           /* 16: of the writer */
    uint32_t unused;       /* 20 */
    uint64_t seq;          /* 24: odd while it is written */
    uint64_t number;       /* 32: of the request, from 1; 0: there was none yet */
    uint64_t at_step;      /* 40: of the process's own count from 0; 0: as soon as it is seen */
    char
        text[BRIM_CONTROL_TEXT]; /* 48: "target=value", or several by ";": all or none; ends in 0 */
};

/* What a process did with a request: code of BRIM_RING_SWITCH. */
enum brim_switch {
    BRIM_SWITCH_DONE = 0,    /* in force for the steps behind this record */
    BRIM_SWITCH_REFUSED = 1, /* nothing was changed; the note says why */
    BRIM_SWITCH_FAILED = 2   /* it broke while it was done; the note says what is in force now */
};

#endif
