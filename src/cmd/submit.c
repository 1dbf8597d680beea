/* brim submit: a job for the queue of this machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/conf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cmd/common/cmd.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "cmd/queue/submit_check.h"
#include "cmd/queue/submit_opts.h"
#include "queue/client.h"
#include "queue/job/job.h"
#include "run/job/environ.h"

enum { ANSWER_MAX = WIRE_MAX, PATH_TEXT = 4096 };
enum { CPUS_MAX = 1 << 16, MEMORY_GB = 1 << 16 }; /* more than any machine has */
static const int64_t gb = 1000000000;

static const struct opt opts[] = {
    { OPT_UINT, 'd', "devices", offsetof(struct submit_opts, devices), "N",
      "accelerators that it needs (0)", .most = QUEUE_SLOTS },
    { OPT_UINT, 0, "min-devices", offsetof(struct submit_opts, least), "N",
      "with --requeue: it may be left with so many (all of them)", .least = 1,
      .most = QUEUE_SLOTS },
    { OPT_UINT, 'c', "cpus", offsetof(struct submit_opts, cpus), "N",
      "CPUs that it needs (its share by devices, or 1)", .most = CPUS_MAX },
    { OPT_DURATION, 'l', "limit", offsetof(struct submit_opts, limit_ns), "TIME",
      "end it after so long" },
    { OPT_DURATION, 0, "warn", offsetof(struct submit_opts, warn_ns), "TIME",
      "send the checkpoint signal so long before the limit" },
    { OPT_DURATION, 0, "deadline", offsetof(struct submit_opts, deadline_ns), "TIME",
      "it is to have ended so long from now (policy deadline)", .least = OPT_MS },
    { OPT_INT, 'p', "priority", offsetof(struct submit_opts, priority), "N",
      "higher goes first (0)", .least = -QUEUE_PRIORITY, .most = QUEUE_PRIORITY },
    { OPT_FLAG, 'r', "requeue", offsetof(struct submit_opts, requeue), NULL,
      "it may be stopped and started again: it goes on from a checkpoint" },
    { OPT_FLAG, 0, "share", offsetof(struct submit_opts, share), NULL,
      "with --requeue: it may share its devices with another such job (policy with [share])" },
    { OPT_UINT, 0, "memory", offsetof(struct submit_opts, memory_gb), "GB",
      "with --share: of each device it needs so much at most (what is seen)", .least = 1,
      .most = MEMORY_GB },
    { OPT_STRING, 0, "checkpoint-signal", offsetof(struct submit_opts, signal), "NAME",
      "what asks it for a checkpoint (TERM)" },
    { OPT_DURATION, 0, "grace", offsetof(struct submit_opts, grace_ns), "TIME",
      "how long it may take for that (30s)" },
    { OPT_STRING, 'a', "array", offsetof(struct submit_opts, array), "LIST",
      "one job per number: 0-9, 1,3,5-7, 0-99%4 for 4 at a time" },
    { OPT_STRING, 0, "after", offsetof(struct submit_opts, after), "KIND:JOB,...",
      "wait for jobs: after (start), afterok, afterany, afternotok" },
    { OPT_FLAG, 'H', "hold", offsetof(struct submit_opts, hold), NULL,
      "do not start it before brim release" },
    { OPT_STRING, 'o', "output", offsetof(struct submit_opts, output), "FILE",
      "what it writes; %j is the job, %A the array, %a the number in it" },
    { OPT_STRING, 'e', "error", offsetof(struct submit_opts, error), "FILE",
      "what it writes to stderr (where --output goes)" },
    { OPT_STRING, 'C', "chdir", offsetof(struct submit_opts, chdir), "DIR",
      "the folder that it runs in (this one)" },
    { OPT_STRING, 'n', "name", offsetof(struct submit_opts, name), "NAME",
      "what to call it (its command)" },
    { OPT_STRING, 0, "team", offsetof(struct submit_opts, team), "NAME",
      "whose share it counts in (BRIM_TEAM, or your group)" },
    { OPT_STRING, 0, "class", offsetof(struct submit_opts, class), "NAME",
      "what kind of job it is, where a policy has shares for that" },
    { OPT_FLAG, 0, "watch", offsetof(struct submit_opts, watch), NULL,
      "run it under brim run, for brim why (default with devices)" },
    { OPT_FLAG, 0, "no-watch", offsetof(struct submit_opts, no_watch), NULL,
      "do not run it under brim run" },
    { OPT_FLAG, 'w', "wait", offsetof(struct submit_opts, wait), NULL,
      "wait for its end, and end with its exit status" },
    { OPT_FLAG, 0, "dry-run", offsetof(struct submit_opts, dry), NULL,
      "only say when and where it would start" },
    { OPT_STRING, 0, "directory", offsetof(struct submit_opts, directory), "DIR",
      "the queue's folder" },
    ENGINE_OPTION(offsetof(struct submit_opts, engine)),
    CMD_JSON(offsetof(struct submit_opts, json)),
    { .kind = OPT_END },
};

