/* The Model Context Protocol, as a function: messages in, answers and calls out. It knows the
 * revisions with a handshake (initialize: 2024-11-05 to 2025-11-25) and the one without, where each
 * request says its revision (2026-07-28), and serves both on one line of messages. */
#ifndef BRIM_CMD_MCP_SESSION_H
#define BRIM_CMD_MCP_SESSION_H
#include "cmd/mcp/result.h"

/* What carries calls out. */
struct mcp_work {
    void *arg;
    /* Take a call, which is copied: its answer comes later. 0; -EEXIST: a call of that id goes on;
     * -EAGAIN: as many as there may be go on; -ENOMEM. */
    int (*begin)(void *arg, const struct mcp_call *call);
    /* End a call: there will be no answer to it. Nothing where no call has that id. */
    void (*cancel)(void *arg, const char *id);
};

struct mcp_session {
    const struct mcp_tools *tools;
    const struct mcp_work *work;
    const char *version; /* of the handshake; NULL: there was none yet */
};

/* Take a message, which is a line, with or without its newline; blank ones are skipped. Answers are
 * added to out, a line each. 0 or -ENOMEM. */
int mcp_session_take(struct mcp_session *s, const char *line, size_t len, struct str *out)
    CHECK_RESULT;

/* The answer to a line that was longer than 'most' bytes, of which nothing was read. */
void mcp_session_too_long(size_t most, struct str *out);

#endif
