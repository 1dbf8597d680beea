/* The order in which operations of a step can run. Private to src/diagnose/straggler. */
#ifndef BRIM_DIAGNOSE_STRAGGLER_GRAPH_H
#define BRIM_DIAGNOSE_STRAGGLER_GRAPH_H
#include "diagnose/straggler/straggler.h"

enum { OP_DEPS_MAX = 5, OP_NONE = -1 };

/* Operations that end together: both ends of a transfer, or a collective. */
struct op_group {
    unsigned first, count; /* in members */
    bool all_ranks;        /* it waits for all data-parallel ranks */
    bool waits;            /* it is communication: what counts is the time after the last begin */
};

struct op_graph {
    int (*deps)[OP_DEPS_MAX]; /* of each operation, OP_NONE behind the last */
    struct op_group *groups;  /* in an order in which they can run */
    unsigned n_groups;
    unsigned *members;
    unsigned *group_of;
};

/* Made of the first step of rank 0, in the trace's arena. 0, -ENOMEM, -EINVAL. */
int op_graph_make(struct op_graph *g, struct op_trace *t, struct err *e) CHECK_RESULT;

#endif