static const int64_t grace_ns = 30 * NS_PER_S;
static const struct submit_opts defaults = { .grace_ns = -1, .deadline_ns = -1 };

static int any_task(void *arg, int32_t task)
{
    (void)arg, (void)task;
    return 0;
}

/* Texts that the queue has no room for. ERR_USAGE with a sentence, or 0. */
static int check_lengths(const struct submit_opts *o, struct err *e)
{
    const struct {
        const char *name, *text;
        size_t room;
    } texts[] = {
        { "name", o->name, QUEUE_NAME },
        { "team", o->team, QUEUE_GROUP },
        { "class", o->class, QUEUE_GROUP },
        { "after", o->after, QUEUE_AFTER },
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (texts[i].text && strlen(texts[i].text) >= texts[i].room)
            return err_usage(e, "--%s is longer than %zu bytes", texts[i].name, texts[i].room - 1);
    return 0;
}

/* What can be found wrong here. ERR_USAGE with a sentence, or 0. */
static int check(const struct submit_opts *o, char **operands, struct err *e)
{
    enum queue_after_kind kind = AFTER_NONE;
    const char *after = o->after ? o->after : "";
    int32_t width;
    int64_t id;
    int rc;

    if (!operands[0] || !*operands[0])
        return err_usage(e, "say which command: brim submit COMMAND ARGUMENT...");
    if (o->signal && queue_signal(o->signal, e) < 0)
        return ERR_USAGE;
    if (o->array && queue_array(o->array, &width, any_task, NULL, e) < 0)
        return ERR_USAGE;
    while ((rc = queue_after_next(&after, &kind, &id, e)) > 0)
        ;
    if (rc < 0)
        return ERR_USAGE;
    if (o->least > 0 && !o->requeue)
        return err_usage(e, "--min-devices needs --requeue: the job is stopped and started again");
    if (o->least > 0 && o->least >= o->devices)
        return err_usage(e, "--min-devices is less than --devices");
    if (o->share && (!o->requeue || o->devices == 0))
        return err_usage(e, "--share needs --devices and --requeue: one of two that share devices "
                            "is stopped and started again");
    if (o->share && o->no_watch)
        return err_usage(e, "--share and --no-watch exclude each other: its steps are watched");
    if (o->memory_gb > 0 && !o->share)
        return err_usage(e, "--memory needs --share");
    if (o->watch && o->no_watch)
        return err_usage(e, "--watch and --no-watch exclude each other");
    if (o->warn_ns > 0 && o->warn_ns >= o->limit_ns)
        return err_usage(e, "--warn is a time before the limit: it needs a longer --limit");
    return check_lengths(o, e);
}

/* The folder that it runs in; NULL with a sentence. */
static const char *folder_of(const struct submit_opts *o, struct arena *a, struct err *e)
{
    char here[PATH_TEXT];
    const char *path = o->chdir;

    if (!path || *path != '/') {
        if (!getcwd(here, sizeof(here))) {
            (void)err_set(e, -errno, "cannot tell the folder that this is: %s", strerror(errno));
            return NULL;
        }
        path = path ? arena_printf(a, "%s/%s", here, path) : arena_strdup(a, here);
    }
    if (!path)
        (void)err_nomem(e);
    return path;
}

/* The folder, the command and the files for its output are looked for now, by the user and where it
 * submits: a job that could only fail does not wait for devices first. What jobs before it make, or
 * is made while it is held, may not be there yet. */
static int add_folder(const struct submit_opts *o, const char *command, struct str *request,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *path = folder_of(o, &a, e);
    int rc = 0;

    if (!path)
        return -EIO;
    if (!o->hold && !o->after)
        rc = submit_check_folder(path, e);
    if (rc == 0 && !o->hold && !o->after)
        rc = submit_check_command(command, path, environ_get(conf_environment(), "PATH"), e);
    if (rc == 0 && !o->hold && !o->after)
        rc = submit_check_output("--output", o->output, path, e);
    if (rc == 0 && !o->hold && !o->after)
        rc = submit_check_output("--error", o->error, path, e);
    wire_add(request, "cwd", path);
    return rc;
}

/* Of this submission, for an engine that is asked again. */
static void add_token(const struct app *app, struct str *request)
{
    char token[QUEUE_TOKEN];

    snprintf(token, sizeof(token), "%llx-%x", (unsigned long long)clock_wall_ns(app->clock),
             (unsigned)getpid());
    wire_add(request, "token", token);
}

/* The limits of this shell: those of the engine are of another one. */
static void add_limits(struct str *request)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        char text[48];
        struct rlimit limit;

        if (getrlimit((__rlimit_resource_t)i, &limit) < 0)
            continue;
        snprintf(text, sizeof(text), "%d %llu", i, (unsigned long long)limit.rlim_cur);
        wire_add(request, "rlimit", text);
    }
}

