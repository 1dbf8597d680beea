#include "cmd/queue/on_slurm.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "queue/job/job.h"
#include "slurm/code.h"
#include "slurm/slurm.h"
#include "slurm/user/show.h"

/* Whoever submits is not left without an answer because a controller is busy. */
enum { SUBMIT_MS = 60000, ASK_MS = 30000, WORDS_MOST = 1 << 20 };

#define TAKEN_OR_NOT "nobody knows whether Slurm took the job, brim jobs says it: "

/* What its commands and its library say in many words where there is no slurm.conf. */
static int explain(int rc, struct err *e)
{
    if (rc >= 0 || !strstr(e->text, "establish a configuration source"))
        return rc;
    return err_set(e, -ENOENT,
                   "Slurm is not set up here: there is no slurm.conf, and SLURM_CONF "
                   "names none; --engine local is the queue of this machine");
}

/* Run a command to its end. Its exit status, or a negative errno with a sentence. */
static int run_whole(const char *const *argv, struct slurm_client *c, struct err *e)
{
    int rc = slurm_client_start(c, argv, conf_environment(), NULL, e);

    if (rc == 0)
        rc = slurm_client_hear(c, false, ASK_MS, e);
    return rc == 0 ? slurm_client_end(c, e) : rc;
}

/* ---- submit ---- */

/* Whether srun knows --brim. */
static int check_plugin(struct err *e)
{
    static const char *const argv[] = { "srun", "--help", NULL };
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    int rc = run_whole(argv, &c, e);

    if (rc < 0)
        return rc;
    return strstr(str_text(&c.texts[0]), "--brim")
               ? 0
               : err_set(e, -ENOENT,
                         "--engine slurm: --watch: srun knows no --brim here: install brim's "
                         "plugin for Slurm, or leave the option out");
}

/* sbatch failed: in its own words. */
static int refused(const struct slurm_client *c, struct err *e)
{
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MOST);
    const char *said = str_text(&c->texts[1]);

    slurm_order_words(said, false, &words);
    if (strstr(said, "Unable to contact"))
        return err_set(e, -EIO, "Slurm does not answer: %s; look at slurmctld", str_text(&words));
    if (slurm_code_of_text(said, SITE_DEED_KINDS) == -ETIMEDOUT)
        return err_set(e, -ETIMEDOUT, TAKEN_OR_NOT "%s", str_text(&words));
    return explain(err_set(e, -EIO, "Slurm refuses the job: %s",
                           words.len ? str_text(&words) : "sbatch did not say why"),
                   e);
}

/* What it says beside, as plugins of a site do. */
static void pass_on(const struct slurm_client *c)
{
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MOST);

    slurm_order_words(str_text(&c->texts[1]), false, &words);
    if (words.len)
        say("brim submit", str_text(&words));
}

static void add_forecast(const struct slurm_client *c, struct str *answer)
{
    CLEANUP(str_done) struct str text = STR_INIT(WORDS_MOST);

    slurm_order_forecast(str_text(&c->texts[1]), clock_wall_ns(&clock_system) / NS_PER_MS, &text);
    str_fail(answer, str_error(&text));
    wire_add(answer, "text", str_text(&text));
}

int on_slurm_submit(const struct slurm_order *o, char **command, struct slurm_client *sbatch,
                    struct str *answer, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *const *argv = slurm_order_argv(o, command, &a);
    char *const *env = slurm_order_env(o, conf_environment(), &a);
    bool taken;
    uint64_t id = 0;
    int rc = o->watch ? check_plugin(e) : 0;

    if (!argv || !env)
        return err_nomem(e);
    if (rc == 0)
        rc = slurm_client_start(sbatch, argv, env, slurm_order_script, e);
    if (rc == 0)
        rc = slurm_client_hear(sbatch, o->wait, SUBMIT_MS, e);
    if (rc == -ETIMEDOUT)
        return err_context(e, rc, TAKEN_OR_NOT);
    taken = parse_digits(str_text(&sbatch->texts[0]), 10, 10, &id) > 0;
    if (rc == 0 && !(taken && o->wait))
        rc = slurm_client_end(sbatch, e);
    if (rc < 0)
        return rc;
    if (o->test ? rc > 0 : !taken)
        return refused(sbatch, e);
    wire_add(answer, "engine", "slurm");
    if (o->test)
        add_forecast(sbatch, answer);
    else
        wire_add_int(answer, "id", (int64_t)id);
    if (!o->test && !o->wait)
        pass_on(sbatch);
    return str_error(answer) ? err_nomem(e) : 0;
}

int on_slurm_wait(struct slurm_client *sbatch, bool array, struct err *e)
{
    int rc = slurm_client_hear(sbatch, false, -1, e);

    if (rc == 0)
        rc = slurm_client_end(sbatch, e);
    if (rc >= 0)
        pass_on(sbatch);
    return rc > 0 && array ? EXIT_FAILED : rc;
}

/* ---- jobs ---- */

/* The name of who asks. */
static void own_name(char *ret, size_t size)
{
    const struct passwd *entry = getpwuid(geteuid());

    if (entry)
        snprintf(ret, size, "%s", entry->pw_name);
    else
        snprintf(ret, size, "%u", (unsigned)geteuid());
}

