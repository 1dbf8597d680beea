/* Nodes that are the same, so that a thousand of them are shown as the few kinds there are. */
#ifndef BRIM_RENDER_MACHINE_GROUPS_H
#define BRIM_RENDER_MACHINE_GROUPS_H
#include "render/machine/render.h"

enum group_cell {
    GROUP_ACCELERATORS, /* "8x H100-SXM5-80GB" */
    GROUP_FABRIC,       /* "NV18" */
    GROUP_CPUS,         /* "2x Xeon Platinum 8480C" */
    GROUP_MEMORY,       /* "2.0 TiB" */
    GROUP_NICS,         /* "12x ConnectX-7" */
    GROUP_CELLS
};

/* Nodes with the same cells and the same ways between their accelerators and NICs. */
struct group {
    const struct node *first;
    const char *cells[GROUP_CELLS];
    const char *ways;
    int wiring;         /* 0, or its number among groups that differ in their ways alone */
    const char **names; /* of the nodes */
    size_t n_names;
};

struct groups {
    struct arena arena;
    struct group *list; /* in the order of their first nodes */
    size_t count;
};

/* 0 or -ENOMEM. */
int groups_build(struct groups *ret, const struct machine_view *v) CHECK_RESULT;
void groups_done(struct groups *g);

#endif