/* The last part of a command's path, as far as there is room for whole characters. */
static void name_of(const char *command, char ret[QUEUE_NAME])
{
    const char *slash = strrchr(command, '/'), *from = slash ? slash + 1 : command;
    size_t len = 0, next;
    uint32_t code;

    while (from[len] && len + (next = utf8_decode(from + len, &code)) < QUEUE_NAME)
        len += next;
    snprintf(ret, QUEUE_NAME, "%.*s", (int)len, from);
}

/* What few submissions say. */
static void add_chosen(const struct submit_opts *o, struct str *request)
{
    const char *team = o->team ? o->team : environ_get(conf_environment(), "BRIM_TEAM");

    if (o->least)
        wire_add_int(request, "least", (int64_t)o->least);
    if (o->share)
        wire_add_int(request, "share", 1);
    if (o->memory_gb)
        wire_add_int(request, "memory", (int64_t)o->memory_gb * gb);
    if (team)
        wire_add(request, "team", team);
    if (o->class)
        wire_add(request, "class", o->class);
    if (o->after)
        wire_add(request, "after", o->after);
    if (o->array)
        wire_add(request, "array", o->array);
    if (o->output)
        wire_add(request, "out", o->output);
    if (o->error)
        wire_add(request, "err", o->error);
}

static int make_request(const struct app *app, const struct submit_opts *o, char **command,
                        struct str *request, struct err *e)
{
    char *const *env = conf_environment();
    char name[QUEUE_NAME];
    mode_t mask = umask(0);
    int rc;

    umask(mask);
    wire_add(request, "verb", "submit");
    add_token(app, request);
    name_of(command[0], name);
    wire_add(request, "name", o->name ? o->name : name);
    wire_add_int(request, "devices", (int64_t)o->devices);
    wire_add_int(request, "cpus", (int64_t)o->cpus);
    wire_add_int(request, "limit", o->limit_ns / NS_PER_MS);
    wire_add_int(request, "warn", o->warn_ns / NS_PER_MS);
    wire_add_int(request, "deadline", MAX(o->deadline_ns, 0) / NS_PER_MS);
    wire_add_int(request, "grace", (o->grace_ns < 0 ? grace_ns : o->grace_ns) / NS_PER_MS);
    wire_add_int(request, "signal", queue_signal(o->signal ? o->signal : "TERM", e));
    wire_add_int(request, "hold", o->hold);
    wire_add_int(request, "requeue", o->requeue);
    wire_add_int(request, "watch", o->watch ? 1 : o->no_watch ? 0 : -1);
    wire_add_int(request, "dry", o->dry);
    wire_add_int(request, "umask", (int64_t)mask);
    add_chosen(o, request);
    rc = add_folder(o, command[0], request, e);
    add_limits(request);
    for (; *command; command++)
        wire_add(request, "arg", *command);
    for (; *env; env++)
        wire_add(request, "env", *env);
    if (rc == 0 && str_error(request) == -EFBIG)
        return err_set(e, -EFBIG, "the job's command and environment are larger than %d MiB",
                       WIRE_ORDER >> 20);
    return rc == 0 && str_error(request) < 0 ? err_nomem(e) : rc;
}

