/* brim jobs: the queue of this machine as a table; one job in detail. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/str.h"
#include "base/clock.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "model/signal/quantity.h"
#include "queue/client.h"
#include "render/text.h"

enum { OUTPUT_MAX = WIRE_MAX, NAME_WIDTH = 20 };

struct jobs_opts {
    bool all;
    int64_t since_ns;
    uint64_t from, most;
    const char *user, *json, *directory, *engine;
};

static const struct opt opts[] = {
    { OPT_DURATION, 0, "since", offsetof(struct jobs_opts, since_ns), "TIME",
      "show those that ended so long ago, too (1h)" },
    { OPT_FLAG, 'a', "all", offsetof(struct jobs_opts, all), NULL, "show all that are remembered" },
    { OPT_STRING, 'u', "user", offsetof(struct jobs_opts, user), "NAME",
      "only those of a user (in Slurm yours, for root all)" },
    { OPT_UINT, 0, "from", offsetof(struct jobs_opts, from), "JOB", "only those from that one on",
      .least = 1, .most = INT64_MAX / 2 },
    { OPT_UINT, 0, "most", offsetof(struct jobs_opts, most), "N",
      "show the first N of them (20000)", .least = 1, .most = INT32_MAX },
    { OPT_STRING, 0, "directory", offsetof(struct jobs_opts, directory), "DIR",
      "the queue's folder" },
    ENGINE_OPTION(offsetof(struct jobs_opts, engine)),
    CMD_JSON(offsetof(struct jobs_opts, json)),
    { .kind = OPT_END },
};

static const struct jobs_opts defaults = { .since_ns = 3600 * NS_PER_S, .from = 1, .most = 20000 };

static void add_seconds(struct str *out, double seconds)
{
    if (isfinite(seconds))
        str_add(out, quantity_seconds(seconds).text);
    else
        str_add(out, "-");
}

/* ---- the table ---- */

/* A cell that starts at a column, one space behind the one before at least. */
static void cell(struct str *out, size_t column)
{
    str_pad(out, column);
    if (out->len > 0 && str_text(out)[out->len - 1] != ' ')
        str_add_char(out, ' ');
}

static void add_cut(struct str *out, const char *text, size_t width)
{
    char part[NAME_WIDTH * UTF8_MAX + 1];
    size_t n = 0;
    uint32_t code;

    if (text_columns(text) <= width) {
        text_add(out, text);
        return;
    }
    for (size_t left = width - 3; left > 0; left--)
        n += utf8_decode(text + n, &code);
    snprintf(part, sizeof(part), "%.*s...", (int)n, text);
    text_add(out, part);
}

/* "GPU0,GPU1, idle for 35 min" */
static void add_where(struct str *out, const struct json_value *job)
{
    double idle_s = queue_client_number(job, "idle_s");
    double beside = queue_client_number(job, "beside");

    text_add(out, queue_client_text(job, "place"));
    if (isfinite(beside))
        str_addf(out, ", with job %.0f", beside);
    if (!isfinite(idle_s))
        return;
    str_add(out, ", idle for ");
    add_seconds(out, idle_s);
}

static void add_row(struct str *out, const struct json_value *job, bool cpus, size_t more)
{
    enum { NAME = 9, USER = 30, STATE = 39, PRIORITY = 49, NEEDS = 54, RAN = 60, WHY = 69 };
    double needs = queue_client_number(job, cpus ? "cpus" : "devices");
    const char *reason = queue_client_text(job, "reason");

    str_add(out, queue_client_text(job, "job"));
    cell(out, NAME);
    add_cut(out, queue_client_text(job, "name"), NAME_WIDTH);
    cell(out, USER);
    add_cut(out, queue_client_text(job, "user"), NAME_WIDTH);
    cell(out, STATE);
    str_add(out, queue_client_text(job, "state"));
    cell(out, PRIORITY);
    str_addf(out, "%.0f", queue_client_number(job, "priority"));
    cell(out, NEEDS + more);
    str_addf(out, "%.0f", needs);
    cell(out, RAN + more);
    add_seconds(out, queue_client_number(job, "attempts") > 0 ? queue_client_number(job, "ran_s")
                                                              : (double)NAN);
    cell(out, WHY + more);
    if (!strcmp(queue_client_text(job, "state"), "running"))
        add_where(out, job);
    else
        text_add(out, reason);
    str_add_char(out, '\n');
}

