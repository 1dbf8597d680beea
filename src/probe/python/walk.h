/* The frames of a thread, from the innermost one to those that called it. */
#ifndef BRIM_PROBE_PYTHON_WALK_H
#define BRIM_PROBE_PYTHON_WALK_H
#include "probe/python/memory.h"
#include "probe/python/offsets.h"

enum { PYTHON_DEPTH = 1024 }; /* Python itself ends a recursion there, unless told otherwise */

/* What a frame says of itself. */
struct python_call {
    uint64_t at;
    uint64_t code;
    uint64_t instruction;
    uint64_t previous;
    uint8_t owner;
};

/* Whether a frame is one of Python code: others stand for C code that called some. */
#define python_call_is_python(call) ((call)->owner < 3)

struct python_walk {
    struct python_call calls[PYTHON_DEPTH]; /* innermost first */
    size_t n;
};

/* Read the frames from the innermost one on. 0, or a negative errno: one could not be read, or they
 * end before the outermost one (-EAGAIN), as those of a generator do that has just yielded. They
 * may be of different moments, and such that had ended by then. */
int python_walk_read(struct python_walk *w, const struct python_memory *m,
                     const struct python_offsets *o, uint64_t innermost) CHECK_RESULT;

/* How many of the outermost calls are the same in two walks. Where the second one began with what
 * was the innermost frame after the first one had ended, these were under way at that moment. */
size_t python_walk_same(const struct python_walk *before, const struct python_walk *after);

#endif