/* The exit status of jobs that have all ended. */
static int status_of(const struct json_value *jobs)
{
    int status = 0;

    for (size_t i = 0; i < jobs->n_items; i++) {
        const struct json_value *job = &jobs->items[i];
        double exit = queue_client_number(job, "exit");

        if (strcmp(queue_client_text(job, "state"), "done") != 0)
            status = jobs->n_items == 1 && exit > 0 ? (int)exit : EXIT_FAILED;
    }
    return status;
}

static int wait_for(const char *folder, int64_t id, struct err *e)
{
    CLEANUP(str_done) struct str answer = STR_INIT(ANSWER_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *jobs = NULL;
    int rc = queue_client_wait(folder, id, &answer, e);

    if (rc == 0)
        rc = queue_client_read(&jobs, &a, &answer, e);
    return rc == 0 ? status_of(jobs) : rc;
}

static int tell(const struct submit_opts *o, const struct str *answer, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(WIRE_MAX);
    struct json j = JSON_INIT(&out);
    const char *text = wire_get(answer, "text");

    if (o->json) {
        json_object(&j, NULL);
        json_string(&j, "schema", "brim.submit.v1");
        json_int(&j, "version", 1);
        if (wire_get(answer, "engine"))
            json_string(&j, "engine", wire_get(answer, "engine"));
        if (text)
            json_string(&j, "forecast", text);
        else
            json_int(&j, "id", wire_int(answer, "id", 0));
        json_end(&j);
    } else if (text) {
        str_addf(&out, "%s\n", text);
    } else {
        str_addf(&out, "%lld\n", (long long)wire_int(answer, "id", 0));
    }
    return cmd_print(&out, o->json, e);
}

static int submit_here(const struct app *app, const struct submit_opts *o, const char *folder,
                       char **command, struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_ORDER), answer = STR_INIT(WIRE_MAX);
    int rc = queue_client_check_folder(o->directory, folder, e);

    if (rc < 0)
        return rc;
    wire_add_int(&request, "priority", o->priority);
    rc = make_request(app, o, command, &request, e);
    if (rc == 0)
        rc = queue_ask(folder, &request, &answer, e);
    if (rc == 0)
        rc = tell(o, &answer, e);
    if (rc == 0 && o->wait && !o->dry)
        rc = wait_for(folder, wire_int(&answer, "id", 0), e);
    return rc;
}

static int submit_to_slurm(const struct submit_opts *o, char **command, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(slurm_client_done) struct slurm_client sbatch = SLURM_CLIENT_INIT;
    CLEANUP(str_done) struct str answer = STR_INIT(WIRE_MAX);
    char name[QUEUE_NAME];
    struct slurm_shell shell = { .name = name,
                                 .folder = folder_of(o, &a, e),
                                 .team = environ_get(conf_environment(), "BRIM_TEAM"),
                                 .root = geteuid() == 0 };
    struct slurm_order order;
    int rc;

    if (!shell.folder)
        return -EIO;
    name_of(command[0], name);
    rc = slurm_options(&order, o, &shell, &a, e);
    if (rc == 0)
        rc = on_slurm_submit(&order, command, &sbatch, &answer, e);
    if (rc == 0)
        rc = tell(o, &answer, e);
    return rc == 0 && order.wait ? on_slurm_wait(&sbatch, o->array, e) : rc;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct submit_opts *o = values;
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    enum engine engine = ENGINE_LOCAL;
    const char *folder;
    int rc = check(o, operands, e);

    if (rc != 0)
        return rc;
    folder = queue_client_folder(&a, o->directory);
    if (!folder)
        return err_nomem(e);
    rc = engine_of(&engine, o->engine, o->directory, folder, e);
    if (rc < 0)
        return rc;
    return engine == ENGINE_SLURM ? submit_to_slurm(o, operands, e)
                                  : submit_here(app, o, folder, operands, e);
}

const struct cmd cmd_submit = {
    .name = "submit",
    .args = "COMMAND [ARGUMENT...]",
    .summary = "put a job into the queue of this machine, or into Slurm's",
    .about =
        "Prints the job's number. It runs when its turn has come: in this folder, with this\n"
        "environment, on devices that are its own until it ends, at the CPUs near them. What it\n"
        "writes is kept beside the queue; brim jobs NUMBER says where. Nothing is to be installed\n"
        "or started before; the queue outlives this shell and a reboot. On a cluster it becomes a\n"
        "job of Slurm; options that Slurm cannot carry out are refused by name.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct submit_opts),
    .max_operands = 1 << 20,
    .runs_program = true,
    .run = run,
};
