/* The result of a call: what the command printed, and how it ended, as a client takes it. */
#ifndef BRIM_CMD_MCP_RESULT_H
#define BRIM_CMD_MCP_RESULT_H
#include <stdbool.h>

#include "base/json.h"
#include "cmd/mcp/tool.h"

/* What a client called. Borrowed by who is told of it. */
struct mcp_call {
    const char *id; /* as JSON */
    bool modern;    /* results say what they are, and of whom */
    bool plain;     /* text was asked for, not JSON */
    const struct mcp_tool *tool;
    const char *const *argv;
};

enum mcp_end {
    MCP_ENDED,
    MCP_TOO_LONG, /* it took longer than the limit */
    MCP_TOO_MUCH, /* it printed more than the limit */
};

struct mcp_outcome {
    enum mcp_end end;
    int status;            /* exit status; a signal's number, negative */
    const struct str *out; /* stdout */
    const struct str *err; /* stderr */
    const char *limit;     /* the one that was reached, "2m" or "4 MiB" */
};

/* The answer to a call. JSON that the command printed goes into structuredContent, and as text into
 * content; a sentence of stderr beside it. It is an error where there is no JSON (or, of a text,
 * where the exit status is not 0 and nothing was printed, or the tool acts). 0 or -ENOMEM. */
int mcp_result(const struct mcp_call *c, const struct mcp_outcome *o, struct str *out) CHECK_RESULT;

/* The answer to a call that did not start: a sentence for the model, which may ask again. */
void mcp_result_refused(const char *id, bool modern, const char *sentence, struct str *out);

/* What each result of a modern client has: what it is, and who made it. */
void mcp_result_modern(struct json *j);

/* JSON on one line: blanks between its values are left out. */
void mcp_result_compact(const char *json, size_t len, struct str *out);

#endif
