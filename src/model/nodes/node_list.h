/* Lists of nodes as people and Slurm write them: "n1,n2:9500,[fd00::7],rack2-n[001-128,140]", in a
 * file one or more a line, with '#' before comments. Pure. */
#ifndef BRIM_MODEL_NODES_NODE_LIST_H
#define BRIM_MODEL_NODES_NODE_LIST_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { NODE_LIST_MAX = 10000, NODE_LIST_NAME = 254, NODE_LIST_PORT = 9410 };

struct node_list_node {
    const char *text; /* as a list names it, and an address of a page: "n1", "n1:9500", "[::1]" */
    const char *name; /* what to look up: "n1", "::1" */
    unsigned port;
};

/* {0} is empty; what it holds is an arena's. */
struct node_list {
    struct node_list_node *nodes; /* each once, in the order in which they were named first */
    size_t n;
    uint32_t *slots; /* private: of nodes by text, hashed; 0: empty, otherwise node + 1 */
};

/* Add the nodes of one line. 0, -ENOMEM, or -EINVAL with a sentence that names the part that is
 * wrong; what was added before it stays. */
int node_list_add(struct node_list *l, struct arena *a, const char *line, struct err *e)
    CHECK_RESULT;

/* Add those of a file's lines: the sentence begins with "file:line: ". */
int node_list_read(struct node_list *l, struct arena *a, const char *file, const char *text,
                   size_t len, struct err *e) CHECK_RESULT;

/* The order of two nodes: of their names, where numbers count by their value, then of their
 * ports. */
int node_list_compare(const struct node_list_node *a, const struct node_list_node *b);

#endif
