/* Many nodes, the worst first: those that do not answer, those with alerts, those that something
 * limits by what their accelerators lose, and then the others. Pure. */
#ifndef BRIM_MODEL_NODES_NODE_ORDER_H
#define BRIM_MODEL_NODES_NODE_ORDER_H
#include "base/arena.h"
#include "model/nodes/node_answer.h"

enum node_order_state {
    NODE_ORDER_SILENT,   /* no report: its fault says why */
    NODE_ORDER_CRITICAL, /* an accelerator is lost, or an alert is critical */
    NODE_ORDER_ALERT,    /* an alert is a warning */
    NODE_ORDER_LIMITED,  /* something limits it */
    NODE_ORDER_UNKNOWN,  /* its agent has just begun */
    NODE_ORDER_IDLE,     /* nothing runs there */
    NODE_ORDER_WELL,
    NODE_ORDER_STATES
};

struct node_order_row {
    const struct node_list_node *node;
    const struct node_answer *answer;
    enum node_order_state state;
    double cost;          /* GPU-hours that are lost in an hour; 0 where that is not known */
    const char *sentence; /* about the node; the arena's */
};

/* Of all nodes. */
struct node_order_sums {
    size_t states[NODE_ORDER_STATES];
    size_t limited[LIVE_STAGES + 1]; /* by stage; LIVE_NONE: their accelerators wait for no stage */
    double gpus, idle, lost, gpu_hours;
};

struct node_order {
    struct node_order_row *rows; /* the arena's */
    size_t n;
    struct node_order_sums sums;
};

/* What those who ask have said, for sentences. */
struct node_order_asked {
    bool token;      /* with one */
    double waited_s; /* how long a node had */
};

/* Order answers, one for each node of the list; both are borrowed. 0 or -ENOMEM. */
int node_order_make(struct node_order *ret, struct arena *a, const struct node_list *list,
                    const struct node_answer *answers, const struct node_order_asked *asked)
    CHECK_RESULT;

/* Add the sentence about all of them: "500 nodes: 3 do not answer, 12 are limited by storage, 41 of
 * 4000 GPUs are idle". Failures stick in out. */
void node_order_sentence(const struct node_order *o, struct str *out);

/* "no answer", "limited" */
const char *node_order_state_name(enum node_order_state s);

#endif
