/* The loop of brim mcp: messages from standard input, answers to standard output. */
#ifndef BRIM_CMD_MCP_SERVE_H
#define BRIM_CMD_MCP_SERVE_H
#include "cmd/common/cmd.h"
#include "cmd/mcp/tool.h"

/* Serve until standard input ends and all is answered, nobody reads the answers any more, or
 * SIGTERM or SIGINT: then 0. Input is not read while more than 1 MiB of answers waits to be read. A
 * negative errno with a sentence where a stream fails. */
int mcp_serve(const struct app *app, const struct mcp_tools *tools, int64_t limit_ns, struct err *e)
    CHECK_RESULT;

#endif
