/* The job of brim optimize: what is told of each end, and a race between two runs of it. Without
 * observers, drives and heats: those of this file write down what they are asked for. */
#include "cmd/optimize/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

enum { LOG = 2048 };

struct drive {
    int number;
};

/* What comes of one run of the job. */
struct ran {
    int rc, exit, asked;
    bool started, leads;
    const char *why;
};

static struct {
    struct ran runs[2];
    bool no_drive, races;  /* a drive cannot be made; the first run was ended for a race */
    int race_rc, end_rc;   /* what the race and the card say */
    const char *why, *end; /* the sentences of those */
    bool stopped, interrupted;
} made;

static char did[LOG];
static size_t n_runs, n_drives;
static struct drive drives[2];
static const struct drive_past *began_with;
static struct session_plan planned;

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

int job_step_aside(const struct profile_settings *job, struct err *e)
{
    (void)e;
    add("aside(%s) ", job->argv[0]);
    return 126;
}

int drive_new(struct drive **ret, const struct drive_config *c)
{
    if (made.no_drive)
        return -ENOMEM;
    began_with = c->past;
    planned = c->plan;
    drives[n_drives].number = (int)n_drives;
    *ret = &drives[n_drives++];
    return 0;
}

void drive_free(struct drive *d)
{
    add("free%d ", d->number);
}

const struct observe_pilot *drive_pilot(const struct drive *d)
{
    static const struct observe_pilot pilots[2];

    return &pilots[d->number];
}

void drive_tell(const struct drive *d, struct drive_report *ret)
{
    static const struct proposals race = { .count = 1 };

    *ret = (struct drive_report){ .race = made.races && d->number == 0 ? &race : NULL };
}

void drive_add_past(struct drive *d, const struct drive_past *past)
{
    add("past%d(%u) ", d->number, past->heats);
}

int observe(const struct observe_config *c, struct observed *ret, struct err *e)
{
    const struct ran *r = &made.runs[n_runs++];

    add("run(%s %s %s%s) ", c->argv[0], c->env[0], c->cpus ? c->cpus : "-",
        c->pilot == drive_pilot(&drives[n_drives - 1]) ? "" : " wrong pilot");
    if (r->why)
        err_set(e, r->rc, "%s", r->why);
    ret->exit = r->exit;
    ret->asked = r->asked;
    ret->started = r->started;
    ret->leads = r->leads;
    return r->rc;
}

int optimize_race(struct arena *a, const struct optimize_race *r, struct optimize_raced *ret,
                  struct err *e)
{
    static char won[] = "won", with[] = "K=1";
    static char *argv[] = { won, NULL }, *env[] = { with, NULL };

    (void)a;
    add("race(%u %lld) ", r->restarts, (long long)(r->until_ns / NS_PER_S));
    *ret = (struct optimize_raced){ .past = { .heats = 6 },
                                    .job = { .argv = argv, .env = env, .cpus = "0-3" },
                                    .stopped = made.stopped,
                                    .interrupted = made.interrupted,
                                    .exit = 130 };
    return made.race_rc < 0 && made.why ? err_set(e, made.race_rc, "%s", made.why) : made.race_rc;
}

int optimize_end(struct optimize_ending *x, const struct observed *seen, const struct drive *d,
                 struct err *e)
{
    add("end%d(%d, %s) ", d->number, seen->exit, x->job.argv[0]);
    return made.end_rc < 0 ? err_set(e, made.end_rc, "%s", made.end) : 0;
}

static int64_t monotonic(void *arg)
{
    (void)arg;
    return 100 * NS_PER_S;
}

static int64_t wall(void *arg)
{
    (void)arg;
    return 77;
}

static const struct clock still = { monotonic, wall, NULL };
static char came[] = "came", as[] = "K=0";
static char *came_argv[] = { came, NULL }, *came_env[] = { as, NULL };

/* What was done, "= " and the exit status, and behind it the error where there is one. */
static const char *start(int64_t until_s)
{
    const struct optimize_opts o = { .restarts = 12 };
    struct optimize_ending x = { .o = &o, .job = { .env = came_env, .argv = came_argv } };
    struct optimize_beginning b = { .job = { .clock = &still },
                                    .drive = { .plan = { .trials = 9, .seconds = 5 } },
                                    .until_ns = until_s * NS_PER_S };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct err e = { "" };

    n_runs = n_drives = 0;
    did[0] = '\0';
    add("= %d", optimize_start(&a, &x, &b, &e));
    if (e.text[0])
        add(": %s", e.text);
    if (!made.no_drive)
        is_int(x.wall_ns, 77, "the time of the end is the wall's");
    return did;
}

