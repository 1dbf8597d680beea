/* Whether a job can be started with a setting that needs a restart; and the heats of such settings,
 * without jobs: observe() and the pilot of a heat are here. */
#include "cmd/optimize/race.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "knobs_ini.h"
#include "optimize/race_runner.h"
#include "tap.h"
#include "tune/session.h"

enum { LOG = 16384, STEPS = 40 };

struct race_runner {
    struct race_run run;
    struct race_run_plan plan;
    bool tries;
};

/* How long a step takes with each setting, 0: the job dies; and what happens in which heat (0: in
 * none). */
static struct {
    double job_s, openmp_s, pin_s;
    unsigned stopped, asked, fails, late, no_memory;
} made;

static struct knobs knobs;
static struct race_runner runner;
static const struct observe_pilot pilot;
static unsigned heats, odd;
static int64_t now_ns;
static bool announced; /* that the next heat has a setting on trial */
static double slow_s[3], start_most;
static char said[LOG];

int race_runner_new(struct race_runner **ret, const struct race_run_plan *plan, bool tries)
{
    heats++;
    if (heats == made.no_memory)
        return -ENOMEM;
    if (heats < ARRAY_SIZE(slow_s))
        slow_s[heats] = plan->slow_s;
    start_most = plan->start_most;
    runner = (struct race_runner){ .plan = *plan, .tries = tries };
    *ret = &runner;
    return 0;
}

void race_runner_free(struct race_runner *h)
{
    odd += h != &runner;
}

const struct observe_pilot *race_runner_pilot(const struct race_runner *h)
{
    odd += h != &runner;
    return &pilot;
}

const struct race_run *race_runner_run(const struct race_runner *h)
{
    return &h->run;
}

bool race_runner_stopped(const struct race_runner *h)
{
    odd += h != &runner;
    return heats == made.stopped;
}

static bool has(char *const *env, const char *text)
{
    for (; *env; env++)
        if (strstr(*env, text))
            return true;
    return false;
}

/* A heat: its steps are all of one length, but not those of another heat. */
int observe(const struct observe_config *c, struct observed *ret, struct err *e)
{
    bool openmp = has(c->env, "OMP_NUM_THREADS=2"), pin = has(c->env, "loader.pin=yes");
    double step_s = made.job_s * (openmp ? made.openmp_s : 1) * (pin ? made.pin_s : 1);

    *ret = (struct observed){ .asked = heats == made.asked ? 2 : 0, .exit = 130 };
    odd += c->runs || !c->shared || c->pilot != &pilot || runner.tries != announced;
    if (heats == made.fails)
        return err_set(e, -EMFILE, "no pipe");
    if (heats == made.late)
        now_ns += 100 * NS_PER_S;
    race_run_init(&runner.run, &runner.plan);
    if (!(step_s > 0)) {
        race_run_fail(&runner.run, "exit status 3");
        return 0;
    }
    for (unsigned i = 0; i < STEPS + runner.plan.warm_up; i++) {
        const struct join_step s = { .seconds = step_s * (1 + heats % 3 * 0.001),
                                     .samples = (double)NAN,
                                     .loss = (double)NAN };

        race_run_step(&runner.run, &s);
    }
    return 0;
}

/* "" or why not. */
static const char *why_not(const char *first, const char *second, const char *knob,
                           const char *value)
{
    static char why[SESSION_TEXT];
    char one[64], two[64];
    char *env[] = { first ? one : NULL, second ? two : NULL, NULL };
    char name[] = "job";
    char *argv[] = { name, NULL };
    const struct profile_settings_about about = { .knobs = &knobs, .cpus = "0-7", .shim = true };
    const struct profile_settings job = { .env = env, .argv = argv };
    const struct candidate c = { .knob = knobs_find(&knobs, knob), .value = value };

    snprintf(one, sizeof(one), "%s", first ? first : "");
    snprintf(two, sizeof(two), "%s", second ? second : "");
    why[0] = '\0';
    return optimize_race_fits(&about, &job, &c, why) ? "" : why;
}

