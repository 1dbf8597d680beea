/* The loops that a thread is in: iterators which its calls hold, and how far these are. */
#ifndef BRIM_PROBE_PYTHON_LOOP_H
#define BRIM_PROBE_PYTHON_LOOP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/python/frame.h"
#include "probe/python/iterator.h"
#include "probe/python/walk.h"

struct python_loop {
    uint64_t id;       /* which loop it is: the same as long as the call is */
    uint64_t frame;    /* of the call, or of a generator, that holds it, */
    uint64_t code;     /* and whose that is */
    uint64_t holder;   /* where the iterator's address stands */
    uint64_t iterator; /* another one: the loop has begun anew */
    uint32_t order;    /* of two loops the inner one has the larger one */
    bool entered;      /* a for statement has it, and no variable alone: what runs is within it */
    size_t call;       /* which of the calls that were looked at holds it */
    struct python_progress progress;
};

/* With the call that holds it: function, file, and the line that runs. */
struct python_loop_of_call {
    struct python_loop loop;
    struct python_frame place;
};

/* Where loops are looked for. Memory and offsets are borrowed. */
struct python_loops {
    const struct python_memory *memory;
    const struct python_offsets *offsets;
    struct python_kinds kinds; /* of types that were met */
};

/* Find the loops of n calls, innermost first. How many: at most so many, from the outermost one on.
 * An inner loop comes behind those that it is in. What the process changes meanwhile may be wrong:
 * a loop that is seen again and again at the same place, and goes on, is one. */
size_t python_loops_find(struct python_loops *l, const struct python_call *calls, size_t n,
                         struct python_loop *ret, size_t most);

/* How far a loop is now: 0; -ENOENT: its place holds no such iterator any more; or another negative
 * errno. */
int python_loops_again(struct python_loops *l, struct python_loop *loop) CHECK_RESULT;

#endif
