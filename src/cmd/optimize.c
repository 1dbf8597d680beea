/* brim optimize: a job under observation, made faster while it runs. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/conf.h"
#include "cmd/common/cmd.h"
#include "cmd/common/find_shim.h"
#include "cmd/common/job_identity.h"
#include "cmd/optimize/goal_option.h"
#include "cmd/optimize/job.h"
#include "cmd/optimize/machine.h"
#include "cmd/optimize/once.h"
#include "cmd/run/live_status.h"
#include "cmd/run/options.h"
#include "run/job/binding.h"
#include "run/job/environ.h"

/* How often the power is looked at where nobody counts the energy: the more looks, the less they
 * depend on chance. */
#define LOOK_NS (OPT_S / 5)

static double shm_free(void)
{
    struct statvfs fs;

    return statvfs("/dev/shm", &fs) == 0 ? (double)fs.f_bavail * (double)fs.f_frsize : (double)NAN;
}

/* Of profile_settings_apply(), for drive_config.fits. */
static bool fits(void *arg, const struct candidate *c, char *why)
{
    const struct optimize_beginning *b = arg;
    const struct profile_settings job = { .env = b->job.env, .argv = b->job.argv };

    return optimize_race_fits(&b->about, &job, c, why);
}

static void tell(void *arg, const char *sentence)
{
    const struct optimize_beginning *b = arg;

    job_tell(b->job.arg, sentence);
}

/* The job's environment: with the user's word for the shim, where it was given. */
static char *const *environment(struct arena *a, const struct optimize_opts *o)
{
    char **env;

    if (!optimize_allows(o, "numeric"))
        return conf_environment();
    env = environ_copy(a, conf_environment(), 1);
    return env && environ_set(a, env, "BRIM_ALLOW", "numeric") == 0 ? env : NULL;
}

static int load(struct arena *a, struct optimize_beginning *b, struct knobs *knobs,
                struct tree **tree, struct optimize_ending *x, struct err *e)
{
    /* Who leads tells what is tried. */
    bool follows = b->job.place && b->job.place->role == MEETING_FOLLOWS;
    struct job_talk hushed = { x->talk->command, true };
    int rc = load_knobs(knobs, x->o->knobs, e);

    for (size_t i = 0; i < x->o->named.n && rc == 0; i++)
        rc = err_usage_of(propose_check(knobs, x->o->named.items[i], e));
    if (rc == ERR_USAGE)
        return err_context(e, rc, "--try: ");
    if (rc == 0)
        rc = job_key_here(a, b->job.argv, b->job.env, &x->key, e);
    if (rc == 0)
        rc = optimize_known(a, x->o->profile, &x->key, follows ? &hushed : x->talk, &x->known, e);
    b->drive.won = &x->known.profile;
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
                                    struct optimize_beginning *b)
{
    struct drive_config c = { .knobs = knobs,
                              .plan = drive_plan(clock_seconds(o->budget_ns), &b->drive.goal),
                              .goal = b->drive.goal,
                              .shm_free_b = shm_free(),
                              .won = b->drive.won,
                              .named = o->named.items,
                              .restarts = b->job.place ? 0 : (unsigned)o->restarts,
                              .say = tell,
                              .fits = fits,
                              .machine = b->drive.machine,
                              .arg = b };

    c.plan.trials = (unsigned)MIN(c.plan.trials + c.won->count, (size_t)SESSION_TRIALS);
    c.plan.numeric = optimize_allows(o, "numeric");
    c.plan.privileged = b->drive.machine != NULL;
    if (goal_needs_power(&c.goal)) {
        c.plan.chance = b->job.chance + 1ULL;
        b->job.uneven = c.goal.looks;
        b->job.interval_ns = c.goal.looks ? MIN(b->job.interval_ns, LOOK_NS) : b->job.interval_ns;
    }
    return c;
}

static int begin(struct arena *a, struct optimize_ending *x, struct optimize_beginning *b,
                 const struct clock *clock, struct err *e)
{
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    CLEANUP(tree_closep) struct tree *tree = NULL;
    const struct optimize_opts *o = x->o;
    const struct optimize_goal_words words = { o->goal, o->price_hour, o->price_kwh, o->fake };
    int rc = optimize_goal(&words, clock, &b->drive.goal, e);

    if (rc == 0)
        rc = load(a, b, &knobs, &tree, x, e);
    if (rc == 0) {
        b->drive = drive_of(o, &knobs, b);
        rc = optimize_start(a, x, b, e);
    }
    b->drive.knobs = b->about.knobs = NULL; /* they end here */
    b->about.tree = NULL;
    return rc;
}

