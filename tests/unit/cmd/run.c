/* brim run: what a job is started with, and what is told of each end. Without observers, profiles
 * and runs: those of this file write down what they are asked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/results.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/find_shim.h"
#include "cmd/common/load_run.h"
#include "cmd/common/meet_option.h"
#include "cmd/common/terminal_text.h"
#include "cmd/optimize/machine.h"
#include "cmd/run/live_status.h"
#include "cmd/run/profile.h"
#include "run/archive/archive.h"
#include "run/job/environ.h"
#include "run/job/identity.h"
#include "tap.h"

enum { LOG = 4096 };

extern const struct cmd cmd_run;

static struct {
    bool nested, no_shim, alone, several;
    int several_rc, profile_rc, meet_rc, load_rc, judge_rc, card_rc, json_rc, print_rc;
    int observe_rc, exit, rank;
    bool started, stored, leads;
    const char *why;
} made;

static char did[LOG];

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

/* ---- before the job ---- */

int fake_option_check(const char *spec, struct err *e)
{
    return spec ? err_usage(e, "no fake") : 0;
}

const char *environ_get(char *const *env, const char *name)
{
    (void)env;
    return name;
}

struct shim find_shim(struct arena *a, const char *given)
{
    (void)a;
    return (struct shim){ made.no_shim ? NULL : given, "/lib" };
}

bool observe_nested(char *const *env)
{
    (void)env;
    return made.nested;
}

void identity_read(struct identity *i, char *const *env, int parent)
{
    (void)env;
    (void)parent;
    *i = (struct identity){ .rank = made.rank, .world = made.alone ? 1 : 2 };
}

void job_tell(void *arg, const char *sentence)
{
    const struct job_talk *t = arg;

    add("%s'%s' ", t->quiet ? "quiet " : "", sentence);
}

int run_profile(struct arena *a, const struct run_profile_about *about, struct profile_settings *io,
                struct run_profile *ret, struct err *e)
{
    static char job[] = "tuned", var[] = "K=1";
    static char *argv[] = { job, NULL }, *env[] = { var, NULL };

    (void)a;
    add("profile(%s%s%s%s%s%s) ", about->which, about->knobs ? ", " : "",
        about->knobs ? about->knobs : "", about->shim ? ", shim" : "",
        about->anyway ? ", anyway" : "", about->several ? ", several" : "");
    about->say(about->arg, "of the profile");
    io->argv = argv;
    io->env = env;
    io->cpus = "0-3";
    ret->notes[0] = (struct run_note){ "profile", "fast" };
    ret->n_notes = 1;
    return made.profile_rc < 0 ? err_set(e, made.profile_rc, "no profile") : 0;
}

int meeting_place_find(struct meeting_place *ret, const char *option, char *const *env,
                       char *const *argv, struct err *e)
{
    (void)env;
    (void)e;
    ret->multi = made.several && !option && argv[0];
    return made.several_rc;
}

int meet_option(const struct meet_option_about *about, struct meet *ret, struct err *e)
{
    ret->on = about->option->place != NULL;
    return made.meet_rc < 0 ? err_set(e, made.meet_rc, "no place") : 0;
}

void meet_add(const struct meet *m, struct observe_config *c)
{
    c->place = m->on ? &m->place : NULL;
}

void machine_recover(struct arena *a, struct job_talk *talk)
{
    (void)a;
    (void)talk;
    add("recover ");
}

void live_status_init(struct live_status *s, const struct clock *clock)
{
    s->clock = clock;
}

void live_status_done(struct live_status *s)
{
    s->clock = NULL;
}

int tree_open_dir(struct tree **ret, const char *path, struct err *e)
{
    (void)path;
    (void)e;
    *ret = NULL;
    return -ENOENT;
}

void tree_close(struct tree *t)
{
    (void)t;
}

void compute_machine(struct tree *tree, struct compute *c)
{
    (void)tree;
    (void)c;
}

int results_notes(struct arena *a, const char *folder, const struct compute *here,
                  struct run_note **notes, size_t *n)
{
    (void)a;
    (void)folder;
    (void)here;
    *notes = NULL;
    *n = 0;
    return -ENOMEM;
}

/* ---- the job ---- */

int job_step_aside(const struct profile_settings *job, struct err *e)
{
    (void)e;
    add("aside(%s) ", job->argv[0]);
    return 126;
}

