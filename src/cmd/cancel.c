/* brim cancel: end jobs of the queue. */
#include <errno.h>

#include "cmd/queue/act.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"

struct cancel_opts {
    struct act_opts act;
    const char *user;
};

static const struct opt opts[] = {
    { OPT_STRING, 'u', "user", offsetof(struct cancel_opts, user), "NAME",
      "all jobs of that user that have not ended" },
    { OPT_STRING, 0, "directory", offsetof(struct cancel_opts, act.directory), "DIR",
      "the queue's folder" },
    ENGINE_OPTION(offsetof(struct cancel_opts, act.engine)),
    { .kind = OPT_END },
};

static const struct cancel_opts defaults = { .user = NULL };

/* The engine cancels some at a time. */
static int cancel_user(const struct cancel_opts *o, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *folder = queue_client_folder(&a, o->act.directory);
    enum engine engine = ENGINE_LOCAL;
    int64_t n = -1, all = 0;
    int rc;

    if (!folder)
        return err_nomem(e);
    rc = engine_of(&engine, o->act.engine, o->act.directory, folder, e);
    if (rc == 0 && engine == ENGINE_SLURM)
        return on_slurm_cancel_user(o->user, e);
    while (rc == 0 && n != 0 && queue_is_there(folder)) {
        CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX), answer = STR_INIT(WIRE_MAX);

        wire_add(&request, "verb", "cancel");
        wire_add(&request, "user", o->user);
        rc = queue_ask(folder, &request, &answer, e);
        n = wire_int(&answer, "n", 0);
        all += n;
    }
    if (rc == 0 && all == 0)
        return err_set(e, -ENOENT, "the queue in %s has no job of %s that has not ended", folder,
                       o->user);
    return rc;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct cancel_opts *o = values;

    (void)app;
    if (o->user && operands[0])
        return err_usage(e, "--user and JOB exclude each other");
    return o->user ? cancel_user(o, e) : act_on_jobs(&o->act, "cancel", NULL, operands, e);
}

const struct cmd cmd_cancel = {
    .name = "cancel",
    .args = "JOB...",
    .summary = "end jobs of the queue, or take them out of it",
    .about = "One that runs gets SIGTERM, and SIGKILL 10 s later, with all that it has started.\n"
             "12 is a job or a whole array, 12_3 one of an array. --user NAME is all of a user's,\n"
             "for that user and for root.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct cancel_opts),
    .max_operands = ACT_JOBS,
    .run = run,
};
