/* --nodes LIST|FILE: which agents are asked, and with what. */
#ifndef BRIM_CMD_COMMON_NODES_OPTION_H
#define BRIM_CMD_COMMON_NODES_OPTION_H
#include "base/str.h"
#include "model/nodes/node_list.h"

/* Read a list of nodes, or the file that has one: "-" is standard input, and what is a file here,
 * or has a '/' in it, is that file. 0, ERR_USAGE for a wrong list, or a negative errno with a
 * sentence; the list is the arena's. */
int nodes_option_read(struct node_list *ret, struct arena *a, const char *text, struct err *e)
    CHECK_RESULT;

/* Read a token that is to be sent. 0, or a negative errno with a sentence. */
int nodes_option_token(const char *path, struct str *token, struct err *e) CHECK_RESULT;

#endif