int observe(const struct observe_config *c, struct observed *ret, struct err *e)
{
    static char id[] = "seen";

    add("observe(%s%s as %s on %s, %lld ms, %s, %zu notes%s%s%s) ", c->argv[0],
        c->env[0] && !strcmp(c->env[0], "K=1") ? " with K=1" : "", c->name ? c->name : "-",
        c->cpus ? c->cpus : "-", (long long)(c->interval_ns / NS_PER_MS), c->runs, c->n_notes,
        c->plugins ? ", shim" : "", c->place ? ", met" : "", c->teller ? ", told of" : "");
    if (c->n_notes)
        add("noted(%s) ", c->notes[0].value ? c->notes[0].value : "?");
    *ret = (struct observed){ .exit = made.exit,
                              .started = made.started,
                              .stored = made.stored,
                              .leads = made.leads,
                              .folder = "/runs/a",
                              .run = { .id = id } };
    if (made.why)
        err_set(e, made.observe_rc, "%s", made.why);
    return made.observe_rc;
}

/* ---- behind it ---- */

bool load_run_at_end(const char *folder, struct run *out)
{
    static char id[] = "stored";

    add("load(%s) ", folder);
    out->id = id;
    return made.load_rc == 0;
}

void run_done(struct run *r)
{
    r->id = NULL;
}

void verdict_done(struct verdict *v)
{
    v->count = 0;
}

struct run_card_look job_look(void)
{
    return (struct run_card_look){ .columns = 70, .colour = true };
}

int run_card_judge(const struct run *r, struct verdict *ret)
{
    (void)r;
    (void)ret;
    return made.judge_rc;
}

int run_card(const struct run *r, const struct verdict *verdict, bool stored,
             const struct run_card_look *look, struct str *out)
{
    str_addf(out, "%s%s%s in %u", r->id, verdict ? ", judged" : "", stored ? ", kept" : "",
             look->columns);
    return made.card_rc;
}

int run_card_json(const struct run *r, const struct verdict *verdict, struct str *out)
{
    str_addf(out, "{%s%s}", r->id, verdict ? ", judged" : "");
    return made.json_rc;
}

int say_lines(FILE *to, const char *text, size_t len, bool colour)
{
    add("%s[%.*s]%s ", to == stderr ? "" : "not on stderr ", (int)len, text, colour ? "" : "?");
    return 0;
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    add("print(%s to %s) ", str_text(out), path);
    return made.print_rc < 0 ? err_set(e, made.print_rc, "not printed") : 0;
}

/* ---- what is done ---- */

/* As struct run_opts: options are set by their names. */
static union {
    char bytes[256];
    void *aligned;
} values;

static void option(const char *name, const char *value)
{
    is_int(opt_set(cmd_run.opts, &values, name, value, NULL), 0, "--%s %s is an option", name,
           value);
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.started = made.stored = made.leads = true;
    made.exit = 3;
    memcpy(&values, cmd_run.defaults, cmd_run.size);
}

static const char *run(const char *command)
{
    const struct app app = { .clock = &clock_system };
    char word[16], *operands[] = { word, NULL };
    struct err e = { "" };
    int rc;

    snprintf(word, sizeof(word), "%s", command ? command : "");
    if (!command)
        operands[0] = NULL;
    did[0] = '\0';
    rc = cmd_run.run(&app, &values, operands, &e);
    add("= %d%s%s", rc, *e.text ? ": " : "", e.text);
    return did;
}

#define OBSERVE "recover observe(job as - on -, 1000 ms, /state/runs, 0 notes, shim, told of) "
#define LOAD "load(/runs/a) "

static void test_cards(void)
{
    usual();
    is_str(run("job"), OBSERVE LOAD "[stored, judged, kept in 70] = 3",
           "the card of a run that is kept is printed");
    made.load_rc = -EIO;
    is_str(run("job"), OBSERVE LOAD "[seen, judged, kept in 70] = 3",
           "a run that cannot be read is told as it was seen");
    usual();
    made.stored = false;
    made.judge_rc = -ENOMEM;
    is_str(run("job"), OBSERVE "[seen in 70] = 3", "a run without a verdict has a card");
    usual();
    made.leads = false;
    is_str(run("job"), OBSERVE "= 3", "a brim that does not lead prints no card");
    usual();
    option("json", "f");
    is_str(run("job"), OBSERVE LOAD "[stored, judged, kept in 70] print({stored, judged} to f) = 3",
           "JSON is written behind the card");
    option("quiet", "yes");
    is_str(run("job"), OBSERVE LOAD "print({stored, judged} to f) = 3",
           "no card is printed with --quiet");
    made.print_rc = -ENOSPC;
    is_str(run("job"), OBSERVE LOAD "print({stored, judged} to f) quiet 'not printed' = 3",
           "JSON that cannot be written does not change the job's status");
    made.json_rc = -ENOMEM;
    is_str(run("job"), OBSERVE LOAD "= 3", "JSON that cannot be made is not written");
    usual();
    option("json", "f");
    made.card_rc = -ENOMEM;
    is_str(run("job"), OBSERVE LOAD "= 3", "a card that cannot be made is not printed");
}