/* One run of the job. */
static void test_one(void)
{
    static const struct {
        struct ran run;
        int end_rc;
        const char *end, *want, *what;
    } cases[] = {
        { { 0, 3, 0, true, true, NULL },
          0,
          NULL,
          "run(came K=0 -) end0(3, came) free0 = 3",
          "the card of a job that ended is printed" },
        { { 0, 3, 0, true, false, NULL },
          0,
          NULL,
          "run(came K=0 -) free0 = 3",
          "a brim that does not lead prints no card" },
        { { 0, 3, 0, true, true, NULL },
          -EIO,
          "disk full",
          "run(came K=0 -) end0(3, came) 'disk full' free0 = 3",
          "a card that cannot be printed is told, and the job's status stays" },
        { { -EIO, 4, 0, true, true, "lost it" },
          0,
          NULL,
          "run(came K=0 -) 'lost it' free0 = 4",
          "a job that was lost from sight has no card, and keeps its status" },
        { { -EMFILE, 1, 0, false, true, "no pipe" },
          0,
          NULL,
          "run(came K=0 -) 'no pipe' 'the job is started without being observed' aside(came) "
          "free0 = 126",
          "a job that cannot be observed is started by itself" },
        { { -EMFILE, 1, 0, false, true, NULL },
          0,
          NULL,
          "run(came K=0 -) 'Too many open files' 'the job is started without being observed' "
          "aside(came) free0 = 126",
          "an error without a sentence is told by its name" },
        { { 0, 127, 0, false, true, "came: command not found" },
          0,
          NULL,
          "run(came K=0 -) free0 = 127: came: command not found",
          "a job that could not be executed is the command's error" },
        { { 0, 126, 0, false, true, NULL },
          0,
          NULL,
          "run(came K=0 -) free0 = 126",
          "a job that did not start has no card" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        memset(&made, 0, sizeof(made));
        made.runs[0] = cases[i].run;
        made.end_rc = cases[i].end_rc;
        made.end = cases[i].end;
        is_str(start(200), cases[i].want, "one run of a job: %s", cases[i].what);
    }
    memset(&made, 0, sizeof(made));
    made.no_drive = true;
    is_str(start(200),
           "'out of memory' 'the job is started without being observed' aside(came) = 126",
           "a job is started without a drive where there is no memory for one");
}

#define FIRST "run(came K=0 -) "

static void test_race(void)
{
    memset(&made, 0, sizeof(made));
    made.races = true;
    made.runs[0] = (struct ran){ .exit = 143, .started = true, .leads = true, .why = "ended" };
    made.runs[1] = (struct ran){ .exit = 5, .started = true, .leads = true };
    is_str(start(130), FIRST "race(12 130) run(won K=1 0-3) end1(5, won) free1 free0 = 5",
           "after a race the job is started with what won");
    ok(began_with && began_with->heats == 6, "the drive of the second run knows of the race");
    ok(planned.seconds > 29.99 && planned.seconds < 30.01 && planned.trials == 9,
       "the second run has the time that the race left, and the trials");

    made.stopped = true;
    is_str(start(90), FIRST "race(12 90) run(won K=1 0-3) end1(5, won) free1 free0 = 5",
           "a race that was stopped is followed by the job");
    ok(planned.trials == 0, "nothing is tried after a race that was stopped");
    ok(planned.seconds > 0.99 && planned.seconds < 1.01,
       "a second is left when the race has used up the time");
    made.stopped = false;

    made.runs[1] = (struct ran){ .rc = -EMFILE, .why = "no pipe" };
    is_str(start(130),
           FIRST "race(12 130) run(won K=1 0-3) 'no pipe' 'the job is started without being "
                 "observed' aside(won) free1 free0 = 126",
           "a second run that cannot be observed is started with what won");

    made.interrupted = true;
    is_str(start(130), FIRST "race(12 130) past0(6) end0(130, won) 'ended' free0 = 130",
           "after a race that was interrupted the job is not started, and its card is printed");
    made.interrupted = false;

    made.runs[0].asked = 15;
    is_str(start(130), FIRST "end0(143, came) 'ended' free0 = 143",
           "a job that was asked to end is not raced");
    made.runs[0].asked = 0;

    made.runs[0].rc = -EIO;
    is_str(start(130), FIRST "'ended' free0 = 143", "a job that was lost from sight is not raced");
}

static void test_race_fails(void)
{
    memset(&made, 0, sizeof(made));
    made.races = true;
    made.runs[0] = (struct ran){ .exit = 143, .started = true, .leads = true, .why = "ended" };
    made.runs[1] = (struct ran){ .exit = 6, .started = true, .leads = true };
    made.race_rc = -ENOSPC;
    made.why = "no room for heats";
    is_str(start(130),
           FIRST "race(12 130) 'no room for heats' 'the job is started as it was' " FIRST
                 "end1(6, came) free1 free0 = 6",
           "a race that fails is told, and the job is started as it came");
    ok(!began_with && planned.seconds > 4.99 && planned.seconds < 5.01,
       "a race that fails changes no plan");
    made.why = NULL;
    is_str(start(130),
           FIRST "race(12 130) 'No space left on device' 'the job is started as it was' " FIRST
                 "end1(6, came) free1 free0 = 6",
           "a race that fails without a sentence is told by the error's name");
}

int main(void)
{
    test_one();
    test_race();
    test_race_fails();
    return done();
}
