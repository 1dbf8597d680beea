/* Run something that may never return (a call into a driver) in its own thread, and wait for it as
 * long as it makes progress. */
#ifndef BRIM_PROBE_THREAD_WATCH_H
#define BRIM_PROBE_THREAD_WATCH_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Where the work is: written by the thread that works, read by the one that waits. */
struct watch_where {
    _Atomic(const char *) call;
    atomic_int device;
    _Atomic int64_t since_ns;
};

/* Note that a call into a driver comes next: progress. The name must live for ever (a literal);
 * device is the number of the device it is about, or ABSENT. where may be NULL. */
void watch_at(struct watch_where *where, const char *call, int device);

struct watch_work {
    int (*run)(void *result, struct watch_where *where, struct err *e);
    size_t size;         /* of the result, which is zeroed before run() */
    const char *device;  /* what a device is called: "GPU" */
    const char *way_out; /* what to do when it hangs, for the message */
};

/* Run the work. Returns what run() returned; if that was not negative *ret is the result, to be
 * free()d. When watch_at() was not called for patience_ns (<= 0: wait for ever), returns -ETIMEDOUT
 * with a sentence that says which call does not answer. Thread and result are then left behind:
 * they are freed if the work ever ends, and do not keep the process from exiting. The strings in
 * work must live for ever. -ENOMEM, and -EAGAIN (no thread), are possible as well. */
int watch_run(const struct watch_work *work, int64_t patience_ns, void **ret, struct err *e)
    CHECK_RESULT;

#endif
