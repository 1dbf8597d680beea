/* Many nodes for programs: schema "brim.nodes.v1", in one line. */
#ifndef BRIM_RENDER_NODE_NODES_JSON_H
#define BRIM_RENDER_NODE_NODES_JSON_H
#include "model/nodes/node_order.h"

/* Add them, the worst first. Failures stick in out. */
void nodes_json(const struct node_order *o, int64_t wall_ns, struct str *out);

#endif
