/* brim cancel: end jobs of the queue. */
#include "cmd/queue/act.h"

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return act_on_jobs(values, "cancel", NULL, operands, e);
}

const struct cmd cmd_cancel = {
    .name = "cancel",
    .args = "JOB...",
    .summary = "end jobs of the queue, or take them out of it",
    .about = "One that runs gets SIGTERM, and SIGKILL 10 s later, with all that it has started.\n"
             "12 is a job or a whole array, 12_3 one of an array.",
    .opts = act_opts,
    .defaults = &act_defaults,
    .size = sizeof(struct act_opts),
    .max_operands = ACT_JOBS,
    .run = run,
};
