/* A job under observation from its start to its end: short shells, what is told of each, and what
 * is left of it. */
#include "run/watch/observe.h"

#include <errno.h>
#include <signal.h>

#include "folder.h"
#include "tap.h"

struct bench {
    char root[PATH_MAX], runs[PATH_MAX], script[512], path[PATH_MAX];
    char *env[2], *argv[4];
    struct observe_config c;
    struct observe_pilot pilot;
    struct observed out;
    struct err e;
    char said[512];
    unsigned starts, turns, stops, ends;
    bool over, steered;
    int status; /* of the run, as the pilot's end saw it */
    struct run_tuning tuning;
};

static void say(void *arg, const char *sentence)
{
    struct bench *b = arg;

    if (!strstr(sentence, "bytes free")) /* what the machine lacks is another matter */
        snprintf(b->said, sizeof(b->said), "%s", sentence);
}

static void start(void *arg, struct control *control, const char *elsewhere)
{
    struct bench *b = arg;

    b->starts++;
    b->steered = control && !elsewhere;
}

static void event(void *arg, const struct ring_event *e)
{
    (void)arg;
    (void)e;
}

static void turn(void *arg, const struct run_snapshot *w)
{
    (void)w;
    ((struct bench *)arg)->turns++;
}

static void stop(void *arg)
{
    struct bench *b = arg;

    b->stops++;
    b->over = true;
}

static void end(void *arg, const struct run_snapshot *w)
{
    struct bench *b = arg;

    b->ends++;
    b->status = w->run->status;
}

/* Once the job is as far as the test wants it. */
static bool over(void *arg)
{
    const struct bench *b = arg;
    char ready[PATH_MAX];

    folder_path(b->root, "ready", ready);
    return b->over && access(ready, F_OK) == 0;
}

static const struct run_tuning *tried(void *arg, unsigned *version)
{
    (void)version;
    return &((struct bench *)arg)->tuning;
}

static void set_up(struct bench *b)
{
    static char shell[] = "sh", option[] = "-c";
    const char *path = getenv("PATH");

    *b = (struct bench){ .argv = { shell, option, b->script } };
    folder_make(b->root);
    folder_path(b->root, "runs", b->runs);
    snprintf(b->path, sizeof(b->path), "PATH=%s", path ? path : "/usr/bin:/bin");
    b->env[0] = b->path;
    b->pilot = (struct observe_pilot){ b, start, event, turn, stop, end, over, NULL, NULL, tried };
    b->c = (struct observe_config){ .clock = &clock_system,
                                    .argv = b->argv,
                                    .env = b->env,
                                    .interval_ns = NS_PER_S,
                                    .say = say,
                                    .arg = b };
}

static void tear_down(struct bench *b)
{
    run_done(&b->out.run);
    folder_remove(b->root);
}

static void watch(struct bench *b, const char *script)
{
    snprintf(b->script, sizeof(b->script), "cd %.200s; %s", b->root, script);
    is_int(observe(&b->c, &b->out, &b->e), 0, "a job is watched: %s", b->e.text);
}

static const char *text_of(const struct bench *b, const char *name)
{
    static char text[256];
    char full[PATH_MAX];
    FILE *f;

    folder_path(b->root, name, full);
    f = fopen(full, "re");
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = 0;
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = 0;
    return text;
}

static const char *note(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->n_environment; i++)
        if (!strcmp(r->environment[i].name, name))
            return r->environment[i].value;
    return NULL;
}

/* ---- how it ends ---- */

