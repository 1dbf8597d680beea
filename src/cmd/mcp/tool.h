/* A tool: a command of brim with the options and operands that a client may give. */
#ifndef BRIM_CMD_MCP_TOOL_H
#define BRIM_CMD_MCP_TOOL_H
#include "base/arena.h"
#include "cmd/common/cmd.h"
#include "cmd/mcp/offers.h"
#include "cmd/mcp/operands.h"

struct mcp_tool {
    const struct mcp_offer *offer;
    const struct cmd *cmd;
    const struct cmd_sub *sub; /* NULL: the command has none */
    struct mcp_operands operands;
    const struct opt *opts; /* those that are offered; ends with OPT_END */
};

/* What a server offers. */
struct mcp_tools {
    struct mcp_tool *list;
    size_t n;
    bool acts; /* those that act too */
};

/* The argument of a tool that gives JSON by which it prints what a terminal shows. */
#define MCP_PLAIN "plain"

/* Add a tool; all: the options of its command (cmd_sub_options()). Those that write a file, and
 * those that the row leaves out, are not offered. Lives in a. 0 or -ENOMEM. */
int mcp_tools_add(struct mcp_tools *to, struct arena *a, const struct mcp_tool *tool,
                  const struct opt *all) CHECK_RESULT;

/* The tool of that name; NULL: there is none. */
const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name);

/* Its command, as a user types it: "plan train". */
void mcp_tool_words(const struct mcp_tool *t, struct str *out);

/* What help prints of its arguments: "MODEL --cluster=SPEC --batch=N". */
const char *mcp_tool_args(const struct mcp_tool *t);

#endif
