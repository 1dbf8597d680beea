/* The ring that a job writes its marks into and brim reads: a file of its own for each process,
 * mapped by both. Writers use brim/step.h; this is for those who write the file in another
 * language, and for readers.
 *
 * The file, rank-N-PID.ring in the folder that BRIM_RING names; in a container with process numbers
 * of its own rank-N-PID-SPACE.ring, by the number of /proc/self/ns/pid:
 *
 *     0        struct brim_ring_header, in BRIM_RING_HEADER_SIZE bytes
 *     4096     texts of notes and names, text_size bytes; only grows, unused bytes are zero
 *     ...      capacity records of 32 bytes; capacity is a power of two
 *
 * It appears under its name with the header complete. Integers have the byte order of the machine.
 *
 * Record n (from 0) lies in slot n % capacity. A writer reserves n by adding 1 to head, writes the
 * fields, then seq = n + 1. Nobody waits: who reads too late finds other numbers in seq and knows
 * from head how many records are lost. A slot whose seq is not yet n + 1 is being written, or its
 * writer died over it.
 *
 * Version: a reader refuses another BRIM_RING_MAJOR. A new kind of record, or a header field in
 * what was zero, raises the minor version; readers skip kinds that they do not know. */
#ifndef BRIM_RING_H
#define BRIM_RING_H
#include <stdint.h>

#define BRIM_RING_MAGIC "BRIMSTEP"

enum {
    BRIM_RING_MAJOR = 1,
    BRIM_RING_MINOR = 1, /* 1: SWITCH */
    BRIM_RING_HEADER_SIZE = 4096,
    BRIM_RING_TEXT_SIZE = 65536,
    BRIM_RING_CAPACITY = 65536,
    BRIM_RING_TEXT_MAX = 240 /* bytes of one note or name */
};

struct brim_ring_header {
    char magic[8];              /* at 0: BRIM_RING_MAGIC without its end */
    uint16_t major, minor;      /* 8, 10 */
    uint32_t header_size;       /* 12 */
    uint32_t text_size;         /* 16 */
    uint32_t record_size;       /* 20 */
    uint32_t capacity;          /* 24 */
    int32_t pid;                /* 28 */
    int32_t rank;               /* 32: -1: unknown; may become known later */
    int32_t local_rank;         /* 36: the same */
    int32_t world;              /* 40: the same */
    uint32_t reserved;          /* 44 */
    int64_t start_monotonic_ns; /* 48: when it was opened, by CLOCK_MONOTONIC as all times are */
    int64_t start_wall_ns;      /* 56: the same moment since 1970, UTC */
    char framework[64];         /* 64: name and version, for people; ends in 0 */
    char host[64];              /* 128: the node's name; ends in 0 */
    uint64_t unused[8];         /* 192 */
    uint64_t head;      /* 256: records reserved so far; grows as long as the job makes steps */
    uint64_t text_used; /* 264: bytes of texts reserved; may exceed text_size: those are lost */
    uint32_t closed;    /* 272: 1: the writer ended in order */
};

struct brim_ring_record {
    uint64_t seq;   /* its number + 1; 0: never written */
    int64_t t_ns;   /* CLOCK_MONOTONIC */
    uint16_t kind;  /* enum brim_ring_kind */
    uint16_t code;  /* a stage, a source, a collective, a length: see the kind */
    uint32_t extra; /* most kinds: the thread, BRIM_RING_THREAD(pthread_self()) */
    uint64_t value;
};

/* What tells threads of one process apart: their stacks are pages apart. */
#define BRIM_RING_THREAD(self) ((uint32_t)((uint64_t)(self) >> 12))

enum brim_ring_kind {
    BRIM_RING_STEP_BEGIN = 1, /* - */
    BRIM_RING_STEP_END = 2, /* - ; the next step begins here, unless a STEP_BEGIN says otherwise */
    BRIM_RING_STAGE_BEGIN =
        3,                   /* code: enum brim_stage; value: the source, when it waits for data */
    BRIM_RING_STAGE_END = 4, /* code: the stage */
    BRIM_RING_SAMPLES = 5,   /* code: the source; value: how many */
    BRIM_RING_FEEDS = 6,     /* code: a source: its data go into steps, from now on and before */
    BRIM_RING_LOSS = 7,      /* value: a double */
    BRIM_RING_COLLECTIVE =
        8,                 /* code: enum brim_collective; t_ns: its begin; extra: seconds it took,
                                  a float; value: bytes */
    BRIM_RING_NOTE = 9,    /* code: length of the text; extra: where it starts in the texts */
    BRIM_RING_VALUE = 10,  /* the same for the name; value: a double */
    BRIM_RING_DEVICE = 11, /* code: a stage as the device saw it; t_ns: its begin; extra: seconds
                                  it took, a float */
    BRIM_RING_SWITCH = 12  /* code: enum brim_switch (brim/control.h); value: the request */
};

#endif