static void test_fits(void)
{
    is_str(why_not(NULL, NULL, "threads.openmp", "2"), "", "a job without variables is given one");
    is_str(why_not("A=1", NULL, "threads.openmp", "2"), "", "a job is given one more variable");
    is_str(why_not("BRIM_KNOBS=loader.workers=3", "A=1", "loader.pin", "yes"), "",
           "a first variable that changes makes another job");
    is_str(why_not("A=1", "BRIM_KNOBS=loader.workers=3", "loader.pin", "yes"), "",
           "a second variable that changes makes another job");
    is_str(why_not("BRIM_KNOBS=loader.pin=yes", "A=1", "loader.pin", "yes"),
           "the job has it already", "a job whose variables are the same is the same");
    is_str(why_not("OMP_NUM_THREADS=2", NULL, "threads.openmp", "2"), "the job has it already",
           "a job that has set a variable so is the same");
    is_str(why_not("OMP_NUM_THREADS=4", NULL, "threads.openmp", "2"),
           "OMP_NUM_THREADS is '4' in the environment", "a user's own variable stays");
    is_str(why_not(NULL, NULL, "threads.openmp", "many"),
           "threads.openmp takes 1 to 256, not 'many'", "a value that is none is told");
}

/* ---- heats ---- */

static void say(void *arg, const char *sentence)
{
    size_t len = strlen(said);

    (void)arg;
    snprintf(said + len, sizeof(said) - len, "%s\n", sentence);
    if (strstr(sentence, " at most: "))
        announced = strchr(sentence, '=') != NULL;
}

static int64_t monotonic(void *arg)
{
    (void)arg;
    return now_ns;
}

static const struct clock still = { monotonic, monotonic, NULL };
static struct optimize_raced raced;

/* Two settings race; what was said, and the error where there is one. */
static const char *race(unsigned settings, unsigned restarts, double until_s)
{
    static struct arena a = ARENA_INIT;
    static char job[] = "job", home[] = "HOME=/";
    static char *argv[] = { job, NULL }, *env[] = { home, NULL };
    struct candidate list[] = {
        { .knob = knobs_find(&knobs, "threads.openmp"), .value = "2", .why = "less is more" },
        { .knob = knobs_find(&knobs, "loader.pin"), .value = "yes", .why = "copies wait" },
    };
    const struct proposals proposals = { .list = list, .count = settings };
    static struct session s = { .n_entries = 1 };
    const struct drive_report first = {
        .session = &s, .race = &proposals, .before = { .steps = 17 }, .start_s = 10, .step_s = 0.5
    };
    const struct profile_settings_about about = { .knobs = &knobs, .cpus = "0-7", .shim = true };
    const struct observe_config config = {
        .clock = &still, .argv = argv, .env = env, .runs = "/runs", .say = say
    };
    const struct optimize_race r = { &config, &first, &about, restarts,
                                     (int64_t)(until_s * (double)NS_PER_S) };
    struct err e = { "" };

    snprintf(s.entries[0].knob, sizeof(s.entries[0].knob), "batch.size");
    arena_done(&a);
    a = (struct arena)ARENA_INIT;
    heats = odd = 0;
    now_ns = 5 * NS_PER_S;
    said[0] = '\0';
    if (optimize_race(&a, &r, &raced, &e) < 0)
        say(NULL, e.text);
    is_int(odd, 0, "each heat is observed as it should be");
    return said;
}

#define HEAT(n, text) "run " #n " of 6 at most: " text
#define ALONE "the job as it is, to compare with\n"
#define WITH "the job with threads.openmp=2: less is more\n"
#define JOB_TOOK(n) "run " #n ": 100 ms a step, of 40 steps\n"
#define WITH_TOOK(n) "run " #n ": 80 ms a step, of 40 steps\n"
#define UNDECIDED "threads.openmp=2: not measured, undecided and taken back\n"
#define AS_IT_WAS "the job is started as it was\n"

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.job_s = 0.1;
    made.openmp_s = 0.8;
    made.pin_s = 0.9;
}

