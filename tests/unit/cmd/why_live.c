/* brim why --live: whether a run that is kept tells of a process or it is watched, and what the
 * verdict is compared with. Without runs, processes and a judge: they are this file's. */
#include "cmd/why/live.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/load_run.h"
#include "cmd/why/card.h"
#include "diagnose/verdict/judge.h"
#include "run/archive/archive.h"
#include "run/archive/run_tail.h"
#include "run/job/attach.h"
#include "run/watch/outside.h"
#include "tap.h"

enum { LOG = 2048, PID = 77 };

int __wrap_gethostname(char *name, size_t size);

static struct {
    const char *folder, *host;
    bool kept, steps, earlier, no_name; /* no_name: this host has none */
    int check_rc, folder_rc, load_rc, watch_rc, earlier_rc, judge_rc;
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

int __wrap_gethostname(char *name, size_t size)
{
    snprintf(name, size, "here");
    return made.no_name ? -1 : 0;
}

int attach_check(int proc, pid_t pid, struct err *e)
{
    add("check%s(%d) ", proc < 0 ? " nothing" : "", pid);
    return made.check_rc < 0 ? err_set(e, made.check_rc, "no such process") : 0;
}

int attach_folder(int proc, pid_t pid, struct str *folder)
{
    add("folder%s(%d) ", proc < 0 ? " of nothing" : "", pid);
    str_add(folder, made.folder ? made.folder : "");
    return made.folder_rc;
}

int run_load(const char *folder, struct run *out, struct err *e)
{
    static struct run_rank ranks[1];
    static char id[] = "20261101", here[8];

    (void)e;
    add("load(%s) ", folder);
    snprintf(here, sizeof(here), "%s", made.host ? made.host : "");
    *out = (struct run){
        .id = id, .host = made.host ? here : NULL, .ranks = ranks, .n_ranks = made.steps
    };
    return made.load_rc;
}

void run_done(struct run *r)
{
    r->id = NULL;
}

void run_tail_cut(struct run *r, double seconds, int64_t now_ns, struct run_tail *ret)
{
    (void)r;
    add("cut(%g s, %s) ", seconds, now_ns == 5 ? "now" : now_ns == INT64_MIN ? "its end" : "?");
    *ret = (struct run_tail){ 31, 32, 33 };
}

int outside_watch(const struct outside *c, struct run *ret, struct err *e)
{
    add("watch(%d for %lld s, %s) ", c->pid, (long long)(c->for_ns / NS_PER_S),
        ret->n_ranks || ret->id ? "of a run" : "anew");
    ret->begin_ns = 10 * NS_PER_S;
    ret->end_ns = 17 * NS_PER_S;
    return made.watch_rc < 0 ? err_set(e, made.watch_rc, "it has ended") : 0;
}

static int load_other(struct run *out, struct err *e)
{
    static char id[] = "earlier";

    if (made.earlier)
        out->id = id;
    return made.earlier_rc < 0 ? err_set(e, made.earlier_rc, "no run") : 0;
}

int load_run(const char *which, struct run *out, struct err *e)
{
    add("with(%s) ", which);
    return load_other(out, e);
}

int load_run_earlier(const struct run *r, struct run *out, struct err *e)
{
    add("before(%s) ", r->id);
    return load_other(out, e);
}

int judge_run(const struct run *r, const struct run *earlier, struct verdict *v)
{
    (void)r;
    (void)v;
    add("judge(%s) ", earlier ? earlier->id : "alone");
    return made.judge_rc;
}

void verdict_done(struct verdict *v)
{
    v->count = 0;
}

static void tell(const char *how, const struct why_live *l, struct str *out)
{
    str_addf(out, "%s %d%s %g %g %g", how, l->pid, l->outside ? " outside" : "", l->seconds,
             l->still_s, l->longest_s);
}

void why_json(const struct run *r, const struct verdict *v, const struct why_live *live,
              struct str *out)
{
    (void)r;
    (void)v;
    tell("json", live, out);
}

void why_card(const struct run *r, const struct verdict *v, const struct why_live *live,
              bool colour, unsigned columns, struct str *out)
{
    (void)r;
    (void)v;
    tell(colour ? "colours" : "card", live, out);
    str_addf(out, " in %u", columns);
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    (void)e;
    add("print(%s)%s%s", str_text(out), path ? " to " : "", path ? path : "");
    return 3;
}

static int64_t now(void *arg)
{
    (void)arg;
    return 5;
}

static const struct clock still = { now, now, NULL };

/* What is done, "= " and the status behind it, and the error. */
static const char *live(const char *with, const char *json)
{
    const struct app app = { .clock = &still, .colour = true, .columns = 90 };
    const struct why_live_opts o = { json, PID, 8 * NS_PER_S, with };
    struct err e = { "" };
    int rc;

    did[0] = '\0';
    rc = why_live(&app, &o, &e);
    add(" = %d%s%s", rc, *e.text ? ": " : "", e.text);
    return did;
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.folder = "/runs/a";
    made.host = "here";
    made.steps = true;
}

#define LOOK "check(77) folder(77) "
#define LOAD LOOK "load(/runs/a) "
#define NOW LOAD "cut(60 s, now) "
#define WATCH "watch(77 for 8 s, anew) "
#define CARD "print(colours 77 31 32 33 in 90) = 3"
#define OUTSIDE "print(colours 77 outside 7 nan nan in 90) = 3"

static void test_kept(void)
{
    usual();
    is_str(live(NULL, NULL), NOW "before(20261101) judge(alone) " CARD,
           "a run that is kept is judged by its end");
    made.earlier = true;
    is_str(live(NULL, NULL), NOW "before(20261101) judge(earlier) " CARD,
           "a run that is kept is compared with the one before");
    is_str(live("x", NULL), NOW "with(x) judge(earlier) " CARD,
           "a run that is kept is compared with the one that is named");
    is_str(live(NULL, "f"), NOW "before(20261101) judge(earlier) print(json 77 31 32 33) to f = 3",
           "JSON is written");
    made.host = "there";
    is_str(live("x", NULL), LOAD "cut(60 s, its end) with(x) judge(earlier) " CARD,
           "a run of another host has another clock");
    made.host = NULL;
    is_str(live("x", NULL), LOAD "cut(60 s, its end) with(x) judge(earlier) " CARD,
           "a run of a host that is not told may have another clock");
    made.host = "here";
    made.no_name = true;
    is_str(live("x", NULL), LOAD "cut(60 s, its end) with(x) judge(earlier) " CARD,
           "a run may be another host's where this one has no name");
}

static void test_watched(void)
{
    usual();
    made.folder = NULL;
    is_str(live(NULL, NULL), LOOK WATCH "judge(alone) " OUTSIDE,
           "a process of no run is watched, and compared with nothing");
    made.earlier = true;
    is_str(live("x", NULL), LOOK WATCH "with(x) judge(earlier) " OUTSIDE,
           "a process that is watched is compared with the run that is named");
    usual();
    made.steps = false;
    is_str(live(NULL, NULL), LOAD WATCH "judge(alone) " OUTSIDE,
           "a run without steps is watched from outside");
    usual();
    made.load_rc = -EINVAL;
    is_str(live(NULL, NULL), LOAD WATCH "judge(alone) " OUTSIDE,
           "a run that cannot be read is watched from outside");
}

static void test_failures(void)
{
    usual();
    made.check_rc = -ESRCH;
    is_str(live(NULL, NULL), "check(77)  = -3: no such process", "a process has to be there");
    usual();
    made.folder_rc = -ENOMEM;
    is_str(live(NULL, NULL), LOOK " = -12: out of memory", "a folder needs memory");
    usual();
    made.load_rc = -ENOMEM;
    is_str(live(NULL, NULL), LOAD " = -12: out of memory", "a run needs memory");
    usual();
    made.earlier_rc = -ENOENT;
    is_str(live("x", NULL), NOW "with(x)  = -2: no run", "a run that is named has to be there");
    usual();
    made.judge_rc = -ENOMEM;
    is_str(live(NULL, NULL), NOW "before(20261101) judge(alone)  = -12: out of memory",
           "a verdict needs memory");
    usual();
    made.folder = NULL;
    made.watch_rc = -ESRCH;
    is_str(live("x", NULL), LOOK WATCH " = -3: it has ended",
           "a process that ends while it is watched is no run");
}

int main(void)
{
    test_kept();
    test_watched();
    test_failures();
    return done();
}
