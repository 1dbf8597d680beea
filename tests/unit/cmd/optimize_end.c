/* What is printed when the job of brim optimize has ended: which card, of which run, and how the
 * job is run the next time. Without runs, cards and profiles: they are words here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/cmd.h"
#include "cmd/common/load_run.h"
#include "cmd/common/terminal_text.h"
#include "cmd/optimize/card.h"
#include "cmd/optimize/job.h"
#include "cmd/optimize/profile.h"
#include "run/archive/archive.h"
#include "run/job/secret.h"
#include "tap.h"

enum { LOG = 4096, COLUMNS = 66 };

static struct {
    size_t ranks;
    const char *off, *saved;
    int load_rc, judge_rc, profile_rc, card_rc, json_rc;
} made;

static char did[LOG];
static const struct optimize_opts *opts;

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

void job_tell(void *arg, const char *sentence)
{
    (void)arg;
    add("'%s' ", sentence);
}

struct run_card_look job_look(void)
{
    return (struct run_card_look){ .columns = COLUMNS, .colour = true };
}

bool load_run_at_end(const char *folder, struct run *out)
{
    static char id[] = "stored";

    add("load(%s) ", folder);
    out->id = id;
    return made.load_rc == 0;
}

int run_card_judge(const struct run *r, struct verdict *ret)
{
    add("judge(%s) ", r->id);
    ret->count = 0;
    return made.judge_rc;
}

void drive_tell(const struct drive *d, struct drive_report *ret)
{
    (void)d;
    *ret = (struct drive_report){ .ranks = made.ranks, .off = made.off };
}

int optimize_profile(const struct optimize_profile_about *about, struct str *path, struct err *e)
{
    add("profile(%s, %s, %lld) ", about->run->id, about->file ? about->file : "-",
        (long long)about->wall_ns);
    if (made.saved)
        str_add(path, made.saved);
    return made.profile_rc < 0 ? err_set(e, made.profile_rc, "not saved") : 0;
}

void secret_add_command(struct str *out, char *const *argv)
{
    str_add(out, argv[0]);
}

int optimize_card(const struct optimize_card *c, unsigned columns, struct str *out)
{
    str_addf(out, "tuned %s in %u%s%s", c->run->id, columns, c->again ? "; " : "",
             c->again ? c->again : "");
    return made.card_rc;
}

void optimize_card_json(const struct optimize_card *c, struct json *j)
{
    json_string(j, "profile", c->profile);
}

int run_card(const struct run *r, const struct verdict *verdict, bool stored,
             const struct run_card_look *look, struct str *out)
{
    str_addf(out, "watched %s%s%s in %u", r->id, verdict ? ", judged" : "", stored ? ", kept" : "",
             look->columns);
    return made.card_rc;
}

int run_card_json_in(const struct run *r, const struct verdict *verdict, const char *key,
                     struct json *j)
{
    json_string(j, key, r->id);
    json_bool(j, "judged", verdict != NULL);
    return made.json_rc;
}

int say_lines(FILE *to, const char *text, size_t len, bool colour)
{
    add("%s[%.*s]%s ", to == stderr ? "" : "not on stderr ", (int)len, text,
        colour ? "" : " without colours");
    return 0;
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    const char *c = str_text(out);

    (void)e;
    add("print to %s: ", path);
    for (; *c; c++)
        if (*c != '\n' && *c != ' ')
            add("%c", *c);
    return 4;
}

/* What is done, "= " and the status, and the error. */
static const char *end(bool stored)
{
    static char job[] = "train", id[] = "seen";
    static char *argv[] = { job, NULL };
    const struct observed seen = { .stored = stored, .folder = "/runs/a", .run = { .id = id } };
    struct optimize_ending x = { .o = opts, .came = { .argv = argv }, .wall_ns = 9 };
    struct err e = { "" };
    int rc;

    did[0] = '\0';
    rc = optimize_end(&x, &seen, NULL, &e);
    add("= %d%s%s", rc, *e.text ? ": " : "", e.text);
    return did;
}

static void usual(const struct optimize_opts *o)
{
    memset(&made, 0, sizeof(made));
    made.ranks = 2;
    opts = o;
}

#define STORED "load(/runs/a) judge(stored) profile(stored, -, 9) "
#define NO_RANKS \
    "'no process of the job told its steps, so that nothing could be tried: jobs with PyTorch do " \
    "by themselves, others see include/brim/step.h' "

static void test_cards(void)
{
    static const struct optimize_opts none, quiet = { .quiet = true };

    usual(&none);
    is_str(end(true), STORED "[tuned stored in 66] = 0", "a run that is kept is read again");
    is_str(end(false), "judge(seen) profile(seen, -, 9) [tuned seen in 66] = 0",
           "a run that is not kept is told as it was seen");
    made.load_rc = -EIO;
    is_str(end(true), "load(/runs/a) judge(seen) profile(seen, -, 9) [tuned seen in 66] = 0",
           "a run that cannot be read is told as it was seen");

    usual(&none);
    made.ranks = 0;
    is_str(end(true), STORED NO_RANKS "[watched stored, judged, kept in 66] = 0",
           "a job that told no steps has the card of brim run");
    made.off = "it is not ours";
    made.judge_rc = -ENOMEM;
    is_str(end(false), "judge(seen) profile(seen, -, 9) [watched seen in 66] = 0",
           "a job that could not be changed is told why before");

    usual(&quiet);
    is_str(end(true), STORED "= 0", "no card is printed with --quiet");
    usual(&none);
    made.card_rc = -ENOMEM;
    is_str(end(true), STORED "= -12: out of memory", "a card needs memory");
}

static void test_again(void)
{
    static const struct optimize_opts none, knobs = { .knobs = "k.ini", .save = "my.ini" };

    usual(&none);
    made.saved = "/p.ini";
    is_str(end(true), STORED "[tuned stored in 66; brim run --profile /p.ini -- train] = 0",
           "the command of the next run is told");
    opts = &knobs;
    is_str(end(true),
           "load(/runs/a) judge(stored) profile(stored, my.ini, 9) [tuned stored in 66; brim run "
           "--profile /p.ini --knobs k.ini -- train] = 0",
           "the next run needs the knobs that were declared");
    usual(&none);
    made.saved = "/p.ini";
    made.profile_rc = -EACCES;
    is_str(end(true), STORED "'not saved' [tuned stored in 66] = 0",
           "a profile that cannot be written is told, and is of no use");
}

static void test_json(void)
{
    static const struct optimize_opts json = { .json = "out.json", .quiet = true };

    usual(&json);
    made.saved = "/p.ini";
    is_str(end(true),
           STORED "print to out.json: {\"schema\":\"brim.optimize.v1\",\"profile\":\"/p.ini\","
                  "\"run\":\"stored\",\"judged\":true}= 4",
           "JSON has the profile and the run");
    made.judge_rc = -ENOMEM;
    made.saved = NULL;
    is_str(end(true),
           STORED "print to out.json: {\"schema\":\"brim.optimize.v1\",\"profile\":null,"
                  "\"run\":\"stored\",\"judged\":false}= 4",
           "JSON is written without a verdict, too");
    made.json_rc = -ENOMEM;
    is_str(end(true), STORED "= -12: out of memory", "JSON needs memory");
    made.json_rc = 0;
    made.card_rc = -ENOMEM;
    is_str(end(true), STORED "= -12: out of memory", "no JSON is written after a card that failed");
}

int main(void)
{
    test_cards();
    test_again();
    test_json();
    return done();
}
