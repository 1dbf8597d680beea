/* What jobs typically ask for: the most frequent shapes of a workload, up to 95 % of its jobs. What
 * of a node's free devices none of them could use is fragmented (Weng et al., "Beware of
 * Fragmentation", USENIX ATC 2023). */
#ifndef BRIM_SCHED_PLACE_TYPICAL_SHAPES_H
#define BRIM_SCHED_PLACE_TYPICAL_SHAPES_H
#include "model/machine/pool.h"
#include "model/job/job_spec.h"

struct typical_shape {
    uint64_t kinds;
    int32_t cpus_milli, devices;
    int16_t milli;
    double share; /* of all of them; together 1 */
};

struct typical_shapes {
    struct typical_shape *shapes;
    size_t n;
    double cpus_milli; /* of all of them, for a device; 0: none are asked for */
};

/* What a node has left. */
struct typical_shapes_node {
    int16_t left[POOL_DEVICES];
    int32_t cpus_milli;
    uint8_t devices, kind;
};

/* From the jobs of a workload, in the arena. -ENOMEM. */
int typical_shapes_make(struct typical_shapes *ret, struct arena *a, const struct workload *w)
    CHECK_RESULT;

/* The expected thousandths of devices of a node that the next job cannot use. */
double typical_shapes_fragments(const struct typical_shapes *t,
                                const struct typical_shapes_node *n);

#endif
