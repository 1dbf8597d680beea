/* brim runs: the runs that are kept. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/conf.h"
#include "base/json.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "cmd/run/card.h"
#include "cmd/runs/diff.h"
#include "diagnose/verdict/judge.h"
#include "model/job/slurm_job.h"
#include "model/signal/quantity.h"
#include "run/archive/archive.h"
#include "run/archive/figures.h"

enum { OUTPUT_MAX = 64 << 20, LIST_MAX = 8 << 20, PATH_LEN = 4096, OPERANDS_MAX = 64 };
enum { NAME = 24, BEGIN = 16 /* columns */ };

struct runs_opts {
    const char *json;
    int64_t older_ns;
};

static const struct opt opts[] = {
    CMD_JSON(offsetof(struct runs_opts, json)),
    { OPT_DURATION, 0, "older", offsetof(struct runs_opts, older_ns), "TIME",
      "with rm: the runs that began longer ago than this (30d)" },
    { .kind = OPT_END },
};

static const struct runs_opts defaults = { .json = NULL };

struct runs {
    const struct app *app;
    const struct runs_opts *o;
    const char *folder;
    const char *job; /* list those of this job of Slurm; NULL: all */
    struct str list; /* names, each ending with a NUL */
};

#define EACH_RUN(r, id) \
    for (const char *id = str_text(&(r)->list); (id) < str_text(&(r)->list) + (r)->list.len; \
         (id) += strlen(id) + 1)

/* The folder of one that was listed. */
static int path_of(const struct runs *r, const char *id, char path[PATH_LEN])
{
    int len = snprintf(path, PATH_LEN, "%s/%s", r->folder, id);

    return len < 0 || len >= PATH_LEN ? -ENAMETOOLONG : 0;
}

/* ---- the list ---- */

/* "2026-11-25 16:08", of the same clock as the id; nothing where the begin is not known. */
static void add_begin(const struct run *r, struct str *out)
{
    CLEANUP(str_done) struct str iso = STR_INIT(64);
    size_t day = strlen("2026-11-25");

    if (r->begin_ns > 0)
        clock_add_iso(&iso, r->begin_ns);
    str_fail(out, str_error(&iso));
    if (iso.len > day)
        iso.data[day] = ' ';
    str_addf(out, " %-*.*s", BEGIN, BEGIN, str_text(&iso));
}

/* What limited it, in a word, and what share of its steps that cost. */
static void add_cause(const struct verdict *v, struct str *out)
{
    const struct verdict_item *first = &v->items[0];

    if (!v->count)
        return;
    if (first->cause == CAUSE_NONE)
        str_add(out, "  nothing");
    else
        str_addf(out, "  %s",
                 first->cause == CAUSE_UNKNOWN ? "not known" : cause_name(first->cause));
    if (first->cause != CAUSE_NONE && first->share > 0)
        str_addf(out, " %s", quantity_share(first->share).text);
}

/* What brim optimize gained. */
static void add_gain(const struct run *r, struct str *out)
{
    CLEANUP(str_done) struct str gain = STR_INIT(128);

    if (r->tuning && run_tuning_gain(r->tuning, &gain))
        str_addf(out, "  optimized: %s", str_text(&gain));
    str_fail(out, str_error(&gain));
}

/* The profile whose settings it began with. */
static void add_profile(const struct run *r, struct str *out)
{
    const char *profile = run_environment(r, "profile");
    const char *file = profile ? strstr(profile, " (") : NULL;

    if (file && run_environment(r, "profile.applied"))
        str_addf(out, "  profile %.*s", (int)(file - profile), profile);
}

static void add_slurm(const struct run *r, struct str *out)
{
    struct slurm_job j;

    if (slurm_job_of(r, &j))
        str_addf(out, "  job %s", slurm_job_say(&j).text);
}

static void add_line(const struct run *r, const struct run_figures *f, const struct verdict *v,
                     struct str *out)
{
    str_addf(out, "%-22s", r->id);
    add_begin(r, out);
    str_addf(out, " %-*.*s %9s  %-20s", NAME, NAME, r->name ? r->name : "",
             quantity_seconds(f->seconds).text, run_card_end(r).text);
    if (f->steps > 0) {
        str_addf(out, " %9.0f %9s/s", f->steps, quantity_number(f->steps_per_s, 3).text);
        add_cause(v, out);
        add_gain(r, out);
    }
    add_profile(r, out);
    add_slurm(r, out);
    str_add_char(out, '\n');
}