static void show_table(const struct json_value *jobs, bool cpus, struct str *out)
{
    enum { PRIORITY_MOST = 9999, OF_SLURM = 6 }; /* its priorities have up to ten digits */
    size_t more = 0;

    if (jobs->n_items == 0) {
        str_add(out, "no jobs\n");
        return;
    }
    for (size_t i = 0; i < jobs->n_items && more == 0; i++)
        if (queue_client_number(&jobs->items[i], "priority") > PRIORITY_MOST)
            more = OF_SLURM;
    str_addf(out,
             "JOB      NAME                 USER     STATE     PRIO%*s %s  RAN      "
             "WHERE OR WHY\n",
             (int)more, "", cpus ? "CPUS" : "DEVS");
    for (size_t i = 0; i < jobs->n_items; i++)
        add_row(out, &jobs->items[i], cpus, more);
}

/* ---- one job ---- */

static void add_line(struct str *out, const char *name, const char *value)
{
    if (!*value)
        return;
    str_addf(out, "%-10s ", name);
    text_add(out, value);
    str_add_char(out, '\n');
}

static void add_moment(struct str *out, const char *name, double seconds)
{
    if (!isfinite(seconds))
        return;
    str_addf(out, "%-10s ", name);
    clock_add_iso(out, (int64_t)(seconds * 1e3) * NS_PER_MS);
    str_add_char(out, '\n');
}

/* When it is to have ended, and whether it had. */
static void add_deadline(struct str *out, const struct json_value *job)
{
    double deadline = queue_client_number(job, "deadline"),
           ended = queue_client_number(job, "ended");

    if (!isfinite(deadline))
        return;
    str_add(out, "deadline   ");
    clock_add_iso(out, (int64_t)(deadline * 1e3) * NS_PER_MS);
    if (isfinite(ended) && ended > deadline) {
        str_add(out, ", missed by ");
        add_seconds(out, ended - deadline);
    } else if (isfinite(ended)) {
        str_add(out, ", met");
    }
    str_add_char(out, '\n');
}

/* How busy it keeps its devices. */
static void add_use(struct str *out, const struct json_value *job)
{
    double use = queue_client_number(job, "use"), idle_s = queue_client_number(job, "idle_s");

    if (!isfinite(use))
        return;
    str_addf(out, "busy       %.0f %%", 100 * use);
    if (isfinite(idle_s)) {
        str_add(out, ", idle for ");
        add_seconds(out, idle_s);
    }
    str_add_char(out, '\n');
    add_moment(out, "told", queue_client_number(job, "told"));
}

static bool is_set(const struct json_value *job, const char *key)
{
    const struct json_value *value = json_get(job, key);

    return value && value->boolean;
}

/* cpus_only: the queue gives CPUs, since the machine has no devices. folder: of the queue; NULL: it
 * is a job of Slurm. */
static void show_one(const struct json_value *job, bool cpus_only, const char *folder,
                     struct str *out)
{
    double exit = queue_client_number(job, "exit"), limit = queue_client_number(job, "limit_s");
    double least = queue_client_number(job, "min_devices");
    double memory = queue_client_number(job, "memory_gb");
    double devices = queue_client_number(job, "devices"), cpus = queue_client_number(job, "cpus");

    str_addf(out, "job %s, ", queue_client_text(job, "job"));
    text_add(out, queue_client_text(job, "name"));
    str_addf(out, ", of %s: %s\n", queue_client_text(job, "user"), queue_client_text(job, "state"));
    add_line(out, "why", queue_client_text(job, "reason"));
    str_add(out, "needs      ");
    if (!cpus_only)
        str_addf(out, "%.0f device%s, ", devices, str_plural(devices));
    if (isfinite(least))
        str_addf(out, "%.0f at least, ", least);
    if (isfinite(memory))
        str_addf(out, "%.0f GB of each, ", memory);
    str_addf(out, "%.0f CPU%s, priority %.0f%s%s\n", cpus, str_plural(cpus),
             queue_client_number(job, "priority"),
             is_set(job, "requeue") ? ", may be requeued" : "",
             is_set(job, "share") ? ", may share devices" : "");
    add_line(out, "team", queue_client_text(job, "team"));
    add_line(out, "class", queue_client_text(job, "class"));
    add_line(out, "partition", queue_client_text(job, "partition"));
    add_line(out, "after", queue_client_text(job, "after"));
    add_line(out, "where", queue_client_text(job, "place"));
    add_use(out, job);
    add_line(out, "sharing", queue_client_text(job, "sharing"));
    add_line(out, "stopped", queue_client_text(job, "stopped"));
    add_moment(out, "submitted", queue_client_number(job, "submitted"));
    add_deadline(out, job);
    add_moment(out, "started", queue_client_number(job, "started"));
    add_moment(out, "ended", queue_client_number(job, "ended"));
    str_add(out, "ran        ");
    add_seconds(out, queue_client_number(job, "ran_s"));
    if (isfinite(limit)) {
        str_add(out, " of at most ");
        add_seconds(out, limit);
    }
    str_addf(out, ", attempts %.0f\n", queue_client_number(job, "attempts"));
    if (isfinite(exit))
        str_addf(out, "exit       %.0f\n", exit);
    if (folder)
        str_addf(out, "output     %s/jobs/%.0f/output, unless it was given a file\n", folder,
                 queue_client_number(job, "id"));
    else if (*queue_client_text(job, "output"))
        str_addf(out, "output     %s in its folder, unless it was given a file\n",
                 queue_client_text(job, "output"));
}