static void test_heats(void)
{
    usual();
    is_str(
        race(1, 7, 5),
        HEAT(1, ALONE) JOB_TOOK(1) HEAT(2, WITH) WITH_TOOK(2) HEAT(3, WITH) WITH_TOOK(3)
            HEAT(4, ALONE) JOB_TOOK(4) HEAT(5, ALONE) JOB_TOOK(5) HEAT(6, WITH) WITH_TOOK(
                6) "threads.openmp=2: +25.1 % steps/s (+24.3 to +25.9 %), kept after 135 steps in "
                   "3 starts\nthe job is started with threads.openmp=2\n",
        "each heat of a race is told, and what came of it");
    ok(has(raced.job.env, "OMP_NUM_THREADS=2") && has(raced.job.env, "HOME=/"),
       "the job is given what won");
    ok(!raced.stopped && !raced.interrupted, "a race that was run to its end was not stopped");
    ok(raced.past.heats == 6 && raced.past.before.steps > 16,
       "the job's second run knows of the heats and of the job as it came");
    is_int((long long)raced.past.n, 2, "the second run knows what was left and what raced");
    is_str(raced.past.entries[0].knob, "batch.size", "what was left before the race comes first");
    is_str(raced.past.entries[1].knob, "threads.openmp", "what raced comes behind it");
    ok(start_most > 49.9 && start_most < 50.1, "a heat may take five starts of the job to begin");
    ok(slow_s[1] > 1.49 && slow_s[1] < 1.51, "the first heat expects steps as observed before");
    ok(slow_s[2] > 0.29 && slow_s[2] < 0.31, "later heats expect steps as in the first one");
}

static void test_two_races(void)
{
    const char *text;

    usual();
    text = race(2, 20, 50);
    ok(strstr(text,
              "run 9 of 19 at most: the job with loader.pin=yes: copies wait\nrun 9: 90 ms") &&
           strstr(text, "run 10 of 19 at most: the job with what was kept, to compare with\n"
                        "run 10: 80 ms") &&
           strstr(text, "run 11: 72 ms"),
       "a second race is run beside what was kept: %s", text);
    ok(strstr(text, "in 3 starts\nloader.pin=yes: ") &&
           strstr(text, "kept first\nthe job is started with threads.openmp=2, loader.pin=yes\n"),
       "the job is started with all that was kept: %s", text);
    ok(has(raced.job.env, "OMP_NUM_THREADS=2") && has(raced.job.env, "BRIM_KNOBS=loader.pin=yes"),
       "the job is given all that was kept");
    is_int((long long)raced.past.n, 3, "all that raced is told to the second run");
}

static void test_ends(void)
{
    usual();
    made.stopped = 2;
    is_str(race(1, 7, 50), HEAT(1, ALONE) JOB_TOOK(1) HEAT(2, WITH) UNDECIDED AS_IT_WAS,
           "a race that is stopped ends, and the job is started as it was");
    ok(raced.stopped && !raced.interrupted, "a race that is stopped says so");
    is_str(raced.past.entries[1].note, "it was stopped",
           "the setting is told why it was not decided");

    usual();
    made.asked = 2;
    is_str(race(1, 7, 50), HEAT(1, ALONE) JOB_TOOK(1) HEAT(2, WITH) UNDECIDED,
           "a race that is interrupted ends, and the job is not started");
    ok(raced.interrupted && !raced.stopped && raced.exit == 130,
       "a race that is interrupted says so, with the exit status");
    is_str(raced.past.entries[1].note, "it was interrupted",
           "the setting is told why it was not decided");

    usual();
    made.late = 1;
    is_str(race(1, 7, 104), HEAT(1, ALONE) JOB_TOOK(1) UNDECIDED AS_IT_WAS,
           "no heat begins when the time is used up");
    is_int(heats, 1, "no job is run when the time is used up");
    is_str(raced.past.entries[1].note, "the budget is used up",
           "the setting is told why it was not decided");
}

static void test_failures(void)
{
    usual();
    made.fails = 2;
    is_str(race(1, 7, 50), HEAT(1, ALONE) JOB_TOOK(1) HEAT(2, WITH) "no pipe\n",
           "a heat that cannot be observed ends the race");
    usual();
    made.no_memory = 1;
    is_str(race(1, 7, 50), HEAT(1, ALONE) "out of memory\n",
           "a heat that there is no memory for ends the race");
    usual();
    made.job_s = 0;
    is_str(race(1, 7, 50), HEAT(1, ALONE) UNDECIDED AS_IT_WAS, "a job that fails ends the race");
    usual();
    made.openmp_s = 0;
    is_str(race(1, 7, 50),
           HEAT(1, ALONE) JOB_TOOK(1)
               HEAT(2, WITH) "threads.openmp=2: failed: exit status 3, taken back\n" AS_IT_WAS,
           "a setting with which the job fails is dropped");
}

int main(void)
{
    struct err e = { "" };

    is_int(knobs_load(&knobs, "knobs.ini", data_knobs_ini, data_knobs_ini_len, &e), 0,
           "the table of knobs is read: %s", e.text);
    test_fits();
    test_heats();
    test_two_races();
    test_ends();
    test_failures();
    knobs_done(&knobs);
    return done();
}