static bool is_of(const struct run *r, const char *job)
{
    struct slurm_job j;

    return slurm_job_of(r, &j) && slurm_job_is(&j, job);
}

/* What cannot be read is told on stderr and left out. */
static int list_one(const struct runs *r, const char *id, struct json *j, struct str *out)
{
    CLEANUP(run_done) struct run run = { .id = NULL };
    CLEANUP(verdict_done) struct verdict verdict = { .sentence = NULL };
    char path[PATH_LEN];
    struct run_figures f;
    struct err e = { "" };
    int rc = path_of(r, id, path);

    if (rc == 0)
        rc = run_load(path, &run, &e);
    if (rc == -ENOMEM)
        return rc;
    if (rc == -ENODATA)
        return 0; /* its observer found the disk full */
    if (rc == 0 && r->job && !is_of(&run, r->job))
        return 0;
    if (rc < 0) {
        say("brim runs", e.text);
        return 0;
    }
    rc = run_figures(&run, &f);
    if (rc == 0)
        rc = judge_run(&run, NULL, &verdict); /* not beside earlier ones: all are here */
    if (rc < 0)
        return rc;
    if (!j)
        add_line(&run, &f, &verdict, out);
    else
        rc = run_card_json_in(&run, &verdict, NULL, j);
    return rc;
}

static int list(const struct runs *r, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct json j = JSON_INIT(&out);
    size_t head;
    int rc = 0;

    if (operands[0] && operands[1] && !r->job)
        return err_usage(e, "list takes no run but job:N, not '%.100s'", operands[1]);
    if (r->job && operands[2])
        return err_usage(e, "list takes one job, not '%.100s' too", operands[2]);
    if (r->o->json) {
        json_object(&j, NULL);
        json_string(&j, "schema", "brim.runs.v1");
        json_array(&j, "runs");
    } else {
        str_addf(&out, "%-22s %-*s %-*s %9s  %-20s %9s %11s  %s\n", "run", BEGIN, "began (UTC)",
                 NAME, "name", "time", "end", "steps", "rate", "limited by");
    }
    head = out.len;
    EACH_RUN(r, id)
    if (rc == 0)
        rc = list_one(r, id, r->o->json ? &j : NULL, &out);
    if (rc < 0)
        return err_nomem(e);
    if (r->o->json) {
        json_end(&j);
        json_end(&j);
    } else if (!r->list.len) {
        str_reset(&out);
        str_add(&out, "no run is kept yet: brim run -- COMMAND\n");
    } else if (r->job && out.len == head) {
        str_reset(&out);
        str_addf(&out, "no run of Slurm's job %.100s is kept here\n", r->job);
    }
    return cmd_print(&out, r->o->json, e);
}

/* ---- diff, rm ---- */

static int load(const struct runs *r, const char *which, struct run *run, struct err *e)
{
    CLEANUP(str_done) struct str folder = STR_INIT(PATH_LEN);
    int rc = runs_find(r->folder, which, &folder, e);

    return rc < 0 ? rc : run_load(str_text(&folder), run, e);
}

static int diff(const struct runs *r, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    CLEANUP(run_done) struct run a = { .id = NULL }, b = { .id = NULL };
    int rc;

    if (!operands[0] || !operands[1])
        return err_usage(e, "diff compares two runs: brim runs diff A B");
    if (operands[2])
        return err_usage(e, "diff compares two runs, not '%.100s' too", operands[2]);
    rc = load(r, operands[0], &a, e);
    if (rc == 0)
        rc = load(r, operands[1], &b, e);
    if (rc < 0)
        return rc;
    rc = runs_diff(&a, &b, r->o->json != NULL, &out);
    return rc < 0 ? err_nomem(e) : cmd_print(&out, r->o->json, e);
}

