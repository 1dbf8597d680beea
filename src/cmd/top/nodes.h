/* brim top --nodes: what limits many nodes, as their agents tell it. */
#ifndef BRIM_CMD_TOP_NODES_H
#define BRIM_CMD_TOP_NODES_H
#include "cmd/common/cmd.h"

struct top_nodes_options {
    const char *nodes;      /* LIST or FILE */
    const char *token_file; /* NULL: no token is sent */
    const char *json;       /* as for cmd_print(); NULL */
    bool once;
    int64_t interval_ns, patience_ns;
};

/* Show them until the user ends it, or once. 0, EXIT_FAILED or a negative errno with a sentence:
 * none answers, for one. */
int top_nodes(const struct app *app, const struct top_nodes_options *o, struct err *e);

#endif
