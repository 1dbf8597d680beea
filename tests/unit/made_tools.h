/* Tools of brim mcp made of commands that were made up: each kind of option and of operand. */
#ifndef BRIM_TESTS_MADE_TOOLS_H
#define BRIM_TESTS_MADE_TOOLS_H
#include "cmd/mcp/tool.h"

static const char *const made_kinds[] = { "small", "large", NULL };

static const struct opt made_opts[] = {
    { OPT_OUTPUT, 'j', "json", 0, "FILE", "print JSON, or write it to FILE" },
    { OPT_FLAG, 'd', "deep", 0, NULL, "look at all" },
    { OPT_STRING, 0, "from", 0, "DIR", "read a recording" },
    { OPT_STRING, 0, "svg", 0, "FILE", "draw it into a file", .file = OPT_PAGE },
    { OPT_STRING, 0, "record", 0, "DIR", "record this machine" },
    { OPT_UINT, 0, "batch", 0, "N", "sequences of a step", .least = 1, .most = 64,
      .unit = "of them" },
    { OPT_INT, 0, "nice", 0, "N", "how to go first", .least = -5, .most = 5 },
    { OPT_UINT, 0, "pid", 0, "PID", "of a process", .least = 1, .most = INT64_MAX / 2 },
    { OPT_DURATION, 0, "for", 0, "TIME", "how long (20s)", .least = OPT_S },
    { OPT_CHOICE, 0, "kind", 0, "KIND", "which of them", .choices = made_kinds },
    { OPT_LIST, 0, "pin", 0, "X=N,...", "what is settled" },
    { .kind = OPT_END },
};
static const struct opt made_none[] = { { .kind = OPT_END } };

static const struct cmd_sub made_sub = { "train",
                                         "MODEL --batch=N",
                                         "search a layout",
                                         { "plan train A --batch=8", "plan train B --batch=8" },
                                         CMD_MODELS };
static const struct cmd made_look = { .name = "look",
                                      .args = "[RUN]",
                                      .summary = "say what limits a run",
                                      .about = "Judge a run.",
                                      .words = CMD_RUNS,
                                      .opts = made_opts };
static const struct cmd made_plan = { .name = "plan", .args = "train MODEL", .opts = made_opts };
static const struct cmd made_put = { .name = "put",
                                     .args = "COMMAND [ARGUMENT...]",
                                     .summary = "put a job into the queue",
                                     .opts = made_opts,
                                     .runs_program = true };
static const struct cmd made_page = {
    .name = "page", .args = "", .summary = "one HTML page", .opts = made_none
};
static const struct cmd made_weigh = {
    .name = "weigh", .args = "N JOB...", .summary = "let jobs go first", .opts = made_none
};
static const struct cmd made_code = { .name = "code",
                                      .args = "[CODE [WORD [STATUS]]]",
                                      .summary = "what a code means",
                                      .opts = made_none };

static const struct mcp_offer made_offers[] = {
    { .name = "look", .command = "look", .always = "deep", .without = { "record" } },
    { .name = "plan_train", .command = "plan", .sub = "train" },
    { .name = "put", .command = "put", .acts = true, .destroys = true },
    { .name = "page", .command = "page", .gives = MCP_PAGE },
    { .name = "weigh", .command = "weigh", .gives = MCP_TEXT, .acts = true },
    { .name = "code", .command = "code" },
};

/* All of them, in the order of the rows; 0 or -ENOMEM. */
static inline int made_tools(struct mcp_tools *to, struct arena *a)
{
    const struct mcp_tool made[] = {
        { .offer = &made_offers[0], .cmd = &made_look },
        { .offer = &made_offers[1], .cmd = &made_plan, .sub = &made_sub },
        { .offer = &made_offers[2], .cmd = &made_put },
        { .offer = &made_offers[3], .cmd = &made_page },
        { .offer = &made_offers[4], .cmd = &made_weigh },
        { .offer = &made_offers[5], .cmd = &made_code },
    };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(made) && rc == 0; i++)
        rc = mcp_tools_add(to, a, &made[i], made[i].cmd->opts);
    return rc;
}

#endif
