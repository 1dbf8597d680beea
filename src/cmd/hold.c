/* brim hold: keep jobs of the queue from starting. */
#include "cmd/queue/act.h"

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return act_on_jobs(values, "hold", NULL, operands, e);
}

const struct cmd cmd_hold = {
    .name = "hold",
    .args = "JOB...",
    .summary = "keep jobs of the queue from starting",
    .about = "One that runs goes on; should it be queued again, it waits then.",
    .opts = act_opts,
    .defaults = &act_defaults,
    .size = sizeof(struct act_opts),
    .max_operands = ACT_JOBS,
    .run = run,
};