/* Whose jobs, and which. */
struct asked {
    const char *folder; /* of the queue; NULL: they are Slurm's */
    const char *label;  /* of one; NULL: those that 'what' is about */
    struct queue_listing what;
    int64_t now_ms;
};

static int ask(const struct asked *q, struct str *answer, int64_t *next, struct err *e)
{
    if (!q->folder)
        return on_slurm_jobs(&q->what, q->label, q->now_ms, answer, next, e);
    return q->label ? queue_client_job(q->folder, q->label, answer, e)
                    : queue_client_jobs(q->folder, &q->what, answer, next, e);
}

static int show(const struct app *app, const struct jobs_opts *o, const char *folder,
                const char *label, struct err *e)
{
    CLEANUP(str_done) struct str answer = STR_INIT(WIRE_MAX), out = STR_INIT(OUTPUT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *jobs;
    bool cpus;
    char more[80];
    struct asked q = {
        .folder = folder,
        .label = label,
        .what = { .since_ms = o->all ? 0 : (clock_wall_ns(app->clock) - o->since_ns) / NS_PER_MS,
                  .from = (int64_t)o->from,
                  .user = o->user,
                  .most = o->most },
        .now_ms = clock_wall_ns(app->clock) / NS_PER_MS,
    };
    int64_t next = 0;
    int rc = ask(&q, &answer, &next, e);

    if (rc < 0)
        return rc;
    if (next > 0) {
        snprintf(more, sizeof(more), "there are more: brim jobs --from %lld goes on",
                 (long long)next);
        say("brim jobs", more);
    }
    if (folder)
        (void)queue_warn_full(folder);
    if (o->json) {
        str_add(&out, wire_get(&answer, "text") ? wire_get(&answer, "text") : "");
        return cmd_print(&out, o->json, e);
    }
    rc = queue_client_read(&jobs, &a, &answer, e);
    if (rc < 0)
        return rc;
    cpus = strstr(wire_get(&answer, "text"), "\"gives\": \"CPUs\"") != NULL;
    if (label && jobs->n_items == 1)
        show_one(&jobs->items[0], cpus, folder, &out);
    else
        show_table(jobs, cpus, &out);
    return cmd_print(&out, NULL, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct jobs_opts *o = values;
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str none = STR_INIT(OUTPUT_MAX);
    const char *folder = queue_client_folder(&a, o->directory);
    enum engine engine = ENGINE_LOCAL;
    int rc;

    if (!folder)
        return err_nomem(e);
    if (operands[0] && queue_client_label(operands[0], e) < 0)
        return ERR_USAGE;
    rc = engine_of(&engine, o->engine, o->directory, folder, e);
    if (rc < 0)
        return rc;
    if (engine == ENGINE_SLURM)
        return show(app, o, NULL, operands[0], e);
    if (queue_is_there(folder))
        return show(app, o, folder, operands[0], e);
    if (operands[0])
        return err_set(e, -ENOENT, "there is no job %s: the queue in %s was never used",
                       operands[0], folder);
    if (o->directory)
        return err_set(e, -ENOENT, "there is no queue in %s: brim submit --directory=%s starts one",
                       folder, folder);
    str_add(&none,
            o->json ? "{\n  \"schema\": \"brim.jobs.v1\",\n  \"version\": 1,\n  \"jobs\": []\n}\n"
                    : "no jobs\n");
    return cmd_print(&none, o->json, e);
}

const struct cmd cmd_jobs = {
    .name = "jobs",
    .args = "[JOB]",
    .summary = "what is in the queue of this machine, or in Slurm's, and why it waits",
    .about =
        "Of one job: what it asked for, where it runs, why it waits or how it ended, and where\n"
        "its output is. 12 is a job or a whole array, 12_3 one of an array.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct jobs_opts),
    .max_operands = 1,
    .run = run,
};
