/* Asks the agents of a cluster's nodes, and waits until they have answered or not. Addresses that
 * were looked up are kept while the nodes are the same. */
#ifndef BRIM_CONTROL_SOURCE_GATHER_H
#define BRIM_CONTROL_SOURCE_GATHER_H
#include "ask/ask.h"
#include "model/site/site.h"

enum {
    GATHER_LATE = 5,  /* who was silent has a fifth of the patience the next time */
    GATHER_WHOLE = 2, /* times the patience is what all of them have */
};

struct gather_config {
    const char *token;   /* borrowed; NULL: none is sent */
    unsigned port;       /* of all agents */
    int64_t patience_ns; /* for one of them */
};

struct gather;

/* For questions of that configuration, which is copied. */
int gather_open(struct gather **ret, const struct gather_config *config, struct err *e)
    CHECK_RESULT;

/* Ask the agents of those nodes; others have NULL. What 'of' is set to stays until the next call.
 * A node is asked at its address as Slurm has it, or by its name. */
int gather_ask(struct gather *g, const struct site *site, const bool *which,
               const struct node_answer **of, struct err *e) CHECK_RESULT;

/* NULL is skipped. */
void gather_close(struct gather *g);
DEFINE_CLEANUP(struct gather, gather_close)

#endif
