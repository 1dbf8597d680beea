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
#include "cmd/optimize_goal.h"
#include "cmd/optimize_profile.h"
#include "cmd/optimize_race.h"
#include "run/archive.h"
#include "run/binding.h"
#include "run/environ.h"
#include "run/secret.h"

enum { CARD_MAX = 1 << 20, PATH_MOST = 4096, COMMAND_MOST = 64 << 10 };
enum {
    RESTARTS_MOST = 1000,
    OBSERVED_MOST = 30 /* steps until a job is judged that may restart */
};

#define INTERVAL_MIN_NS 100000000LL
#define INTERVAL_MAX_NS 600000000000LL
#define SECOND_NS 1000000000LL

struct optimize_opts {
    bool quiet;
    const char *allow, *goal, *price_hour, *price_kwh, *name, *json, *save, *knobs, *fake;
    int64_t budget_ns, interval_ns;
    uint64_t restarts;
};

static const char *const allowed[] = { "numeric", NULL };

static const struct opt opts[] = {
    { OPT_CHOICE, 0, "allow", offsetof(struct optimize_opts, allow), "WHAT",
      "also try settings that change numbers; the loss is watched", allowed },
    { OPT_DURATION, 0, "budget", offsetof(struct optimize_opts, budget_ns), "TIME",
      "how long to try settings (10m)", NULL },
    { OPT_UINT, 0, "restarts", offsetof(struct optimize_opts, restarts), "N",
      "start the job up to N times, for settings that need it (0: never)", NULL },
    { OPT_CHOICE, 0, "goal", offsetof(struct optimize_opts, goal), "WHAT",
      "steps in a second, of a joule, or for the money", optimize_goals },
    { OPT_STRING, 0, "price-hour", offsetof(struct optimize_opts, price_hour), "PRICE",
      "of an hour of what the job runs on, for --goal cost", NULL },
    { OPT_STRING, 0, "price-kwh", offsetof(struct optimize_opts, price_kwh), "PRICE",
      "of a kWh, for --goal cost", NULL },
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
    if (o->restarts && (o->restarts < CONTEST_RESTARTS_LEAST || o->restarts > RESTARTS_MOST))
        return err_set(e, EXIT_USAGE,
                       "--restarts must be 0, or from %d to %d: a setting is decided in three runs "
                       "with it and three without, and the job is the last",
                       CONTEST_RESTARTS_LEAST, RESTARTS_MOST);
    if (o->restarts && o->goal && strcmp(o->goal, "throughput") != 0)
        return err_set(e, EXIT_USAGE,
                       "--restarts decides by steps a second: leave --goal %s out, or --restarts",
                       o->goal);
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
    struct settings job, came; /* as it is started, and as it came */
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
        secret_add_command(&again, x->came.argv);
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

/* How the job is run; job.env and the like are of the job as it came. */
struct beginning {
    struct observe_config job;
    struct drive_config drive;
    struct settings_about about;
    struct optimize_raced raced;
    int64_t until_ns; /* monotonic: nothing is tried later */
};

/* The job has ended, or could not be observed: the command's exit status. */
static int finish(struct ending *x, struct drive *d, struct observed *seen, int rc, struct err *why,
                  struct err *e)
{
    if (seen->started && rc == 0 && seen->leads)
        rc = report(x, seen, d, why);
    if (rc < 0 && !seen->started) {
        job_tell(x->talk, *why->text ? why->text : strerror(-rc));
        job_tell(x->talk, "the job is started without being observed");
        return job_step_aside(&x->job, e);
    }
    if (*why->text && seen->started)
        job_tell(x->talk, why->text); /* what is wrong with us does not change how the job ended */
    else if (*why->text)
        err_set(e, rc, "%s", why->text);
    return seen->exit;
}

/* Run the job with a drive of its own: 0 or what observe() says; *d and *seen are the caller's. */
static int run_job(struct ending *x, const struct beginning *b, struct drive **d,
                   struct observed *seen, struct err *why)
{
    struct observe_config config = b->job;
    int rc = drive_new(d, &b->drive);

    *seen = (struct observed){ .exit = EXIT_FAILED };
    if (rc < 0)
        return err_nomem(why);
    config.env = x->job.env;
    config.argv = x->job.argv;
    config.cpus = x->job.cpus;
    config.pilot = drive_pilot(*d);
    rc = observe(&config, seen, why);
    x->wall_ns = clock_wall_ns(config.clock);
    return rc;
}

/* The job was ended for a race: run that, and start the job with what has won. */
static int race(struct arena *a, struct ending *x, struct beginning *b,
                const struct drive_report *r)
{
    struct optimize_raced *raced = &b->raced;
    const struct optimize_race race = { .job = &b->job,
                                        .first = r,
                                        .about = &b->about,
                                        .restarts = (unsigned)x->o->restarts,
                                        .until_ns = b->until_ns };
    struct err why = { "" };
    int rc = optimize_race(a, &race, raced, &why);
    int64_t left_ns = b->until_ns - clock_monotonic_ns(b->job.clock);

    if (rc < 0) {
        job_tell(x->talk, *why.text ? why.text : strerror(-rc));
        job_tell(x->talk, "the job is started as it was");
        return 0;
    }
    x->job = raced->job;
    b->drive.past = &raced->past;
    b->drive.plan.seconds = fmax(1, (double)left_ns / 1e9);
    if (raced->stopped)
        b->drive.plan.trials = 0;
    return raced->interrupted;
}

static int start(struct arena *a, struct ending *x, struct beginning *b, struct err *e)
{
    CLEANUP(drive_freep) struct drive *first = NULL;
    CLEANUP(drive_freep) struct drive *then = NULL;
    struct observed seen, again = { .exit = 0 };
    struct drive_report r;
    struct err why = { "" };
    int rc = run_job(x, b, &first, &seen, &why), exit;

    if (first)
        drive_tell(first, &r);
    if (rc < 0 || !first || !r.race || seen.asked) {
        exit = finish(x, first, &seen, rc, &why, e);
    } else if (race(a, x, b, &r)) {
        drive_add_past(first, &b->raced.past);
        seen.exit = b->raced.exit;
        exit = finish(x, first, &seen, 0, &why, e);
    } else {
        why.text[0] = '\0';
        rc = run_job(x, b, &then, &again, &why);
        exit = finish(x, then, &again, rc, &why, e);
    }
    run_done(&seen.run);
    run_done(&again.run);
    return exit;
}

/* Of settings_apply(), for drive_config.fits. */
static bool fits(void *arg, const struct candidate *c, char *why)
{
    const struct beginning *b = arg;
    const struct settings job = { .env = b->job.env, .argv = b->job.argv };

    return optimize_race_fits(&b->about, &job, c, why);
}

static void tell(void *arg, const char *sentence)
{
    const struct beginning *b = arg;

    job_tell(b->job.arg, sentence);
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

static int load(struct arena *a, struct beginning *b, struct knobs *knobs, struct tree **tree,
                struct ending *x, struct err *e)
{
    int rc = load_knobs(knobs, x->o->knobs, e);

    if (rc == 0)
        rc = job_key_here(a, b->job.argv, b->job.env, &x->key, e);
    if (rc == 0)
        rc = tree_open_dir(tree, "/", e);
    b->about.knobs = knobs;
    b->about.tree = *tree;
    b->about.cpus = binding_allowed(a);
    if (rc == 0 && (!b->job.runs || !b->job.env || !b->about.cpus))
        rc = err_nomem(e);
    return rc;
}

static struct drive_config drive_of(const struct optimize_opts *o, const struct knobs *knobs,
                                    struct beginning *b)
{
    struct drive_config c = { .knobs = knobs,
                              .plan = drive_plan((double)o->budget_ns / 1e9, &b->drive.goal),
                              .goal = b->drive.goal,
                              .shm_free_b = shm_free(),
                              .restarts = (unsigned)o->restarts,
                              .say = tell,
                              .fits = fits,
                              .arg = b };

    c.plan.numeric = o->allow != NULL;
    if (o->restarts)
        c.plan.observe = OBSERVED_MOST;
    return c;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    CLEANUP(tree_closep) struct tree *tree = NULL;
    const struct optimize_opts *o = values;
    struct job_talk talk = { "brim optimize", o->quiet };
    const struct shim shim = find_shim(&a, environ_get(conf_environment(), "BRIM_PLUGINS"));
    struct beginning b = { .job = { .clock = app->clock,
                                    .argv = operands,
                                    .env = environment(&a, o),
                                    .name = o->name,
                                    .interval_ns = o->interval_ns,
                                    .runs = conf_state(&a, "runs"),
                                    .plugins = shim.folder,
                                    .libraries = shim.libraries,
                                    .fake = o->fake,
                                    .say = job_tell,
                                    .arg = &talk },
                           .about = { .shim = shim.folder != NULL },
                           .until_ns = clock_monotonic_ns(app->clock) + o->budget_ns };
    struct ending x = { .o = o, .talk = &talk, .job = { .env = b.job.env, .argv = operands } };
    const struct optimize_goal_words words = { o->goal, o->price_hour, o->price_kwh, o->fake };
    int rc = check(o, operands, e);

    if (rc == 0)
        rc = optimize_goal(&words, app->clock, &b.drive.goal, e);
    if (rc != 0)
        return rc;
    x.came = x.job;
    if (observe_nested(conf_environment())) {
        job_tell(&talk, "another brim observes this job already, and starts it unchanged");
        return job_step_aside(&x.job, e);
    }
    rc = load(&a, &b, &knobs, &tree, &x, e);
    if (rc < 0)
        return rc;
    b.drive = drive_of(o, &knobs, &b);
    if (!b.job.plugins)
        job_tell(&talk,
                 "the shim for Python was not found (BRIM_PLUGINS can name its folder): jobs "
                 "that do not mark their own steps can not be changed");
    if (getrandom(&b.job.chance, sizeof(b.job.chance), GRND_NONBLOCK) < 0)
        b.job.chance = (unsigned)getpid();
    return start(&a, &x, &b, e);
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
        "Settings that need a restart are only named, unless --restarts allows it: then the job\n"
        "is ended early, short runs decide between them, and the job is started again.\n"
        "Signals are the job's, as with 'brim run'; SIGRTMIN alone is ours: it ends the trials,\n"
        "keeps what was found so far, and the job goes on. The exit status is the command's.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct optimize_opts),
    .max_operands = INT_MAX,
    .runs_program = true,
    .run = run,
};
