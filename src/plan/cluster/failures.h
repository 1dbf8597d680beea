/* How often training fails, as published: data/failures.csv. */
#ifndef BRIM_PLAN_CLUSTER_FAILURES_H
#define BRIM_PLAN_CLUSTER_FAILURES_H
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/shape/names.h"

struct failure_row {
    const char *name, *gpu;
    int node_gpus;
    double node_mtbf_s; /* between failures that one node causes */
    const char *source, *notes;
};

struct failures {
    struct arena arena;
    struct failure_row *rows; /* the first is the default */
    size_t n_rows;
    struct names names;
};

/* Read the table. -EINVAL with "failures.csv:LINE: ..." for a row without a rate or with the name
 * of another one, and for a table without rows. */
int failures_load(struct failures *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void failures_done(struct failures *f);

/* A row by one of its names; -EINVAL with "unknown failure rate 'RSC-3' (did you mean RSC-1?)". */
int failures_find(const struct failures *f, const char *name, const struct failure_row **ret,
                  struct err *e) CHECK_RESULT;

#endif
