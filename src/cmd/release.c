/* brim release: let jobs start that were held. */
#include "cmd/queue/act.h"

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return act_on_jobs(values, "release", NULL, operands, e);
}

const struct cmd cmd_release = {
    .name = "release",
    .args = "JOB...",
    .summary = "let jobs start that were held",
    .opts = act_opts,
    .defaults = &act_defaults,
    .size = sizeof(struct act_opts),
    .max_operands = ACT_JOBS,
    .run = run,
};
