/* The nodes of --nodes: asked while somebody looks, in the agent's loop, which never waits for
 * them. */
#ifndef BRIM_DAEMON_NODES_H
#define BRIM_DAEMON_NODES_H
#include "base/clock.h"
#include "daemon/http/http.h"
#include "model/nodes/node_list.h"

struct nodes;
struct uv_loop_s; /* libuv's uv_loop_t */

struct nodes_config {
    const struct clock *clock;
    const struct node_list *list; /* borrowed; empty: none are served */
    const char *token;            /* that is sent to them; NULL: none */
};

int nodes_open(struct nodes **ret, struct uv_loop_s *loop, const struct nodes_config *config,
               struct err *e) CHECK_RESULT;

/* After the loop has closed all handles. */
void nodes_close(struct nodes *n);

/* Refuse those who wait, and ask no more. */
void nodes_end(struct nodes *n);

/* Answer a call with what all nodes said last ("brim.nodes.v1"); where that is older than some
 * seconds, ask them first. 404 where there is no list. */
void nodes_answer(struct nodes *n, struct http_call *call);

#endif