static int remove_one(const struct runs *r, const char *which, struct err *e)
{
    CLEANUP(str_done) struct str folder = STR_INIT(PATH_LEN);
    CLEANUP(run_done) struct run run = { .id = NULL };
    int rc = strchr(which, '/') || !*which
                 ? err_usage(e, "'%s' is no run's id ('brim runs' lists them)", which)
                 : runs_find(r->folder, which, &folder, e);

    if (rc != 0)
        return rc;
    rc = run_load_about(str_text(&folder), &run, e);
    if (rc == 0 && run.end == RUN_RUNNING)
        return err_set(e, -EBUSY, "%s is running", run.id);
    return run_remove(str_text(&folder), e);
}

static int remove_older(const struct runs *r, struct err *e)
{
    int64_t limit_ns = clock_wall_ns(r->app->clock) - r->o->older_ns;
    int rc = 0;

    EACH_RUN(r, id)
    {
        CLEANUP(run_done) struct run run = { .id = NULL };
        struct err why = { "" };
        char path[PATH_LEN];
        struct stat st;
        int loaded;

        if (rc < 0 || path_of(r, id, path) < 0)
            continue;
        loaded = run_load_about(path, &run, &why);
        if (loaded == -ENODATA && stat(path, &st) == 0)
            run.begin_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S;
        else if (loaded < 0) {
            (void)err_context(&why, loaded, "%s is left: ", id);
            say("brim runs", why.text);
            continue;
        }
        if ((loaded < 0 || run.end != RUN_RUNNING) && run.begin_ns < limit_ns)
            rc = run_remove(path, e);
    }
    return rc;
}

static int rm(const struct runs *r, char **operands, struct err *e)
{
    int rc = 0;

    if (r->o->older_ns > 0 && !operands[0])
        return remove_older(r, e);
    if (!operands[0] || r->o->older_ns > 0)
        return err_usage(e, "say which: brim runs rm ID..., or brim runs rm --older 30d");
    for (size_t i = 0; operands[i] && rc == 0; i++)
        rc = remove_one(r, operands[i], e);
    return rc;
}

static const struct cmd_sub subs[] = {
    { "list",
      "[JOB]",
      "the runs that are kept, or those of a job of Slurm (job:17)",
      { "runs list job:17", "runs list --json=runs.json" } },
    { "diff",
      "A B",
      "what differs between two runs: rates, stages of a step, the environment",
      { "runs diff mytrain last", "runs diff 20261125-0311 20261125-0402 --json" },
      CMD_RUNS },
    { "rm",
      "ID...",
      "remove runs, but none that goes on",
      { "runs rm 20261125-031105-6d3e", "runs rm --older 30d" },
      CMD_RUNS },
    { .name = NULL },
};

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    static const char *const words[] = { "list", "diff", "rm", NULL };
    struct runs r = {
        .app = app, .o = values, .folder = conf_state(&a, "runs"), .list = STR_INIT(LIST_MAX)
    };
    int rc;

    if (!r.folder)
        return err_nomem(e);
    if (r.o->older_ns > 0 && !operands[0])
        return err_usage(e, "--older is for rm: brim runs rm --older 30d");
    if (operands[0] && operands[1] && !strncmp(operands[1], RUNS_JOB, strlen(RUNS_JOB)))
        r.job = operands[1] + strlen(RUNS_JOB);
    rc = runs_list(r.folder, &r.list, e);
    if (rc == 0 && (!operands[0] || !strcmp(operands[0], "list")))
        rc = list(&r, operands, e);
    else if (rc == 0 && !strcmp(operands[0], "diff"))
        rc = diff(&r, operands + 1, e);
    else if (rc == 0 && !strcmp(operands[0], "rm"))
        rc = rm(&r, operands + 1, e);
    else if (rc == 0)
        rc = opt_unknown("subcommand", operands[0], words, e);
    str_done(&r.list);
    return rc;
}

const struct cmd cmd_runs = {
    .name = "runs",
    .args = "[list [JOB] | diff A B | rm ID...]",
    .summary = "the runs that are kept: list, compare, remove",
    .about =
        "Runs are named by their id, the start of one, their name, the job of Slurm that they are\n"
        "of (job:17, job:17.0, job:15_3, job:NAME), or 'last'. diff tells what differs between\n"
        "two: rates, where a step's time goes, the environment.",
    .subs = subs,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct runs_opts),
    .max_operands = OPERANDS_MAX,
    .run = run,
};
