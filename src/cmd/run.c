/* brim run: a job under observation. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/conf.h"
#include "bench/results.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/find_shim.h"
#include "cmd/common/load_run.h"
#include "cmd/common/terminal_text.h"
#include "cmd/optimize/machine.h"
#include "cmd/run/card.h"
#include "cmd/run/live_status.h"
#include "cmd/run/options.h"
#include "cmd/run/profile.h"
#include "cmd/run/start_job.h"
#include "run/job/environ.h"
#include "run/job/identity.h"
#include "run/watch/observe.h"

enum { CARD_MAX = 1 << 20 };

static const struct opt opts[] = {
    { OPT_STRING, 0, "name", offsetof(struct run_opts, name), "NAME",
      "what the run is called (the script's name)" },
    { OPT_DURATION, 0, "interval", offsetof(struct run_opts, interval_ns), "TIME",
      "how often to sample (1s)", .least = 100 * OPT_MS, .most = 10 * OPT_MIN },
    { OPT_STRING, 'p', "profile", offsetof(struct run_opts, profile), "PROFILE",
      "apply a profile: its name, or a path" },
    { OPT_FLAG, 0, "profile-anyway", offsetof(struct run_opts, profile_anyway), NULL,
      "also where it was found on another machine or for another job" },
    { OPT_STRING, 0, "knobs", offsetof(struct run_opts, knobs), "FILE",
      "more knobs that the profile may set" },
    MEET_OPTIONS(offsetof(struct run_opts, meet)),
    { OPT_OUTPUT, 'j', "json", offsetof(struct run_opts, json), "FILE",
      "print what the card says as JSON, or write it to FILE" },
    { OPT_FLAG, 'q', "quiet", offsetof(struct run_opts, quiet), NULL,
      "print nothing of our own, not even the card at the end" },
    FAKE_OPTION(offsetof(struct run_opts, fake)),
    { .kind = OPT_END },
};

static const struct run_opts defaults = { .interval_ns = NS_PER_S };

/* The run as it was stored: of several observers all parts; else what this one saw. */
static int report(const struct run_opts *o, const struct observed *seen, struct err *e)
{
    CLEANUP(str_done) struct str card = STR_INIT(CARD_MAX), json = STR_INIT(CARD_MAX);
    CLEANUP(run_done) struct run loaded = { .id = NULL };
    CLEANUP(verdict_done) struct verdict verdict = { .sentence = NULL };
    const struct run_card_look look = job_look();
    bool whole = seen->stored && load_run_at_end(seen->folder, &loaded);
    const struct run *r = whole ? &loaded : &seen->run;
    const struct verdict *v = run_card_judge(r, &verdict) == 0 ? &verdict : NULL;
    int rc = run_card(r, v, seen->stored, &look, &card);

    if (rc == 0 && !o->quiet)
        (void)say_lines(stderr, str_text(&card), card.len, look.colour);
    if (rc == 0 && o->json)
        rc = run_card_json(r, v, &json);
    if (rc == 0 && o->json)
        rc = cmd_print(&json, o->json, e);
    return rc;
}

static int check(const struct run_opts *o, char **argv, struct err *e)
{
    if (!argv[0] || !*argv[0])
        return err_usage(e, "a command is needed: brim run -- COMMAND...");
    if (!o->profile && (o->knobs || o->profile_anyway))
        return err_usage(e, "--%s is for --profile: without a profile nothing is set",
                         o->knobs ? "knobs" : "profile-anyway");
    return fake_option_check(o->fake, e);
}

/* What 'brim bench' measured here, for the verdict: beside what the profile tells. */
static int add_bench(struct arena *a, struct run_note **notes, size_t *n)
{
    CLEANUP(tree_closep) struct tree *tree = NULL;
    const char *folder = conf_state(a, "bench");
    struct compute here;

    if (!folder)
        return -ENOMEM;
    if (access(folder, R_OK) < 0 || tree_open_dir(&tree, "/", NULL) < 0)
        return 0;
    compute_machine(tree, &here);
    return results_notes(a, folder, &here, notes, n);
}

static int make_notes(struct arena *a, const struct run_profile *p, struct observe_config *config)
{
    struct run_note *notes = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < p->n_notes && rc == 0; i++) {
        struct run_note *note = ARENA_PUSH(a, &notes, &n);

        if (note)
            *note = p->notes[i];
        else
            rc = -ENOMEM;
    }
    if (rc == 0)
        rc = add_bench(a, &notes, &n);
    config->notes = notes;
    config->n_notes = n;
    return rc;
}

/* Of several observers of one job the first one talks. */
static bool is_first(void)
{
    struct identity i;

    identity_read(&i, conf_environment(), 0);
    return i.world <= 1 || i.rank <= 0;
}

