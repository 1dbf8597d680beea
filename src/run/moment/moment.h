/* A moment of a run: what the node's signals and the job's processes say of an interval. Pure but
 * for its arguments. */
#ifndef BRIM_RUN_MOMENT_MOMENT_H
#define BRIM_RUN_MOMENT_MOMENT_H
#include "model/job/run.h"
#include "model/signal/signal.h"
#include "run/job/family.h"

/* Where in the node's signals the job is. */
struct moment_job {
    const char *cgroup; /* the thing of its row in the set "cgroup"; "" */
    /* Whether a GPU is the job's, by its thing; NULL: all are. */
    bool (*has_gpu)(const void *arg, const char *gpu);
    const void *arg;
};

/* The samplers that moments are made of, ends with NULL. */
extern const char *const moment_samplers[];

/* Fill *ret from two ticks of the node and the growth of the family between them. */
void moment_make(const struct tick *before, const struct tick *now,
                 const struct family_growth *growth, const struct moment_job *job,
                 struct run_moment *ret);

/* Take the moment 'from' into 'into', which is earlier: means by their length, NaN where both lack
 * a value. */
void moment_merge(struct run_moment *into, const struct run_moment *from);

#endif
