/* brim optimize: a job under observation, made faster while it runs. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>

#include "base/conf.h"
#include "cmd/cmd.h"
#include "cmd/find_shim.h"
#include "cmd/job.h"
#include "cmd/job_here.h"
#include "cmd/optimize_card.h"
#include "cmd/optimize_profile.h"
#include "run/archive.h"
#include "run/environ.h"
#include "run/secret.h"

enum { CARD_MAX = 1 << 20, PATH_MOST = 4096, COMMAND_MOST = 64 << 10 };

#define INTERVAL_MIN_NS 100000000LL
#define INTERVAL_MAX_NS 600000000000LL
#define SECOND_NS 1000000000LL

struct optimize_opts {
    bool quiet;
    const char *allow, *goal, *name, *json, *save, *knobs, *fake;
    int64_t budget_ns, interval_ns;
};

static const char *const allowed[] = { "numeric", NULL };
static const char *const goals[] = { "throughput", NULL };

static const struct opt opts[] = {
    { OPT_CHOICE, 0, "allow", offsetof(struct optimize_opts, allow), "WHAT",
      "also try settings that change numbers; the loss is watched", allowed },
    { OPT_DURATION, 0, "budget", offsetof(struct optimize_opts, budget_ns), "TIME",
      "how long to try settings (10m)", NULL },
    { OPT_CHOICE, 0, "goal", offsetof(struct optimize_opts, goal), "WHAT", "what to raise", goals },
    { OPT_STRING, 0, "name", offsetof(struct optimize_opts, name), "NAME",
      "what the run and its profile are called (the script's name)", NULL },
    { OPT_STRING, 0, "save-profile", offsetof(struct optimize_opts, save), "FILE",
      "write what was kept there, not to the state folder", NULL },
    { OPT_STRING, 0, "knobs", offsetof(struct optimize_opts, knobs), "FILE",
      "also try knobs that this file declares", NULL },
    { OPT_STRING, 0, "json", offsetof(struct optimize_opts, json), "FILE",
      "write what the card says to a file, as JSON", NULL },
    { OPT_FLAG, 'q', "quiet", offsetof(struct optimize_opts, quiet), NULL,
      "print nothing of our own: no progress, no card", NULL },
    { OPT_DURATION, 0, "interval", offsetof(struct optimize_opts, interval_ns), "TIME",
      "how often to sample (1s)", NULL },
    { OPT_STRING, 0, "fake", offsetof(struct optimize_opts, fake), "FILE",
      "script accelerators that are not there", NULL },
    { .kind = OPT_END },
};

static const struct optimize_opts defaults = { .budget_ns = 600 * SECOND_NS,
                                               .interval_ns = SECOND_NS };

static int check(const struct optimize_opts *o, char **argv, struct err *e)
{
    if (!argv[0] || !*argv[0])
        return err_set(e, EXIT_USAGE, "a command is needed: brim optimize -- COMMAND...");
    if (o->interval_ns < INTERVAL_MIN_NS || o->interval_ns > INTERVAL_MAX_NS)
        return err_set(e, EXIT_USAGE, "--interval must be from 100ms to 10m");
    if (o->budget_ns < SECOND_NS)
        return err_set(e, EXIT_USAGE, "--budget must be 1s at least ('brim run' tries nothing)");
    if ((o->fake && !*o->fake) || (o->json && !*o->json) || (o->save && !*o->save) ||
        (o->knobs && !*o->knobs))
        return err_set(e, EXIT_USAGE, "an empty name was given where a path is needed");
    return 0;
}

static double shm_free(void)
{
    struct statvfs fs;

    return statvfs("/dev/shm", &fs) == 0 ? (double)fs.f_bavail * (double)fs.f_frsize : (double)NAN;
}

/* ---- the end ---- */

/* The run that is told of: as it was stored, else as it was seen; with its drive. */
struct ending {
    const struct optimize_opts *o;
    struct job_talk *talk;
    const struct run *run;
    const struct verdict *verdict;
    bool stored;
    struct drive_report report;
    struct job_key key;
    struct settings job;
    int64_t wall_ns;
};

static int print_json(const struct ending *x, const struct optimize_card *c, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CARD_MAX);
    struct json j = JSON_INIT(&text);
    int rc;

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.optimize.v1");
    optimize_card_json(c, &j);
    rc = run_card_json_in(x->run, x->verdict, "run", &j);
    if (rc < 0)
        return err_nomem(e);
    json_end(&j);
    return cmd_print(&text, x->o->json, e);
}

/* A job that could not be changed ends as under brim run; why it could not is said before. */
static int print_card(const struct ending *x, const struct optimize_card *c)
{
    CLEANUP(str_done) struct str text = STR_INIT(CARD_MAX);
    const struct run_card_look look = job_look();
    int rc = x->report.ranks ? optimize_card(c, look.columns, &text)
                             : run_card(x->run, x->verdict, x->stored, &look, &text);

    if (!x->report.ranks && !x->report.off)
        job_tell(x->talk, "no process of the job told its steps, so that nothing could be tried: "
                          "jobs with PyTorch do by themselves, others see include/brim/step.h");
    if (rc == 0 && !x->o->quiet)
        fputs(str_text(&text), stderr);
    return rc;
}

