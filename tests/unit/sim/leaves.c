/* Over how many leaf switches the nodes of a gang lie. */
#include "sim/leaves.h"

#include <stdlib.h>

#include "sched/place/free_capacity.h"
#include "tap.h"

enum { NODES = 6 };

/* Six nodes, two of them below a leaf each; a gang has some, in an order. */
static const struct {
    const char *what;
    uint32_t nodes[NODES];
    uint32_t n;
    unsigned gangs, apart, leaves;
} cases[] = {
    { "no node", { 0 }, 0, 0, 0, 0 },
    { "one node", { 3 }, 1, 0, 0, 0 },
    { "two nodes of a leaf", { 0, 1 }, 2, 1, 0, 1 },
    { "two nodes of two leaves", { 1, 2 }, 2, 1, 1, 2 },
    { "three nodes, of one leaf the first and the last", { 0, 2, 1 }, 3, 1, 1, 2 },
    { "nodes of three leaves in turn", { 0, 2, 4, 1, 3, 5 }, 6, 1, 1, 3 },
};

int main(void)
{
    struct sim_leaves sum = { .gangs = 0 };
    unsigned gangs = 0, apart = 0, leaves = 0;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct work w = { .devices = (int32_t)cases[i].n, .milli = WORK_WHOLE };
        struct pool pool = { .n_nodes = 0 };
        struct part parts[NODES];
        struct fit fit = { .parts = parts };
        struct free_capacity room;
        uint32_t part = NO_PART;

        if (pool_parse(&pool, "6x4/2", NULL) != 0 || free_capacity_init(&room, &pool) != 0)
            exit(1);
        for (uint32_t k = 0; k < cases[i].n; k++)
            free_capacity_fit_add(&room, &fit, cases[i].nodes[k], 1);
        is_int(free_capacity_take(&room, &w, &fit, &part), 0, "a gang takes %s", cases[i].what);
        sim_leaves_count(&sum, &pool, &room, part);
        gangs += cases[i].gangs;
        apart += cases[i].apart;
        leaves += cases[i].leaves;
        ok(sum.gangs == gangs && sum.apart == apart && sum.leaves == leaves,
           "the leaves of %s are counted, with those before", cases[i].what);
        free_capacity_done(&room);
        pool_done(&pool);
    }
    return done();
}
