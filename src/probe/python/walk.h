/* The frames of a thread, from the innermost one to those that called it. */
#ifndef BRIM_PROBE_PYTHON_WALK_H
#define BRIM_PROBE_PYTHON_WALK_H
#include "probe/python/memory.h"
#include "probe/python/offsets.h"

enum { PYTHON_DEPTH = 256 };

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
    /* of calls that still are what they were: offsets->code.end bytes of their code objects */
    uint8_t code[PYTHON_DEPTH][PYTHON_CODE_MAX];
};

/* Read the frames from the innermost one on, as many as there are, at most most. 0, or a negative
 * errno: one could not be read. They may be of different moments. */
int python_walk_read(struct python_walk *w, const struct python_memory *m,
                     const struct python_offsets *o, uint64_t innermost, size_t most) CHECK_RESULT;

/* Read all of them again, with their code objects, and leave out those that have changed with all
 * that they called: what is left was under way at the same time, w->n of it. 0, or a negative
 * errno: one could not be read. */
int python_walk_settle(struct python_walk *w, const struct python_memory *m,
                       const struct python_offsets *o) CHECK_RESULT;

#endif
