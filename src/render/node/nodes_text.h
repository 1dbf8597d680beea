/* Many nodes for people: a sentence about all, and a line for each, the worst first. */
#ifndef BRIM_RENDER_NODE_NODES_TEXT_H
#define BRIM_RENDER_NODE_NODES_TEXT_H
#include "model/nodes/node_order.h"
#include "render/node/live_text.h"

struct nodes_text_page {
    size_t first;  /* of the lines that are shown, for those that did not fit above */
    bool unfolded; /* a line for each node, also where the page has no room for all */
};

/* Add them, line by line, as live_text() does; look->columns 0: lines are not cut. Where there are
 * more nodes than lines, those of which the same is to be said are one. Returns how many lines
 * there are in all; failures stick in out. */
size_t nodes_text(const struct node_order *o, const struct nodes_text_page *which,
                  const struct live_look *look, struct str *out);

#endif
