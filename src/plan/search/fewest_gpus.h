/* The fewest GPUs on which a model can be trained. */
#ifndef BRIM_PLAN_SEARCH_FEWEST_GPUS_H
#define BRIM_PLAN_SEARCH_FEWEST_GPUS_H
#include "plan/layout/pins.h"
#include "plan/model/memory.h"

enum { FIT_GPUS = 1 << 16 };

/* The layout with the fewest GPUs, in powers of 2, whose memory a GPU has: at the same number
 * first without recompute, then with low ZeRO stages (1, 3), then with little tensor parallelism
 * and few GPUs to share experts. What is pinned stays; the cluster may grow. Without 'batch' a step
 * is as small as the layout allows; otherwise it is job->global_batch. False when FIT_GPUS are too
 * few. */
bool fewest_gpus_find(const struct plan_job *job, const struct cluster *c, const struct pins *p,
                      bool batch, struct layout *ret, struct memory *memory);

/* Sequences of the smallest step that keeps each stage busy. */
int fewest_gpus_batch(const struct layout *l);

#endif
