#include "cmd/mcp/offers.h"

#include "base/compiler.h"

/* What measures for seconds on all cores (bench), starts a job under observation (run, optimize),
 * serves (agent, up, queue), sends a token to machines that are named (top --nodes), or removes
 * what brim has kept (runs rm, profile remove) is left to people. */
static const struct mcp_offer offers[] = {
    { .name = "why", .command = "why" },
    { .name = "top",
      .command = "top",
      .always = "once",
      .without = { "nodes", "token-file", "patience" } },
    { .name = "machine", .command = "machine", .without = { "record", "fail-on" } },
    { .name = "runs_list", .command = "runs", .sub = "list" },
    { .name = "runs_diff", .command = "runs", .sub = "diff" },
    { .name = "report", .command = "report", .gives = MCP_PAGE },
    { .name = "profile_list", .command = "profile", .sub = "list" },
    { .name = "profile_show", .command = "profile", .sub = "show" },
    { .name = "alerts", .command = "alerts" },
    { .name = "xid", .command = "xid" },
    { .name = "jobs", .command = "jobs" },
    { .name = "cost", .command = "cost" },
    { .name = "sim", .command = "sim" },
    { .name = "plan_train", .command = "plan", .sub = "train" },
    { .name = "plan_memory", .command = "plan", .sub = "memory" },
    { .name = "plan_checkpoint", .command = "plan", .sub = "checkpoint" },
    { .name = "plan_emit", .command = "plan", .sub = "emit" },
    { .name = "plan_eval", .command = "plan", .sub = "eval" },
    { .name = "plan_models", .command = "plan", .sub = "models" },
    { .name = "plan_gpus", .command = "plan", .sub = "gpus" },
    /* Those that act. A job may do whatever its user may. */
    { .name = "submit",
      .command = "submit",
      .acts = true,
      .destroys = true,
      .without = { "output", "error", "wait" } },
    { .name = "cancel", .command = "cancel", .gives = MCP_TEXT, .acts = true, .destroys = true },
    { .name = "hold", .command = "hold", .gives = MCP_TEXT, .acts = true },
    { .name = "release", .command = "release", .gives = MCP_TEXT, .acts = true },
    { .name = "priority", .command = "priority", .gives = MCP_TEXT, .acts = true },
};

const struct mcp_offer *mcp_offer_at(size_t i)
{
    return i < ARRAY_SIZE(offers) ? &offers[i] : NULL;
}
