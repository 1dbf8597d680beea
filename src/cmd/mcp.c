/* brim mcp: other commands as tools of an assistant, by the Model Context Protocol. */
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "cmd/mcp/serve.h"
#include "cmd/table.h"

struct mcp_opts {
    bool act;
    int64_t timeout_ns;
};

static const struct opt opts[] = {
    { OPT_FLAG, 0, "act", offsetof(struct mcp_opts, act), NULL,
      "offer what changes the queue, too: submit, cancel, hold, release, priority" },
    { OPT_DURATION, 0, "timeout", offsetof(struct mcp_opts, timeout_ns), "TIME",
      "end a call that takes longer (2m)", .least = OPT_S, .most = 24 * OPT_HOUR },
    { .kind = OPT_END },
};

static const struct mcp_opts defaults = { .timeout_ns = 2 * OPT_MIN };

/* The tool of a row, with the options of its command. */
static int add_tool(struct mcp_tools *to, struct arena *a, const struct mcp_offer *offer)
{
    struct mcp_tool t = { .offer = offer, .cmd = cmd_find(offer->command) };
    struct cmd_options all;

    if (offer->sub)
        t.sub = cmd_sub_find(t.cmd, offer->sub);
    cmd_sub_options(t.cmd, t.sub, &all);
    return mcp_tools_add(to, a, &t, all.list);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct mcp_opts *o = values;
    struct mcp_tools tools = { .acts = o->act };
    int rc = 0;

    (void)operands;
    for (size_t i = 0; mcp_offer_at(i) && rc == 0; i++)
        if (!mcp_offer_at(i)->acts || o->act)
            rc = add_tool(&tools, &a, mcp_offer_at(i));
    if (rc < 0)
        return err_nomem(e);
    if (isatty(STDIN_FILENO))
        say("brim mcp", "waits for an assistant's messages on standard input; Ctrl-D ends it");
    return mcp_serve(app, &tools, o->timeout_ns, e);
}

const struct cmd cmd_mcp = {
    .name = "mcp",
    .args = "",
    .summary = "serve other commands to an assistant (Model Context Protocol)",
    .about =
        "Reads messages from standard input and answers on standard output, as the assistant does\n"
        "that starts it; nothing is listened on. Each tool is a command of brim with its options,\n"
        "and answers what its --json prints. Tools read; with --act there are those that change\n"
        "the queue, too. What may be read is what your user may read. In its configuration:\n"
        "  {\"mcpServers\": {\"brim\": {\"command\": \"brim\", \"args\": [\"mcp\"]}}}",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct mcp_opts),
    .run = run,
};