static void tell_first(void *arg, const char *sentence)
{
    if (is_first())
        job_tell(arg, sentence);
}

/* How the job starts: what a profile makes of it. */
struct beginning {
    struct profile_settings job;
    struct run_profile profile;
};

static bool on_several_nodes(const struct run_opts *o, char *const *argv)
{
    struct meeting_place place;

    return meeting_place_find(&place, o->meet.place, conf_environment(), argv, NULL) == 0 &&
           place.multi;
}

static int take_profile(struct arena *a, const struct run_opts *o, struct job_talk *talk, bool shim,
                        struct beginning *to, struct err *e)
{
    const struct run_profile_about about = { .which = o->profile,
                                             .knobs = o->knobs,
                                             .shim = shim,
                                             .anyway = o->profile_anyway,
                                             .several = on_several_nodes(o, to->job.argv),
                                             .say = tell_first,
                                             .arg = talk };

    return o->profile ? run_profile(a, &about, &to->job, &to->profile, e) : 0;
}

/* What observe() gave: a report, or the job without being observed. */
static int finish(const struct run_opts *o, const struct profile_settings *job,
                  struct observed *seen, int rc, struct err *why, struct err *e)
{
    struct job_talk talk = { "brim run", o->quiet };

    if (seen->started && rc == 0 && seen->leads)
        rc = report(o, seen, why);
    if (rc < 0 && !seen->started) {
        job_tell(&talk, *why->text ? why->text : strerror(-rc));
        job_tell(&talk, "the job is started without being observed");
        run_done(&seen->run);
        return job_step_aside(job, e);
    }
    if (*why->text && seen->started)
        job_tell(&talk, why->text); /* what is wrong with us does not change how the job ended */
    else if (*why->text)
        err_set(e, rc, "%s", why->text);
    run_done(&seen->run);
    return seen->exit;
}

int run_command(const struct app *app, const struct run_opts *o, char **operands, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(live_status_done) struct live_status live;
    struct job_talk talk = { "brim run", o->quiet };
    const struct shim shim = find_shim(&a, environ_get(conf_environment(), "BRIM_PLUGINS"));
    struct beginning b = { .job = { .env = conf_environment(), .argv = operands } };
    struct observe_config config = { .clock = app->clock,
                                     .name = o->name,
                                     .interval_ns = o->interval_ns,
                                     .runs = conf_state(&a, "runs"),
                                     .plugins = shim.folder,
                                     .libraries = shim.libraries,
                                     .fake = o->fake,
                                     .say = job_tell,
                                     .arg = &talk };
    const struct meet_option_about others = { &o->meet, conf_environment(), operands,
                                              false,    job_tell,           &talk };
    struct meet meet = { .on = false };
    struct observed seen;
    struct err why = { "" };
    int rc = check(o, operands, e);

    live_status_init(&live, app->clock);
    config.teller = &live.teller;
    if (rc == 0)
        rc = take_profile(&a, o, &talk, shim.folder != NULL, &b, e);
    if (rc != 0)
        return rc;
    if (observe_nested(conf_environment()))
        return job_step_aside(&b.job, e);
    rc = meet_option(&others, &meet, e);
    if (rc != 0)
        return rc;
    meet_add(&meet, &config);
    machine_recover(&a, &talk);
    if (!config.runs)
        return err_nomem(e);
    if (!config.plugins)
        job_tell(&talk,
                 "the shim for Python was not found (BRIM_PLUGINS can name its folder): the job is "
                 "observed from outside");
    if (getrandom(&config.chance, sizeof(config.chance), GRND_NONBLOCK) < 0)
        config.chance = (unsigned)getpid();
    config.argv = b.job.argv;
    config.env = b.job.env;
    config.cpus = b.job.cpus;
    rc = make_notes(&a, &b.profile, &config);
    if (rc < 0)
        return err_nomem(e);
    rc = observe(&config, &seen, &why);
    return finish(o, &b.job, &seen, rc, &why, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    return run_command(app, values, operands, e);
}

const struct cmd cmd_run = {
    .name = "run",
    .args = "[--] COMMAND...",
    .summary = "run a job under observation; nothing to edit in the job",
    .about =
        "Start the command as a shell would, watch its steps, its processes and this node until\n"
        "it ends, store what was seen, and print a card: rates, where a step's time goes, and\n"
        "what to look at next. The exit status is the command's, 128 + N when signal N killed\n"
        "it, 127 when it is not found and 126 when it cannot be executed. The job outlives brim.\n"
        "Processes that the job leaves behind are not waited for. See 'brim runs'.\n"
        "With --profile the settings of a profile are applied: see 'brim profile'.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct run_opts),
    .max_operands = INT_MAX,
    .runs_program = true,
    .run = run,
};
