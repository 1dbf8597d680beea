/* brim cancel, hold, release, priority: orders about jobs of the queue. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"
#include "queue/job/job.h"

enum { JOBS = 1000 };

struct order_opts {
    const char *directory;
};

static const struct opt opts[] = {
    { OPT_STRING, 0, "directory", offsetof(struct order_opts, directory), "DIR",
      "the queue's folder" },
    { .kind = OPT_END },
};

static const struct order_opts defaults = { .directory = NULL };

static int ask(const char *folder, const char *verb, const char *job, const char *priority,
               struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX), answer = STR_INIT(WIRE_MAX);

    wire_add(&request, "verb", verb);
    wire_add(&request, "job", job);
    if (priority)
        wire_add(&request, "priority", priority);
    return queue_ask(folder, &request, &answer, e);
}

/* All that are named, whatever becomes of the others; the last failure is told by main(). */
static int order(const struct order_opts *o, const char *verb, const char *priority, char **jobs,
                 struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *folder = queue_client_folder(&a, o->directory);
    int failed = 0;

    if (!folder)
        return err_nomem(e);
    if (!jobs[0])
        return err_usage(e, "say which job: brim %s %sJOB...", verb, priority ? "N " : "");
    for (char **job = jobs; *job; job++) {
        int rc = queue_client_label(*job, e);

        if (rc < 0)
            return rc;
    }
    if (!queue_is_there(folder))
        return err_set(e, -ENOENT, "there is no job %s: the queue in %s was never used", jobs[0],
                       folder);
    for (; *jobs; jobs++) {
        struct err why = { "" };
        char who[32];
        int rc = ask(folder, verb, *jobs, priority, &why);

        if (rc >= 0)
            continue;
        if (failed) {
            snprintf(who, sizeof(who), "brim %s", verb);
            say(who, e->text);
        }
        *e = why;
        failed = rc;
    }
    return failed;
}

static int cancel(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return order(values, "cancel", NULL, operands, e);
}

static int hold(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return order(values, "hold", NULL, operands, e);
}

static int release(const struct app *app, const void *values, char **operands, struct err *e)
{
    (void)app;
    return order(values, "release", NULL, operands, e);
}

static int priority(const struct app *app, const void *values, char **operands, struct err *e)
{
    int64_t number;

    (void)app;
    if (!operands[0] || parse_i64(operands[0], &number) < 0 || number < -QUEUE_PRIORITY ||
        number > QUEUE_PRIORITY)
        return err_usage(e, "say which priority, -100 to 100: brim priority N JOB...");
    return order(values, "priority", operands[0], operands + 1, e);
}

const struct cmd cmd_cancel = {
    .name = "cancel",
    .args = "JOB...",
    .summary = "end jobs of the queue, or take them out of it",
    .about = "One that runs gets SIGTERM, and SIGKILL 10 s later, with all that it has started.\n"
             "12 is a job or a whole array, 12_3 one of an array.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct order_opts),
    .max_operands = JOBS,
    .run = cancel,
};

const struct cmd cmd_hold = {
    .name = "hold",
    .args = "JOB...",
    .summary = "keep jobs of the queue from starting",
    .about = "One that runs goes on; should it be queued again, it waits then.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct order_opts),
    .max_operands = JOBS,
    .run = hold,
};

const struct cmd cmd_release = {
    .name = "release",
    .args = "JOB...",
    .summary = "let jobs start that were held",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct order_opts),
    .max_operands = JOBS,
    .run = release,
};

const struct cmd cmd_priority = {
    .name = "priority",
    .args = "N JOB...",
    .summary = "let jobs of the queue go before others, or after them",
    .about = "From -100 to 100; a job has 0 when nobody says. A negative one stands behind --:\n"
             "  brim priority -- -5 12",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct order_opts),
    .max_operands = JOBS,
    .run = priority,
};
