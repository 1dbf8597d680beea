/* Calls that go on: each is a process of brim itself, with what it prints in memory. */
#ifndef BRIM_CMD_MCP_CALLS_H
#define BRIM_CMD_MCP_CALLS_H
#include <poll.h>
#include <signal.h>

#include "base/clock.h"
#include "cmd/mcp/session.h"

enum {
    MCP_CALLS_RUNNING = 4, /* processes at a time */
    MCP_CALLS_MOST = 64,   /* with those that wait for one to end */
    MCP_CALLS_FDS = 2 * MCP_CALLS_RUNNING,
};

struct mcp_calls;

/* limit_ns: how long one may take. signals: what processes have blocked. NULL: out of memory. */
struct mcp_calls *mcp_calls_new(const struct clock *clock, int64_t limit_ns,
                                const sigset_t *signals) CHECK_RESULT;

/* Ends those that go on, at once. */
void mcp_calls_free(struct mcp_calls *c);

/* What a session calls; arg of these is c. */
struct mcp_work mcp_calls_work(struct mcp_calls *c);

/* How many there are that nobody has had an answer to, or that have not ended. */
size_t mcp_calls_open(const struct mcp_calls *c);

/* Start processes, of those that wait the first ones. */
void mcp_calls_start(struct mcp_calls *c);

/* What to wait for: descriptors (at most MCP_CALLS_FDS), and for how long at most, in ms; -1: until
 * something happens. */
size_t mcp_calls_fds(const struct mcp_calls *c, struct pollfd *fds);
int mcp_calls_wait_ms(const struct mcp_calls *c);

/* Read what was printed, see who has ended, and end whoever takes too long or prints too much.
 * Answers are added to out. 0 or -ENOMEM. */
int mcp_calls_look(struct mcp_calls *c, struct str *out) CHECK_RESULT;

/* End all, without answers: those that run get SIGTERM, and SIGKILL 2 s later. */
void mcp_calls_end(struct mcp_calls *c);

#endif