/* Observers of the job's other hosts. A job on several is not started again from one of them, and
 * settings of one machine are no settings of the job. */
static int find_others(const struct optimize_opts *o, struct optimize_beginning *b,
                       struct meet *meet, struct err *e)
{
    const struct meet_option_about about = { &o->meet, b->job.env, b->job.argv,
                                             true,     job_tell,   b->job.arg };
    int rc = b->job.env ? meet_option(&about, meet, e) : err_nomem(e);

    if (rc != 0)
        return rc;
    meet_add(meet, &b->job);
    if (meet->on && (o->restarts || optimize_allows(o, "privileged")))
        job_tell(b->job.arg, "the job runs on several hosts: it is not started again, and no "
                             "setting of a machine is changed");
    return 0;
}

/* The job as brim run would run it, with what was found before. */
static int run_with(const struct app *app, const struct optimize_opts *o, const char *profile,
                    char **operands, struct err *e)
{
    const struct run_opts r = { .quiet = o->quiet,
                                .name = o->name,
                                .json = o->json,
                                .fake = o->fake,
                                .profile = profile,
                                .knobs = o->knobs,
                                .meet = o->meet,
                                .interval_ns = o->interval_ns };

    return run_command(app, &r, operands, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(live_status_done) struct live_status live;
    const struct optimize_opts *o = values;
    struct job_talk talk = { "brim optimize", o->quiet };
    const struct shim shim = find_shim(&a, environ_get(conf_environment(), "BRIM_PLUGINS"));
    struct optimize_beginning b = { .job = { .clock = app->clock,
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
    struct optimize_ending x = { .o = o,
                                 .talk = &talk,
                                 .job = { .env = b.job.env, .argv = operands } };
    struct optimize_machine machine;
    struct meet meet = { .on = false };
    const char *profile = NULL;
    int rc = optimize_check(o, operands, e);

    live_status_init(&live, app->clock);
    b.job.teller = &live.teller;
    x.came = x.job;
    if (rc != 0)
        return rc;
    if (o->undo)
        return machine_undo(&a, e);
    if (observe_nested(conf_environment())) {
        job_tell(&talk, "another brim observes this job already, and starts it unchanged");
        return job_step_aside(&x.job, e);
    }
    rc = find_others(o, &b, &meet, e);
    if (rc == 0 && o->once)
        rc = optimize_once(&a, o, operands, meet.place.multi, &profile, e);
    if (rc == 0 && profile)
        return run_with(app, o, profile, operands, e);
    if (rc == 0)
        rc = optimize_machine_begin(&a, &machine, !meet.on && optimize_allows(o, "privileged"),
                                    &talk, e);
    if (rc != 0)
        return rc;
    if (!b.job.plugins)
        job_tell(&talk,
                 "the shim for Python was not found (BRIM_PLUGINS can name its folder): jobs "
                 "that do not mark their own steps can not be changed");
    if (getrandom(&b.job.chance, sizeof(b.job.chance), GRND_NONBLOCK) < 0)
        b.job.chance = (unsigned)getpid();
    b.drive.machine = machine.restorer ? &machine.drive : NULL;
    rc = begin(&a, &x, &b, app->clock, e);
    optimize_machine_end(&machine);
    optimize_known_done(&x.known);
    return rc;
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
        "what remains. What was kept is written to a profile for the next runs of the job, which\n"
        "the next 'brim optimize' of it tries again first; with --once it is run with that alone.\n"
        "Settings that need a restart are only named, unless --restarts allows it: then the job\n"
        "is ended early, short runs decide between them, and the job is started again.\n"
        "With --allow privileged, settings of this machine are tried as well: the limit of power\n"
        "of its GPUs, the read-ahead of a disk, the governor of its CPUs. They are put back when\n"
        "brim ends, also when it is killed.\n"
        "Signals are the job's, as with 'brim run'; SIGRTMIN alone is ours: it ends the trials,\n"
        "keeps what was found so far, and the job goes on. The exit status is the command's.",
    .opts = optimize_options,
    .defaults = &optimize_defaults,
    .size = sizeof(struct optimize_opts),
    .max_operands = INT_MAX,
    .runs_program = true,
    .run = run,
};
