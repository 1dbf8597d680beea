/* Nodes of a pool by what they are called. */
#ifndef BRIM_MODEL_MACHINE_NODE_NAMES_H
#define BRIM_MODEL_MACHINE_NODE_NAMES_H
#include "model/machine/pool.h"

struct locate {
    const struct pool *pool;
    uint32_t *slots; /* by name, hashed; 0: empty, otherwise node + 1 */
    size_t n_slots;
};

/* Some nodes, by number, each once. */
struct located {
    uint32_t *nodes;
    size_t n;
};

/* For a pool, which is borrowed; the rest is the arena's. -ENOMEM. */
int locate_init(struct locate *l, struct arena *a, const struct pool *pool) CHECK_RESULT;

/* The nodes of "n3+n4+leaf:2": names with '+' between, and units (domain, rack, leaf, spine) for
 * all nodes that they join. Names that none has are left out; -ENOENT when none is left. The list
 * is the arena's. -ENOMEM. */
int locate_nodes(const struct locate *l, const char *text, struct arena *a, struct located *ret)
    CHECK_RESULT;

#endif
