/* brim priority: which jobs of the queue go first. */
#include "base/parse.h"
#include "cmd/queue/act.h"
#include "queue/job/job.h"

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    int64_t number;

    (void)app;
    if (!operands[0] || parse_i64(operands[0], &number) < 0 || number < -QUEUE_PRIORITY ||
        number > QUEUE_PRIORITY)
        return err_usage(e, "say which priority, -100 to 100: brim priority N JOB...");
    return act_on_jobs(values, "priority", operands[0], operands + 1, e);
}

const struct cmd cmd_priority = {
    .name = "priority",
    .args = "N JOB...",
    .summary = "let jobs of the queue go before others, or after them",
    .about = "From -100 to 100; a job has 0 when nobody says: brim priority -5 12 lets others go\n"
             "before job 12.",
    .opts = act_opts,
    .defaults = &act_defaults,
    .size = sizeof(struct act_opts),
    .max_operands = ACT_JOBS,
    .run = run,
};
