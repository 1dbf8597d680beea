/* How a tool is described to a client: what help prints of its command, as a JSON schema. */
#ifndef BRIM_CMD_MCP_SCHEMA_H
#define BRIM_CMD_MCP_SCHEMA_H
#include "base/json.h"
#include "cmd/mcp/tool.h"

/* The largest whole number that every reader of JSON keeps as it is; larger limits are not told. */
#define MCP_WHOLE_MOST ((INT64_C(1) << 53) - 1)

/* An object of tools/list. */
void mcp_schema_tool(const struct mcp_tool *t, struct json *j);

#endif
