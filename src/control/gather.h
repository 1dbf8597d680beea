/* Asks the agents of a cluster's nodes, and waits until they have answered or not. */
#ifndef BRIM_CONTROL_GATHER_H
#define BRIM_CONTROL_GATHER_H
#include "ask/ask.h"
#include "model/site/site.h"

struct gather_config {
    const char *token;   /* borrowed; NULL: none is sent */
    unsigned port;       /* of all agents */
    int64_t patience_ns; /* for one of them */
};

/* {0} is empty. */
struct gather {
    struct arena arena; /* of the list, and of copies of what came */
};

/* Ask the agents of those nodes; others have NULL. What 'of' is set to stays until the next call.
 * The list of a node is its address as Slurm has it, or its name. */
int gather_ask(struct gather *g, const struct gather_config *config, const struct site *site,
               const bool *which, const struct node_answer **of, struct err *e) CHECK_RESULT;
void gather_done(struct gather *g);

#endif
