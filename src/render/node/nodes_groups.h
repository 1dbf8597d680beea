/* Nodes of which the same is to be said, as one line: where there are more than a page has room
 * for. Pure. */
#ifndef BRIM_RENDER_NODE_NODES_GROUPS_H
#define BRIM_RENDER_NODE_NODES_GROUPS_H
#include "model/nodes/node_order.h"

/* One node, or several in the same state whose sentences differ in numbers only. */
struct nodes_groups_group {
    const struct node_order_row *worst; /* the first of them: its sentence stands for all */
    size_t n;
    const char *names;       /* "n[101-140]"; the list's or the arena's */
    double gpus, idle, cost; /* of all of them */
};

struct nodes_groups {
    struct nodes_groups_group *groups; /* in the order of their worst; the arena's */
    size_t n;
};

/* A group for each node where there are no more than 'most' (0: no limit), else as few as there can
 * be. 0 or -ENOMEM. */
int nodes_groups_make(struct nodes_groups *ret, struct arena *a, const struct node_order *o,
                      size_t most) CHECK_RESULT;

#endif
