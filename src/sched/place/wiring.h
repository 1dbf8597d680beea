/* Placement by how nodes are wired: a gang on the fewest units (NVLink domain, rack, leaf, spine),
 * and such that large units stay free for large gangs. */
#ifndef BRIM_SCHED_PLACE_WIRING_H
#define BRIM_SCHED_PLACE_WIRING_H
#include "sched/place/free_capacity.h"

enum { WIRING_LEVELS = 4 };

/* What is joined, at one level. */
struct wiring_level {
    uint32_t *unit; /* by node; each lies in one unit of the next level */
    uint32_t *free; /* by unit: usable nodes, in a search */
    uint32_t *near; /* of these, with the job's data; at the innermost level */
    uint32_t n_units;
};

struct wiring {
    struct wiring_level levels[WIRING_LEVELS]; /* those that the pool has, from the inside out */
    int n_levels;
    uint32_t *mark; /* by node: the search that took it */
    uint32_t search;
};

/* -ENOMEM. */
int wiring_init(struct wiring *x, struct arena *a, const struct pool *pool) CHECK_RESULT;

/* Find a place; without wiring, as "consolidate" does. */
bool place_topology(const struct free_capacity *r, const struct work *w, struct fit *f);

#endif
