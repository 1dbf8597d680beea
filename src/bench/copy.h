/* Copies of memory. */
#ifndef BRIM_BENCH_COPY_H
#define BRIM_BENCH_COPY_H
#include "bench/child.h"

struct copy_about {
    size_t bytes; /* of a buffer */
    int64_t window_ns;
};

struct copied {
    double gbs; /* the best copy: 1e9 bytes a second, read and written */
};

/* For child_run(); arg is a struct copy_about, result a struct copied. */
int copy_child(struct child *c, const void *arg, void *result, struct err *e);

#endif
