/* How the layers of a pipeline may be divided over its stages: even, with the ends counted as a
 * layer each, and what balances the stages of a model whose head and loss are worth another number
 * of layers. */
#ifndef BRIM_PLAN_SEARCH_SPLITS_H
#define BRIM_PLAN_SEARCH_SPLITS_H
#include "plan/layout/layout.h"

enum { SPLITS_MAX = 16 };

struct splits {
    int n;
    struct stage_split list[SPLITS_MAX]; /* the first two: stages_even, stages_ends */
};

/* Of so many layers head and loss may be worth the time, as far as the shape and the GPU's rates
 * tell: from *low to *high, as the layers of some layouts take longer than others'. */
void splits_range(const struct plan_job *job, const struct cluster *c, int *low, int *high);

/* Of pp stages, which are more than one. Besides the first two: for each number from low to high
 * of layers that the last stage has fewer, the smallest number that the first has fewer with which
 * all chunks between have as many layers, for one chunk and for each larger number of them. */
void splits_of(int layers, int pp, int low, int high, struct splits *ret);

#endif
