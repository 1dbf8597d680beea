/* The command line of a call, from what a client gave. */
#ifndef BRIM_CMD_MCP_ARGUMENTS_H
#define BRIM_CMD_MCP_ARGUMENTS_H
#include "base/json_read.h"
#include "cmd/mcp/tool.h"

struct mcp_line {
    const char **argv; /* "brim", "why", "--json", "--", "last"; ends with NULL */
    size_t n;
    bool plain; /* without --json */
};

/* Each option becomes one word, --name=value, and operands stand behind "--", so that none is taken
 * for another one; an operand that begins with a dash is refused unless it is a number, or an
 * argument of the job that is submitted. Limits, choices and what excludes what are looked at by
 * the command. arguments: an object, or NULL. Lives in a. 0, -ENOMEM, or ERR_USAGE with a sentence
 * that names the argument. */
int mcp_line_make(struct mcp_line *ret, struct arena *a, const struct mcp_tool *t,
                  const struct json_value *arguments, struct err *e) CHECK_RESULT;

#endif