int on_slurm_jobs(const struct queue_listing *what, const char *label, int64_t now_ms,
                  struct str *answer, int64_t *next, struct err *e)
{
    static const struct slurm_config config = { .patience_ms = ASK_MS };
    CLEANUP(slurm_closep) struct slurm *slurm = NULL;
    CLEANUP(site_done) struct site site = { .n_jobs = 0 };
    CLEANUP(str_done) struct str text = STR_INIT(WIRE_MAX - 4096);
    struct slurm_jobs_shown which = {
        .since_ms = what->since_ms, .from = what->from, .most = what->most, .user = what->user
    };
    char own[QUEUE_USER];
    int32_t task = -1;
    int rc = label ? queue_label_read(label, &which.id, &task, e) : 0;

    own_name(own, sizeof(own));
    which.user = which.user || geteuid() == 0 ? which.user : own;
    which.task = task;
    if (rc == 0)
        rc = slurm_open(&slurm, &config, e);
    if (rc == 0)
        rc = slurm_read(slurm, &site, e);
    if (rc < 0)
        return explain(rc, e);
    if (slurm_show_jobs(&site, &which, now_ms, &text, next) == 0 && label)
        return err_set(e, -ENOENT,
                       "Slurm knows no job %s, or forgot it after its end: brim jobs lists them",
                       label);
    if (str_error(&text))
        return err_set(e, str_error(&text), "too many jobs to list: ask for fewer with --most");
    wire_add(answer, "text", str_text(&text));
    return 0;
}

/* ---- cancel, hold, release, priority ---- */

/* It failed: scancel tells so by its words alone. */
static int failed(const struct slurm_client *c, int status, const char *label, struct err *e)
{
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MOST);
    const char *said = str_text(&c->texts[1]);
    int code = slurm_code_of_text(said, SITE_DEED_KINDS);

    slurm_order_words(said, true, &words);
    if (status == 0 && words.len == 0)
        return 0;
    if (code == -ESRCH)
        return err_set(e, code,
                       "there is no job %s in Slurm, or it has ended: brim jobs lists them", label);
    if (code == -EACCES)
        return err_set(e, code, "job %s: only its owner and operators of Slurm may do that", label);
    if (words.len == 0) /* not all of them say that it is an error */
        slurm_order_words(said, false, &words);
    return explain(err_set(e, code, "job %s: Slurm says: %s", label, str_text(&words)), e);
}

static int run_deed(const char *const *argv, const char *label, struct err *e)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    int rc = run_whole(argv, &c, e);

    return rc < 0 ? rc : failed(&c, rc, label, e);
}

static bool begins_line(const char *text, const char *start)
{
    while (strncmp(text, start, strlen(start)) != 0) {
        text = strchr(text, '\n');
        if (!text)
            return false;
        text++;
    }
    return true;
}

/* Slurm lets a job that is held go on when its priority is set. */
static int check_held(const char *label, struct err *e)
{
    const char *argv[] = { "squeue", "--noheader", "--format=%Q", "--jobs", label, NULL };
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    int rc = run_whole(argv, &c, e);

    if (rc == 0 && begins_line(str_text(&c.texts[0]), "0\n"))
        return err_set(e, -EAGAIN,
                       "job %s is held, and Slurm would let it go on: brim release %s first", label,
                       label);
    return MIN(rc, 0); /* where squeue failed, who sets it says what is wrong */
}

int on_slurm_act(const char *verb, const char *label, int64_t priority, struct err *e)
{
    const char *cancel[] = { "scancel", "--verbose", label, NULL };
    const char *plain[] = { "scontrol", verb, label, NULL };
    char job[64], nice[64];
    const char *update[] = { "scontrol", "update", job, nice, NULL };
    bool sets = !strcmp(verb, "priority");
    int rc = sets ? check_held(label, e) : 0;

    snprintf(job, sizeof(job), "JobId=%s", label);
    snprintf(nice, sizeof(nice), "Nice=%lld", (long long)slurm_options_nice(priority));
    if (rc < 0)
        return rc;
    return run_deed(sets ? update : !strcmp(verb, "cancel") ? cancel : plain, label, e);
}

int on_slurm_cancel_user(const char *user, struct err *e)
{
    CLEANUP(slurm_client_done) struct slurm_client c = SLURM_CLIENT_INIT;
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MOST);
    const char *argv[] = { "scancel", "--verbose", "--user", user, NULL }, *said;
    int rc = run_whole(argv, &c, e);

    if (rc < 0)
        return rc;
    said = str_text(&c.texts[1]);
    slurm_order_words(said, true, &words);
    if (rc == 0 && words.len == 0)
        return 0;
    if (strstr(said, "No active jobs match"))
        return err_set(e, -ENOENT, "Slurm has no job of %s that has not ended", user);
    if (slurm_code_of_text(said, SITE_DEED_KINDS) == -EACCES)
        return err_set(e, -EACCES, "only %s and operators of Slurm may cancel jobs of %s", user,
                       user);
    return explain(err_set(e, -EIO, "jobs of %s: Slurm says: %s", user, str_text(&words)), e);
}