static void test_ends(void)
{
    usual();
    made.observe_rc = -EIO;
    made.why = "lost it";
    is_str(run("job"), OBSERVE "'lost it' = 3", "a job that was lost from sight is told");
    made.started = false;
    is_str(run("job"),
           OBSERVE "'lost it' 'the job is started without being observed' aside(job) = 126",
           "a job that cannot be observed is started by itself");
    made.why = NULL;
    is_str(run("job"),
           OBSERVE "'Input/output error' 'the job is started without being observed' aside(job) "
                   "= 126",
           "an error without a sentence is told by its name");
    made.observe_rc = 0;
    made.why = "job: command not found";
    is_str(run("job"), OBSERVE "= 3: job: command not found",
           "a job that could not be executed is the command's error");
}

static void test_begins(void)
{
    usual();
    option("name", "n");
    option("interval", "2s");
    option("meet", "h");
    is_str(run("job"),
           "recover observe(job as n on -, 2000 ms, /state/runs, 0 notes, shim, met, told of) " LOAD
           "[stored, judged, kept in 70] = 3",
           "a job is observed as options say");
    usual();
    made.no_shim = made.nested = true;
    is_str(run("job"), "aside(job) = 126", "a job under another observer is only started");
    made.nested = made.leads = false;
    is_str(run("job"),
           "recover 'the shim for Python was not found (BRIM_PLUGINS can name its folder): the job "
           "is observed from outside' observe(job as - on -, 1000 ms, /state/runs, 0 notes, told "
           "of) = 3",
           "a shim that is not there is told");
    usual();
    made.meet_rc = ERR_USAGE;
    is_str(run("job"), "= -4096: no place", "a place that is none is wrong usage");
}

static void test_profile(void)
{
    usual();
    made.leads = false;
    option("profile", "p");
    is_str(run("job"),
           "profile(p, shim) 'of the profile' recover observe(tuned with K=1 as - on 0-3, 1000 ms, "
           "/state/runs, 1 notes, shim, told of) noted(fast) = 3",
           "a profile changes the job, and is noted");
    made.several = made.nested = true;
    is_str(run("job"), "profile(p, shim, several) 'of the profile' aside(tuned) = 126",
           "a profile is told that the job is on several nodes");
    made.several_rc = -EINVAL;
    is_str(run("job"), "profile(p, shim) 'of the profile' aside(tuned) = 126",
           "where a job is started that nobody knows the place of, it is on one node");
    made.several = made.nested = false;
    option("knobs", "k");
    option("profile-anyway", "yes");
    made.rank = 1;
    made.no_shim = made.nested = true;
    is_str(run("job"), "profile(p, k, anyway) aside(tuned) = 126",
           "the first of several observers tells of the profile");
    made.alone = true;
    is_str(run("job"), "profile(p, k, anyway) 'of the profile' aside(tuned) = 126",
           "an only observer tells of the profile");
    made.profile_rc = -ENOENT;
    is_str(run("job"), "profile(p, k, anyway) 'of the profile' = -2: no profile",
           "a profile has to be there");
}

static void test_refused(void)
{
    usual();
    is_str(run(NULL), "= -4096: a command is needed: brim run -- COMMAND...", "a job is needed");
    is_str(run(""), "= -4096: a command is needed: brim run -- COMMAND...", "a job has a name");
    option("knobs", "k");
    is_str(run("job"), "= -4096: --knobs is for --profile: without a profile nothing is set",
           "knobs are for a profile");
    usual();
    option("profile-anyway", "yes");
    is_str(run("job"),
           "= -4096: --profile-anyway is for --profile: without a profile nothing is set",
           "a profile that is applied anyway is named");
    usual();
    option("fake", "x");
    is_str(run("job"), "= -4096: no fake", "accelerators that there are not are wrong usage");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    test_cards();
    test_ends();
    test_begins();
    test_profile();
    test_refused();
    return done();
}