static void test_ends(void)
{
    static const struct {
        const char *script;
        int exit;
        enum run_end end;
        int status, asked;
    } cases[] = {
        { "exit 0", 0, RUN_EXITED, 0, 0 },
        { "exit 3", 3, RUN_EXITED, 3, 0 },
        { "kill -KILL $$", 137, RUN_KILLED, SIGKILL, 0 },
        { "kill -TERM $PPID; exec sleep 100", 143, RUN_KILLED, SIGTERM, SIGTERM },
        { "kill -INT $PPID; exec sleep 100", 130, RUN_KILLED, SIGINT, SIGINT },
        { "trap 'exit 5' USR1; kill -USR1 $PPID; while :; do sleep 0.01; done", 5, RUN_EXITED, 5,
          0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct bench b;

        set_up(&b);
        watch(&b, cases[i].script);
        is_int(b.out.exit, cases[i].exit, "the exit of '%s' is told", cases[i].script);
        ok(b.out.run.end == cases[i].end && b.out.run.status == cases[i].status,
           "the run of '%s' has its end", cases[i].script);
        is_int(b.out.asked, cases[i].asked, "the signal that came for '%s' is told",
               cases[i].script);
        ok(b.out.started && b.out.leads && !b.out.stored && !b.out.folder[0],
           "the run of '%s' is told of and not stored", cases[i].script);
        ok(b.out.run.n_moments > 0 && b.out.run.end_ns >= b.out.run.begin_ns &&
               b.out.run.begin_ns > 0,
           "the run of '%s' has a moment at least", cases[i].script);
        tear_down(&b);
    }
}

/* Signals that are the job's go on to the job. */
static void test_signals(void)
{
    static const struct {
        const char *name;
        int asked;
    } cases[] = {
        { "HUP", SIGHUP },   { "INT", SIGINT }, { "QUIT", SIGQUIT },
        { "TERM", SIGTERM }, { "USR1", 0 },     { "USR2", 0 },
        { "WINCH", 0 },      { "ALRM", 0 },     { "URG", 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char script[128];
        struct bench b;

        set_up(&b);
        snprintf(script, sizeof(script),
                 "trap 'exit 5' %s; kill -%s $PPID; while :; do sleep 0.01; done", cases[i].name,
                 cases[i].name);
        watch(&b, script);
        is_int(b.out.exit, 5, "the signal %s goes on to the job", cases[i].name);
        is_int(b.out.asked, cases[i].asked, "the signal %s asks the job to end, or does not",
               cases[i].name);
        tear_down(&b);
    }
}

/* What is no program: the shell's statuses, and no run. */
static void test_not_started(void)
{
    static const struct {
        const char *program;
        int exit;
        const char *said;
    } cases[] = {
        { "no-program-of-this-name", 127, "no-program-of-this-name: command not found" },
        { "/nonexistent/a", 127, "/nonexistent/a: No such file or directory" },
        { "/etc/passwd/a", 127, "/etc/passwd/a: Not a directory" },
        { "/", 126, "/: Permission denied" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct bench b;

        set_up(&b);
        b.c.runs = b.runs;
        snprintf(b.script, sizeof(b.script), "%s", cases[i].program);
        b.argv[0] = b.script;
        b.argv[1] = NULL;
        is_int(observe(&b.c, &b.out, &b.e), 0, "a job is not started, which is no failure of ours");
        is_int(b.out.exit, cases[i].exit, "the status of %s is the shell's", cases[i].program);
        is_str(b.e.text, cases[i].said, "the user is told why %s does not start", cases[i].program);
        ok(!b.out.started && !b.out.stored && !b.out.run.n_moments, "there is no run of %s",
           cases[i].program);
        ok(rmdir(b.runs) == 0, "nothing is kept of %s", cases[i].program);
        tear_down(&b);
    }
}

/* ---- what leads the job to us ---- */

static void test_job(void)
{
    const struct run_note notes[] = { { "a", "1" }, { "b", "2" } };
    struct bench b;
    char ring[256];

    set_up(&b);
    b.c.runs = b.runs;
    b.c.name = "mine";
    b.c.notes = notes;
    b.c.n_notes = ARRAY_SIZE(notes);
    watch(&b, "echo \"$BRIM_RUN\" > id; echo \"$BRIM_RING\" > ring; test -w \"$BRIM_RING\"");
    is_int(b.out.exit, 0, "a job has a folder for its marks");
    snprintf(ring, sizeof(ring), "%s", text_of(&b, "ring"));
    ok(ring[0] == '/' && access(ring, F_OK) < 0, "the folder for marks goes with the job");
    is_str(b.out.run.id, text_of(&b, "id"), "a job knows which run it is");
    is_str(b.out.run.name, "mine", "a run has the name that was given");
    is_str(note(&b.out.run, "a"), "1", "a run has the first note");
    is_str(note(&b.out.run, "b"), "2", "a run has the last note");
    ok(!note(&b.out.run, "marks.lost") && !note(&b.out.run, "ended.by"),
       "a run without losses that ended by itself has no note of these");
    ok(b.out.stored && strstr(b.out.folder, b.out.run.id) && access(b.out.folder, F_OK) == 0,
       "a run that is kept has a folder: %s", b.out.folder);
    tear_down(&b);
}

/* ---- one that steers ---- */

static void test_pilot(void)
{
    struct bench b;

    set_up(&b);
    b.c.pilot = &b.pilot;
    watch(&b, "test -f \"$BRIM_RING/control\" && sleep 0.3; exit 4");
    is_int(b.out.exit, 4, "the exit of a job that is steered is its own");
    ok(b.starts == 1 && b.steered, "a pilot starts once, with a control that reaches the job");
    ok(b.turns > 0 && b.ends == 1 && !b.stops, "a pilot has turns, and an end");
    is_int(b.status, 4, "a pilot sees how the job has ended");
    ok(b.out.run.tuning == &b.tuning, "a run has what the pilot tried");
    ok(!note(&b.out.run, "ended.by"), "a job that ended by itself was not ended");
    tear_down(&b);
}

/* An observer that is to meet others does, and without the secret of all it does not. */
static void test_meets(void)
{
    struct meeting_place place = { .several = true,
                                   .host = "192.0.2.1",
                                   .port = 20000 + (int)getpid() % 3000 };
    const struct meeting_key key = { .bytes = { 1 } };
    struct bench b;

    set_up(&b);
    b.c.place = &place;
    watch(&b, "exit 0");
    is_str(b.said, "", "without a secret no place is looked for");
    tear_down(&b);
    set_up(&b);
    b.c.place = &place;
    b.c.key = &key;
    watch(&b, "exit 0");
    ok(strstr(b.said, "other hosts are not met at 192.0.2.1:"),
       "a place of others is looked for: %s", b.said);
    ok(b.out.leads && b.out.exit == 0, "a job whose hosts do not meet is watched as ever");
    tear_down(&b);
}

/* A pilot that has enough: nothing that the job has started stays. */
static void test_over(void)
{
    struct bench b;
    pid_t left;

    set_up(&b);
    b.c.pilot = &b.pilot;
    b.over = true;
    watch(&b, "sleep 1000 & echo $! > left; touch ready; exec sleep 1000");
    is_int(b.out.exit, 143, "a job that is to end is asked to");
    is_str(note(&b.out.run, "ended.by"), "brim, to race settings", "a run says who ended it");
    is_int(b.out.asked, 0, "a job that a pilot ends was asked for by nobody");
    left = (pid_t)strtol(text_of(&b, "left"), NULL, 10);
    ok(left > 0 && kill(left, 0) < 0 && errno == ESRCH, "what the job has left behind is gone");
    tear_down(&b);
}

static void test_stop(void)
{
    char script[128];
    struct bench b;

    set_up(&b);
    b.c.pilot = &b.pilot;
    snprintf(script, sizeof(script), "touch ready; kill -%d $PPID; exec sleep 1000", SIGRTMIN);
    watch(&b, script);
    is_int(b.stops, 1, "a user can stop a pilot");
    is_int(b.out.exit, 143, "a pilot that was stopped may end the job");
    tear_down(&b);
}

/* ---- one below another ---- */

static void test_nested(void)
{
    static const struct {
        const char *env[2];
        bool nested;
    } cases[] = {
        { { NULL }, false },
        { { "BRIM_RUN=x" }, false },
        { { "BRIM_RING=/tmp" }, false },
        { { "BRIM_RUN=x", "BRIM_RING=/tmp" }, true },
        { { "BRIM_RUN=x", "BRIM_RING=/nonexistent" }, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copies[2][32], *env[3] = { NULL };

        for (size_t k = 0; k < 2 && cases[i].env[k]; k++)
            snprintf(env[k] = copies[k], sizeof(copies[k]), "%s", cases[i].env[k]);
        is_int(observe_nested(env), cases[i].nested, "environment %zu %s another observer's", i,
               cases[i].nested ? "is" : "is not");
    }
}

int main(void)
{
    static const int deadly[] = { SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                  SIGUSR2, SIGWINCH, SIGALRM, SIGURG };

    for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
        signal(deadly[i], SIG_DFL); /* whoever started the test may have them ignored */
    test_nested();
    test_ends();
    test_signals();
    test_not_started();
    test_job();
    test_pilot();
    test_meets();
    test_over();
    test_stop();
    return done();
}
