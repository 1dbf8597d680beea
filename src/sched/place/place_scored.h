/* Placement by a score of each node that has room, the highest wins; of equals the first. For jobs
 * on one node; larger ones go where place.h's "consolidate" puts them. */
#ifndef BRIM_SCHED_PLACE_PLACE_SCORED_H
#define BRIM_SCHED_PLACE_PLACE_SCORED_H
#include "sched/place/free_capacity.h"
#include "sched/place/typical_shapes.h"

/* A score that was made, and for which state of its node. */
struct scored {
    uint32_t version; /* of the node, plus 1; 0: none */
    uint16_t devices;
    float score;
};

/* What a room that is placed by scores has besides. */
struct scores {
    struct typical_shapes typical;
    struct scored *made; /* by shape and node; NULL: not kept, there are too many */
};

/* -ENOMEM. */
int scores_init(struct scores *s, struct arena *a, const struct pool *pool,
                const struct workload *w) CHECK_RESULT;

/* CPUs and devices left over, the fewer the better. */
bool place_best_fit(const struct free_capacity *r, const struct work *w, struct fit *f);

/* The least growth of fragments (typical_shapes.h). */
bool place_fgd(const struct free_capacity *r, const struct work *w, struct fit *f);

/* The same, and devices kept where there are CPUs for them. */
bool place_balance(const struct free_capacity *r, const struct work *w, struct fit *f);

#endif
