#include "sched/place/typical_shapes.h"

#include <errno.h>

static const double covered = 0.95; /* of the jobs; as in the paper's simulator */

/* The more frequent first; of equals, as the workload has them. */
struct counted {
    size_t jobs;
    uint32_t first; /* a job of that shape */
};

static int compare(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    int order = COMPARE(y->jobs, x->jobs);

    return order ? order : COMPARE(x->first, y->first);
}

static void count_cpus(struct typical_shapes *t)
{
    double cpus = 0, devices = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct typical_shape *s = &t->shapes[i];

        cpus += s->share * s->cpus_milli;
        devices += s->share * s->devices * s->milli / WORK_WHOLE;
    }
    t->cpus_milli = devices > 0 ? cpus / devices : 0;
}

int typical_shapes_make(struct typical_shapes *ret, struct arena *a, const struct workload *w)
{
    CLEANUP(freep) struct counted *counts = calloc(w->n_shapes + 1, sizeof(*counts));
    size_t sum = 0;

    *ret = (struct typical_shapes){ .n = 0 };
    ret->shapes = arena_alloc(a, w->n_shapes * sizeof(*ret->shapes));
    if (!counts || !ret->shapes)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++)
        if (counts[w->jobs[i].shape].jobs++ == 0)
            counts[w->jobs[i].shape].first = (uint32_t)i;
    qsort(counts, w->n_shapes, sizeof(*counts), compare);
    while (ret->n < w->n_shapes && (double)sum < covered * (double)w->n_jobs) {
        const struct work *job = &w->jobs[counts[ret->n].first];

        sum += counts[ret->n].jobs;
        ret->shapes[ret->n] = (struct typical_shape){ .kinds = job->kinds,
                                                      .cpus_milli = job->cpus_milli,
                                                      .devices = job->devices,
                                                      .milli = job->milli,
                                                      .share = (double)counts[ret->n].jobs };
        ret->n++;
    }
    for (size_t i = 0; i < ret->n; i++)
        ret->shapes[i].share /= (double)sum;
    count_cpus(ret);
    return 0;
}

double typical_shapes_fragments(const struct typical_shapes *t, const struct typical_shapes_node *n)
{
    double fragments = 0;
    int total = 0;

    for (int d = 0; d < n->devices; d++)
        total += n->left[d];
    for (size_t i = 0; i < t->n && total > 0; i++) {
        const struct typical_shape *s = &t->shapes[i];
        int enough = 0, too_small = 0;

        for (int d = 0; d < n->devices; d++) {
            enough += n->left[d] >= s->milli;
            too_small += n->left[d] < s->milli ? n->left[d] : 0;
        }
        if (s->devices == 0 || (s->kinds && !(s->kinds >> n->kind & 1)) || enough < s->devices ||
            n->cpus_milli < s->cpus_milli)
            fragments += s->share * total;
        else
            fragments += s->share * too_small;
    }
    return fragments;
}
