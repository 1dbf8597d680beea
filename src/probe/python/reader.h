/* Calls out of the memory of an interpreter, wherever that comes from. */
#ifndef BRIM_PROBE_PYTHON_READER_H
#define BRIM_PROBE_PYTHON_READER_H
#include "base/err.h"
#include "probe/python/frame.h"
#include "probe/python/loop.h"
#include "probe/python/memory.h"

struct python_reader;

/* Read an interpreter whose runtime (_PyRuntime) is at an address. version: PY_VERSION_HEX, where
 * the runtime does not tell it (before 3.13); 0: not known. The memory is borrowed. Errors as
 * python_process_open() has them. */
int python_reader_open(struct python_reader **ret, const struct python_memory *m, uint64_t runtime,
                       uint64_t version, struct err *e) CHECK_RESULT;

/* The calls of the thread with a kernel's number, innermost first, at most so many. How many: 0
 * where it is in none, or none could be read whole; -ENOENT: there is no such thread. */
int python_reader_stack(struct python_reader *r, uint64_t native_id, struct python_frame *frames,
                        int most);

/* The loops that the thread is in (loop.h), at most so many, from the outermost one on, each with
 * the call that holds it: function, file, and the line that runs. How many, as for the stack. */
int python_reader_loops(struct python_reader *r, uint64_t native_id,
                        struct python_loop_of_call *ret, int most);

/* How far one of them is now: as python_loops_again(). */
int python_reader_again(struct python_reader *r, struct python_loop *loop) CHECK_RESULT;

void python_reader_close(struct python_reader *r);
DEFINE_CLEANUP(struct python_reader, python_reader_close)

#endif
