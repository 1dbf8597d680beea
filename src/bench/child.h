/* Measurements in processes of their own: a library that crashes, hangs or leaves threads behind
 * takes only these along, and each copy can be bound to a CPU. */
#ifndef BRIM_BENCH_CHILD_H
#define BRIM_BENCH_CHILD_H
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct child;

/* Wait, in a child, until all copies are ready: they begin together. */
void child_ready(struct child *c);

/* Which of the copies this is, from 0. */
int child_copy(const struct child *c);

enum { CHILD_COPIES = 4096, CHILD_RESULT = 16384 };

struct child_work {
    /* In the child: 0 with *result filled (size bytes, zeroed before), or a negative errno. */
    int (*run)(struct child *c, const void *arg, void *result, struct err *e);
    const void *arg;
    size_t size;      /* of a result, CHILD_RESULT at most */
    const char *what; /* for sentences: "libblas.so.3" */
    const char *cpus; /* copy i is bound to the i-th of these, a single one to all; NULL: to none */
    int copies;
    int64_t limit_ns; /* how long all of it may take */
};

/* Run the copies, wait for all: 0 with results (copies times size bytes) filled, or the negative
 * errno of the first that failed, with its sentence: -ETIMEDOUT when they do not end in time, -EIO
 * when one was killed. No child is left behind. */
int child_run(const struct child_work *w, void *results, struct err *e) CHECK_RESULT;

#endif
