/* The state that an interpreter keeps of each of its threads. */
#ifndef BRIM_PROBE_PYTHON_THREAD_H
#define BRIM_PROBE_PYTHON_THREAD_H
#include "probe/python/memory.h"
#include "probe/python/offsets.h"

struct python_thread {
    uint64_t at;
    uint64_t native_id; /* the kernel's number, in the process's own namespace */
    uint64_t link;      /* where its address stands: in the one before it, or in its interpreter */
};

/* Find the thread with a kernel's number, of any interpreter of a runtime. 0, -ENOENT, or another
 * negative errno: it cannot be read. */
int python_thread_find(const struct python_memory *m, const struct python_offsets *o,
                       uint64_t runtime, uint64_t native_id, struct python_thread *ret)
    CHECK_RESULT;

/* The innermost frame of a thread that was found, now; 0: it is in no call. 0, -ENOENT: the thread
 * has ended; or another negative errno. */
int python_thread_frame(const struct python_memory *m, const struct python_offsets *o,
                        const struct python_thread *thread, uint64_t *ret) CHECK_RESULT;

/* Whether the first interpreter of a runtime looks like one: 0; -EAGAIN: there is none; -EINVAL:
 * its threads are not its own, so the offsets are not those of this build; or another negative
 * errno. */
int python_thread_check(const struct python_memory *m, const struct python_offsets *o,
                        uint64_t runtime) CHECK_RESULT;

#endif