static int tell_end(const struct ending *x, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MOST), again = STR_INIT(COMMAND_MOST);
    const struct optimize_profile_about about = { x->run, x->report.session, &x->key, x->wall_ns,
                                                  x->o->save };
    struct optimize_card c = { .run = x->run, .report = &x->report };
    struct err why = { "" };
    int rc = optimize_profile(&about, &path, &why);

    if (rc < 0)
        job_tell(x->talk, why.text);
    if (rc == 0 && path.len) {
        str_addf(&again, "brim run --profile %s -- ", str_text(&path));
        secret_add_command(&again, x->job.argv);
        c.profile = str_text(&path);
        c.again = str_error(&again) ? NULL : str_text(&again);
    }
    rc = print_card(x, &c);
    if (rc < 0)
        return err_nomem(e);
    return x->o->json ? print_json(x, &c, e) : 0;
}

static int report(struct ending *x, const struct observed *seen, const struct drive *d,
                  struct err *e)
{
    CLEANUP(run_done) struct run loaded = { .id = NULL };
    CLEANUP(verdict_done) struct verdict verdict = { .sentence = NULL };

    x->stored = seen->stored && run_load(seen->folder, &loaded, NULL) == 0;
    x->run = x->stored ? &loaded : &seen->run;
    x->verdict = run_card_judge(x->run, &verdict) == 0 ? &verdict : NULL;
    drive_tell(d, &x->report);
    return tell_end(x, e);
}

/* ---- the job ---- */

static int start(struct ending *x, struct observe_config *config, struct drive *d, struct err *e)
{
    struct observed seen;
    struct err why = { "" };
    int rc;

    config->pilot = drive_pilot(d);
    rc = observe(config, &seen, &why);
    x->wall_ns = clock_wall_ns(config->clock);
    if (seen.started && rc == 0 && seen.leads)
        rc = report(x, &seen, d, &why);
    if (rc < 0 && !seen.started) {
        job_tell(x->talk, *why.text ? why.text : strerror(-rc));
        job_tell(x->talk, "the job is started without being observed");
        run_done(&seen.run);
        return job_step_aside(&x->job, e);
    }
    if (*why.text && seen.started)
        job_tell(x->talk, why.text); /* what is wrong with us does not change how the job ended */
    else if (*why.text)
        err_set(e, rc, "%s", why.text);
    run_done(&seen.run);
    return seen.exit;
}

/* The job's environment: with the user's word for the shim, where it was given. */
static char *const *environment(struct arena *a, const struct optimize_opts *o)
{
    char **env;

    if (!o->allow)
        return conf_environment();
    env = environ_copy(a, conf_environment(), 1);
    return env && environ_set(a, env, "BRIM_ALLOW", o->allow) == 0 ? env : NULL;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    CLEANUP(drive_freep) struct drive *d = NULL;
    const struct optimize_opts *o = values;
    struct job_talk talk = { "brim optimize", o->quiet };
    const struct shim shim = find_shim(&a, environ_get(conf_environment(), "BRIM_PLUGINS"));
    struct observe_config config = { .clock = app->clock,
                                     .argv = operands,
                                     .env = environment(&a, o),
                                     .name = o->name,
                                     .interval_ns = o->interval_ns,
                                     .runs = conf_state(&a, "runs"),
                                     .plugins = shim.folder,
                                     .libraries = shim.libraries,
                                     .fake = o->fake,
                                     .say = job_tell,
                                     .arg = &talk };
    struct drive_config driven = { .knobs = &knobs,
                                   .plan = drive_plan((double)o->budget_ns / 1e9),
                                   .shm_free_b = shm_free(),
                                   .say = job_tell,
                                   .arg = &talk };
    struct ending x = { .o = o, .talk = &talk, .job = { .env = config.env, .argv = operands } };
    int rc = check(o, operands, e);

    if (rc != 0)
        return rc;
    driven.plan.numeric = o->allow != NULL;
    if (observe_nested(conf_environment())) {
        job_tell(&talk, "another brim observes this job already, and starts it unchanged");
        return job_step_aside(&x.job, e);
    }
    rc = load_knobs(&knobs, o->knobs, e);
    if (rc == 0)
        rc = job_key_here(&a, operands, config.env, &x.key, e);
    if (rc < 0)
        return rc;
    if (!config.runs || !config.env || drive_new(&d, &driven) < 0)
        return err_nomem(e);
    if (!config.plugins)
        job_tell(&talk,
                 "the shim for Python was not found (BRIM_PLUGINS can name its folder): jobs "
                 "that do not mark their own steps can not be changed");
    if (getrandom(&config.chance, sizeof(config.chance), GRND_NONBLOCK) < 0)
        config.chance = (unsigned)getpid();
    return start(&x, &config, d, e);
}

const struct cmd cmd_optimize = {
    .name = "optimize",
    .args = "[--] COMMAND...",
    .summary = "run a job and make it faster while it runs; nothing to edit in the job",
    .about =
        "Start the command as 'brim run' does, find what limits it, and try settings against that\n"
        "while it runs: blocks of steps with and without a setting, by turns, until it is clear\n"
        "which is faster. What pays is kept, all else is taken back. Each trial is told in a\n"
        "line; the card at the end says what was changed and by how much, what was rejected, and\n"
        "what remains. What was kept is written to a profile for the next runs of the job.\n"
        "Signals are the job's, as with 'brim run'; SIGRTMIN alone is ours: it ends the trials,\n"
        "keeps what was found so far, and the job goes on. The exit status is the command's.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct optimize_opts),
    .max_operands = INT_MAX,
    .runs_program = true,
    .run = run,
};
