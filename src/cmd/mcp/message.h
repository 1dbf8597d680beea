/* Messages of JSON-RPC 2.0, as the Model Context Protocol has them: an object, a line each. */
#ifndef BRIM_CMD_MCP_MESSAGE_H
#define BRIM_CMD_MCP_MESSAGE_H
#include "base/json_read.h"
#include "base/str.h"

/* The codes of the protocol. Beside these functions return -ENOMEM. */
enum mcp_code {
    MCP_NO_JSON = -32700,
    MCP_NO_MESSAGE = -32600,
    MCP_NO_METHOD = -32601,
    MCP_BAD_PARAMS = -32602,
    MCP_BAD_VERSION = -32022,
};

struct mcp_message {
    const char *id;                  /* as JSON: 7, "a"; NULL: a notification */
    const char *method;              /* NULL: an answer, which nobody waits for */
    const struct json_value *params; /* an object; NULL: there are none */
};

/* Read a message; what it holds lives in a, or in v. 0, -ENOMEM, or MCP_NO_MESSAGE or
 * MCP_BAD_PARAMS with a sentence; the id is then set if it has one. */
int mcp_message_read(struct mcp_message *ret, struct arena *a, const struct json_value *v,
                     struct err *e) CHECK_RESULT;

/* An id as JSON: a string without a NUL, or a whole number. NULL when it is neither, or too long;
 * or out of memory. */
const char *mcp_message_id(struct arena *a, const struct json_value *v);

/* The answer that is an error; id NULL writes null; data is JSON, or NULL. */
void mcp_message_error(struct str *out, const char *id, int code, const char *sentence,
                       const char *data);

/* What stands before a result, and behind it. */
void mcp_message_begin(struct str *out, const char *id);
void mcp_message_end(struct str *out);

#endif
