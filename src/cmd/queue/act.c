#include "cmd/queue/act.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cmd/common/terminal_text.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"
#include "queue/job/job.h"

const struct opt act_opts[] = {
    { OPT_STRING, 0, "directory", offsetof(struct act_opts, directory), "DIR",
      "the queue's folder" },
    ENGINE_OPTION(offsetof(struct act_opts, engine)),
    { .kind = OPT_END },
};

const struct act_opts act_defaults = { .directory = NULL };

/* folder: of the queue; NULL: it is Slurm's. */
static int ask(const char *folder, const char *verb, const char *job, const char *priority,
               struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX), answer = STR_INIT(WIRE_MAX);
    int64_t number = 0;

    if (!folder)
        return priority && parse_i64(priority, &number) < 0
                   ? err_usage(e, "'%s' is no priority", priority)
                   : on_slurm_act(verb, job, number, e);
    wire_add(&request, "verb", verb);
    wire_add(&request, "job", job);
    if (priority)
        wire_add(&request, "priority", priority);
    return queue_ask(folder, &request, &answer, e);
}

int act_on_jobs(const struct act_opts *o, const char *verb, const char *priority, char **jobs,
                struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *folder = queue_client_folder(&a, o->directory);
    enum engine engine = ENGINE_LOCAL;
    int failed = 0, rc;

    if (!folder)
        return err_nomem(e);
    if (!jobs[0])
        return err_usage(e, "say which job: brim %s %sJOB...", verb, priority ? "N " : "");
    for (char **job = jobs; *job; job++) {
        rc = queue_client_label(*job, e);
        if (rc < 0)
            return rc;
    }
    rc = engine_of(&engine, o->engine, o->directory, folder, e);
    if (rc < 0)
        return rc;
    if (engine == ENGINE_SLURM)
        folder = NULL;
    else if (!queue_is_there(folder))
        return err_set(e, -ENOENT, "there is no job %s: the queue in %s was never used", jobs[0],
                       folder);
    for (; *jobs; jobs++) {
        struct err why = { "" };
        char who[32];

        rc = ask(folder, verb, *jobs, priority, &why);

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
