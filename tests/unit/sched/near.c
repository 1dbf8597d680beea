/* Where the data of a job are decides among places that are as good, and among these alone. */
#include "sched/place/place.h"
#include "sched/place/wiring.h"
#include "tap.h"

enum { NODES = 4 };

struct world {
    struct pool pool;
    struct free_capacity room;
    struct wiring wiring;
    struct arena arena;
    struct part parts[NODES];
    struct fit fit;
};

/* Four nodes of 4, two of them below a leaf each; some devices of the first ones are taken. */
static void make(struct world *t, const int taken[NODES])
{
    *t = (struct world){ .fit = { .n = 0 } };
    t->fit.parts = t->parts;
    if (pool_parse(&t->pool, "4x4/2", NULL) != 0 || free_capacity_init(&t->room, &t->pool) != 0 ||
        wiring_init(&t->wiring, &t->arena, &t->pool) != 0)
        exit(1);
    t->room.wiring = &t->wiring;
    for (uint32_t node = 0; node < NODES; node++) {
        const struct work w = { .devices = taken[node], .milli = WORK_WHOLE };
        uint32_t part;

        t->fit.n = 0;
        free_capacity_fit_add(&t->room, &t->fit, node, taken[node]);
        if (taken[node] && free_capacity_take(&t->room, &w, &t->fit, &part) < 0)
            exit(1);
    }
}

static const struct {
    const char *place, *what;
    int taken[NODES], devices, milli, per_node;
    uint32_t near[2], n_near;
    const char *nodes; /* of the place, in its order */
} cases[] = {
    { "consolidate", "one device", { 0 }, 1, WORK_WHOLE, 0, { 2 }, 1, "2" },
    { "consolidate", "one device, and data nowhere", { 0 }, 1, WORK_WHOLE, 0, { 0 }, 0, "0" },
    { "consolidate", "one device beside others", { 0, 1 }, 1, WORK_WHOLE, 0, { 2 }, 1, "1" },
    { "consolidate", "a full node has the data", { 0, 0, 4 }, 1, WORK_WHOLE, 0, { 2 }, 1, "0" },
    { "consolidate", "two nodes", { 0 }, 8, WORK_WHOLE, 0, { 1, 3 }, 2, "13" },
    { "consolidate", "two nodes, the first near", { 0 }, 8, WORK_WHOLE, 0, { 0, 2 }, 2, "02" },
    { "consolidate", "the first node is begun", { 1 }, 1, WORK_WHOLE, 0, { 0 }, 0, "0" },
    { "consolidate", "two nodes, one near", { 0 }, 8, WORK_WHOLE, 0, { 3 }, 1, "30" },
    { "consolidate", "a node and a rest", { 0 }, 6, WORK_WHOLE, 0, { 1, 3 }, 2, "13" },
    { "consolidate", "a rest goes on", { 0, 3 }, 6, WORK_WHOLE, 0, { 1, 3 }, 2, "30" },
    { "consolidate", "two of each node", { 0 }, 4, WORK_WHOLE, 2, { 2, 3 }, 2, "23" },
    { "consolidate", "half a device", { 0 }, 1, 500, 0, { 2 }, 1, "2" },
    { "consolidate", "no device", { 0 }, 0, WORK_WHOLE, 0, { 3 }, 1, "3" },
    { "consolidate", "no device, data nowhere", { 0 }, 0, WORK_WHOLE, 0, { 0 }, 0, "0" },
    { "first", "one device of the first", { 0 }, 1, WORK_WHOLE, 0, { 2 }, 1, "0" },
    { "topology", "one device of a leaf", { 0 }, 1, WORK_WHOLE, 0, { 3 }, 1, "3" },
    { "topology", "a leaf that is begun", { 0, 1 }, 1, WORK_WHOLE, 0, { 3 }, 1, "1" },
    { "topology", "two nodes of a leaf", { 0 }, 8, WORK_WHOLE, 0, { 2 }, 1, "23" },
    { "topology", "two nodes, data last", { 0 }, 8, WORK_WHOLE, 0, { 3 }, 1, "32" },
    { "topology", "a leaf with both", { 0, 1 }, 8, WORK_WHOLE, 0, { 0 }, 1, "23" },
    { "topology", "a node and a rest", { 0 }, 6, WORK_WHOLE, 0, { 3 }, 1, "32" },
    { "topology", "two of each node", { 0 }, 4, WORK_WHOLE, 2, { 3 }, 1, "32" },
};

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct nearby near = { cases[i].near, cases[i].n_near };
        struct work w = { .devices = cases[i].devices, .per_node = cases[i].per_node };
        char nodes[NODES + 1] = "";
        struct world t;

        w.milli = (int16_t)cases[i].milli;
        make(&t, cases[i].taken);
        t.room.near = near.n ? &near : NULL;
        t.fit.n = 0;
        ok(place_named(cases[i].place)->find(&t.room, &w, &t.fit), "place %s finds %s",
           cases[i].place, cases[i].what);
        for (uint32_t k = 0; k < t.fit.n && k < NODES; k++)
            nodes[k] = (char)('0' + t.parts[k].node);
        is_str(nodes, cases[i].nodes, "place %s takes such nodes for %s", cases[i].place,
               cases[i].what);
        free_capacity_done(&t.room);
        arena_done(&t.arena);
        pool_done(&t.pool);
    }
    return done();
}
