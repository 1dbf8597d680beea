#include "sim/leaves.h"

#include "sched/place/free_capacity.h"

enum { LEAVES = 1024 }; /* that are told apart */

void sim_leaves_count(struct sim_leaves *to, const struct pool *p, const struct free_capacity *r,
                      uint32_t part)
{
    int32_t seen[LEAVES];
    unsigned n = 0;

    if (part == NO_PART || r->parts[part].next == NO_PART)
        return;
    for (; part != NO_PART; part = r->parts[part].next) {
        int32_t leaf = p->nodes[r->parts[part].node].leaf;
        unsigned i = n;

        while (i > 0 && seen[i - 1] != leaf) /* most often the last one */
            i--;
        if (i == 0 && n < LEAVES)
            seen[n++] = leaf;
    }
    to->gangs++;
    to->apart += n > 1;
    to->leaves += n;
}
