/* Nodes of a pool by what they are called. */
#ifndef BRIM_MODEL_MACHINE_NODE_NAMES_H
#define BRIM_MODEL_MACHINE_NODE_NAMES_H
#include "model/machine/pool.h"

struct node_names {
    const struct pool *pool;
    uint32_t *slots; /* by name, hashed; 0: empty, otherwise node + 1 */
    size_t n_slots;
};

/* Some nodes, by number, each once. */
struct node_names_found {
    uint32_t *nodes;
    size_t n;
};

/* For a pool, which is borrowed; the rest is the arena's. -ENOMEM. */
int node_names_init(struct node_names *l, struct arena *a, const struct pool *pool) CHECK_RESULT;

/* The nodes of "n3+n4+leaf:2": names with '+' between, and units (domain, rack, leaf, spine) for
 * all nodes that they join. Names that none has are left out; -ENOENT when none is left. The list
 * is the arena's. -ENOMEM. */
int node_names_find(const struct node_names *l, const char *text, struct arena *a,
                    struct node_names_found *ret) CHECK_RESULT;

#endif
