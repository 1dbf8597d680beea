/* What came of asking a node: its report, or why there is none. Pure. */
#ifndef BRIM_MODEL_NODES_NODE_ANSWER_H
#define BRIM_MODEL_NODES_NODE_ANSWER_H
#include "model/nodes/node_list.h"
#include "model/nodes/node_report.h"

enum node_fault {
    NODE_ANSWERED,
    NODE_NOT_ASKED, /* the time for all nodes was over before */
    NODE_NO_NAME,   /* nobody knows its name */
    NODE_NO_LOOKUP, /* what knows names does not answer */
    NODE_REFUSED,   /* nothing listens there */
    NODE_NO_WAY,    /* it cannot be reached: no route, a network that is down */
    NODE_SILENT,    /* it did not answer in time */
    NODE_CLOSED,    /* it ended the connection before its answer was whole */
    NODE_TOKEN,     /* it wants another token, or one */
    NODE_OWN_ONLY,  /* its agent serves its own machine alone */
    NODE_BUSY,      /* an agent that has no sample now, or too many clients */
    NODE_OTHER,     /* an agent of another version */
    NODE_STRANGER,  /* what answers there is no agent */
    NODE_HERE,      /* it could not be asked for a reason of this machine */
    NODE_UNTOLD,    /* who was asked in its place does not tell of it */
    NODE_FAULTS
};

struct node_answer {
    enum node_fault fault;
    int error; /* the errno of NODE_NO_WAY and NODE_HERE; 0 */
    double took_s;
    struct node_report report; /* of NODE_ANSWERED */
    const char *why; /* what is wrong where another was asked in its place, as a sentence; NULL */
};

/* Of what a server answered over HTTP: its status, and with 200 a text. */
void node_answer_read(struct node_answer *a, unsigned status, const char *text, size_t len);

/* "refused"; for programs. */
const char *node_answer_fault(enum node_fault fault);

/* Add why there is no report, as a sentence about this node: "nothing listens on port 9410: start
 * brim agent there". waited_s: what it had. Failures stick in out. */
void node_answer_why(const struct node_answer *a, const struct node_list_node *node, bool token,
                     double waited_s, struct str *out);

#endif
