/* Options of commands that start a job: whether it meets others, what brim optimize is to raise,
 * and which of its options go together. Meters, secrets and launchers are this file's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/meet_option.h"
#include "cmd/optimize/goal_option.h"
#include "cmd/optimize/options.h"
#include "run/moment/power_meter.h"
#include "tap.h"

enum { TEXT = 1024 };

static struct meeting_place place;
static struct power_meters meters;
static int place_rc, key_rc, meters_rc;
static char said[TEXT], asked[TEXT];

int meeting_place_find(struct meeting_place *ret, const char *option, char *const *env,
                       char *const *argv, struct err *e)
{
    snprintf(asked, sizeof(asked), "%s %s %s", option ? option : "-", env[0], argv[0]);
    *ret = place;
    return place_rc < 0 ? err_set(e, place_rc, "no place") : 0;
}

int meeting_key_read(struct meeting_key *ret, const char *token, const char *file, struct err *e)
{
    size_t len = strlen(asked);

    snprintf(asked + len, sizeof(asked) - len, ", %s %s", token ? token : "-", file ? file : "-");
    memset(ret, 0, sizeof(*ret));
    return key_rc < 0 ? err_set(e, key_rc, "the secret is short") : key_rc;
}

int power_meters_find(struct power_meters *ret, const char *root, const char *fake,
                      const struct clock *clock, struct err *e)
{
    snprintf(asked, sizeof(asked), "%s %s%s", root, fake ? fake : "-",
             clock == &clock_system ? "" : " another clock");
    *ret = meters;
    return meters_rc < 0 ? err_set(e, meters_rc, "nobody tells") : 0;
}

int fake_option_check(const char *spec, struct err *e)
{
    return spec ? err_usage(e, "no such accelerator: %s", spec) : 0;
}

/* ---- where brims meet ---- */

static void say(void *arg, const char *sentence)
{
    snprintf(arg, TEXT, "%s", sentence);
}

#define NO_SECRET \
    "the brims of this job's hosts do not know each other: set BRIM_TOKEN to the same secret on " \
    "all of them, and they work together"
#define NO_HOST \
    "the launcher does not tell where rank 0 is: --meet names its host, and the brims of this " \
    "job's hosts work together"

/* The place, the secret, whether the command asks, and what comes of it. */
static const struct {
    struct meeting_place place;
    int key;
    bool asks, on;
    const char *said, *what;
} meetings[] = {
    { { .several = false, .host = "h" }, 1, true, false, "", "a job of one host meets nobody" },
    { { .several = true, .host = "h" }, 1, true, true, "", "brims with a secret meet" },
    { { .several = true, .host = "h" }, 1, false, true, "", "brims that only watch meet" },
    { { .several = true }, 1, true, false, NO_HOST, "brims need a host to meet at" },
    { { .several = true }, 1, false, false, "", "brims that only watch ask for no host" },
    { { .several = true, .host = "h", .multi = true },
      0,
      true,
      false,
      NO_SECRET,
      "brims of several nodes need a secret" },
    { { .several = true, .host = "h", .multi = true },
      0,
      false,
      false,
      "",
      "brims that only watch ask for no secret" },
    { { .several = true, .host = "h" },
      0,
      true,
      false,
      "",
      "processes of one node are not told of a secret" },
    { { .several = true, .host = "h", .told = true },
      0,
      false,
      false,
      NO_SECRET,
      "a user who names a place is told of the secret" },
    { { .several = true, .multi = true },
      0,
      true,
      false,
      NO_SECRET,
      "a secret is asked for before a host" },
    { { .several = true, .host = "h" },
      -EINVAL,
      false,
      false,
      "the secret is short",
      "what is wrong with a secret is told" },
    { { .several = true, .host = "h", .role = MEETING_FOLLOWS },
      -EINVAL,
      true,
      false,
      "",
      "a brim that follows tells nothing" },
    { { .several = true, .host = "h", .role = MEETING_FOLLOWS, .told = true },
      -EINVAL,
      true,
      false,
      "the secret is short",
      "a user who names a place is told by each brim" },
    { { .several = true, .host = "h", .role = MEETING_ASKS },
      -EINVAL,
      true,
      false,
      "the secret is short",
      "a brim that may lead tells what is wrong" },
};

static void test_meet(void)
{
    static char token[] = "BRIM_TOKEN=secret", job[] = "job";
    static char *env[] = { token, NULL }, *argv[] = { job, NULL };
    const struct meet_option option = { "h:1", "file" };

    place_rc = 0;
    for (size_t i = 0; i < ARRAY_SIZE(meetings); i++) {
        const struct meet_option_about about = { &option, env, argv, meetings[i].asks, say, said };
        struct meet m = { .on = true };
        struct observe_config c = { .place = &m.place, .key = &m.key };
        struct err e = { "" };

        place = meetings[i].place;
        key_rc = meetings[i].key;
        said[0] = '\0';
        is_int(meet_option(&about, &m, &e), 0, "a job is looked at: %s", meetings[i].what);
        is_str(said, meetings[i].said, "%s: what is said", meetings[i].what);
        is_int(m.on, meetings[i].on, "%s: whether there is a meeting", meetings[i].what);
        meet_add(&m, &c);
        ok(c.place == (meetings[i].on ? &m.place : NULL) &&
               c.key == (meetings[i].on ? &m.key : NULL),
           "%s: what the observer is told", meetings[i].what);
    }
    is_str(asked, "h:1 BRIM_TOKEN=secret job, secret file", "place and secret come from options");
}

static void test_no_place(void)
{
    static char job[] = "job";
    static char *argv[] = { job, NULL };
    const struct meet_option option = { "h:x", NULL };
    const struct meet_option_about about = { &option, argv, argv, true, say, said };
    struct meet m = { .on = true };
    struct err e = { "" };

    place_rc = ERR_USAGE;
    key_rc = 1;
    place = (struct meeting_place){ .several = true, .host = "h" };
    is_int(meet_option(&about, &m, &e), ERR_USAGE, "a place that is none is wrong usage");
    is_str(e.text, "no place", "the sentence about the place is handed on");
    ok(!m.on, "nobody meets at a place that is none");
    place_rc = 0;
}

/* ---- goals ---- */

#define PRICE(option, text) option " must be a number above 0, up to 1000000, not '" text "'"

static void test_goal(void)
{
    static const struct {
        struct optimize_goal_words words;
        int rc;
        const char *want; /* the error, or the goal, its prices, and who was asked for power */
    } cases[] = {
        { { .goal = NULL }, 0, "throughput 0 0 -" },
        { { .goal = "throughput" }, 0, "throughput 0 0 -" },
        { { .goal = "energy", .fake = "f" }, 0, "energy 0 0 / f" },
        { { .goal = "cost", .price_hour = "2.5" }, 0, "cost 2.5 0 -" },
        { { .goal = "cost", .price_kwh = "0.25" }, 0, "cost 0 0.25 / -" },
        { { .goal = "cost", .price_hour = "1000000", .price_kwh = "1e-3" },
          0,
          "cost 1e+06 0.001 / -" },
        { { .goal = "cost" },
          ERR_USAGE,
          "--goal cost needs a price: --price-hour of the machine, --price-kwh of energy, or "
          "both" },
        { { .goal = "energy", .price_hour = "1" }, ERR_USAGE, "a price is for --goal cost" },
        { { .goal = NULL, .price_kwh = "1" }, ERR_USAGE, "a price is for --goal cost" },
        { { .goal = "cost", .price_hour = "0" }, ERR_USAGE, PRICE("--price-hour", "0") },
        { { .goal = "cost", .price_hour = "x" }, ERR_USAGE, PRICE("--price-hour", "x") },
        { { .goal = "cost", .price_hour = "1000001" },
          ERR_USAGE,
          PRICE("--price-hour", "1000001") },
        { { .goal = "cost", .price_kwh = "-1" }, ERR_USAGE, PRICE("--price-kwh", "-1") },
        { { .goal = "cost", .price_hour = "1", .price_kwh = "nan" },
          ERR_USAGE,
          PRICE("--price-kwh", "nan") },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct goal g = { .kind = GOAL_THROUGHPUT };
        struct err e = { "" };
        char told[2 * TEXT];

        meters = (struct power_meters){ true, true, true };
        meters_rc = 0;
        snprintf(asked, sizeof(asked), "-");
        is_int(optimize_goal(&cases[i].words, &clock_system, &g, &e), cases[i].rc,
               "words of goal %zu have their status", i);
        snprintf(told, sizeof(told), "%s %g %g %s", optimize_goals[g.kind], g.price_hour,
                 g.price_kwh, asked);
        is_str(cases[i].rc ? e.text : told, cases[i].want, "words of goal %zu are read", i);
    }
}

static void test_meters(void)
{
    static const struct power_meters all[] = { { true, false, false },
                                               { false, true, false },
                                               { true, false, true } };
    const struct optimize_goal_words words = { .goal = "energy" };
    struct goal g = { .kind = GOAL_THROUGHPUT };
    struct err e = { "" };

    meters_rc = 0;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        meters = all[i];
        is_int(optimize_goal(&words, &clock_system, &g, &e), 0, "a goal with meters is possible");
        ok(g.gpus == all[i].gpus && g.cpus == all[i].cpus && g.looks == all[i].looks,
           "the goal knows meters %zu", i);
    }
    meters_rc = -ENODEV;
    is_int(optimize_goal(&words, &clock_system, &g, &e), -ENODEV, "a goal without a meter fails");
    is_str(e.text, "--goal energy needs a power meter: nobody tells", "the error names the goal");
}

/* ---- options of brim optimize ---- */

static char job_word[] = "job";
static char *job_argv[] = { job_word, NULL };

static void test_allow(void)
{
    static const struct {
        const char *words;
        bool numeric, privileged, known;
    } cases[] = {
        { "numeric", true, false, true },           { "privileged", false, true, true },
        { "numeric,privileged", true, true, true }, { "privileged,numeric", true, true, true },
        { "numerics", false, false, false },        { "num", false, false, false },
        { "numeric,x", true, false, false },        { "x,privileged", false, true, false },
        { "numeric,", true, false, false },         { "", false, false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *words = cases[i].words;
        struct optimize_opts o = { .allow = { { words }, 1 } };
        struct err e = { "" };
        char want[TEXT];

        is_int(optimize_allows(&o, "numeric"), cases[i].numeric, "'%s' and numbers", words);
        is_int(optimize_allows(&o, "privileged"), cases[i].privileged, "'%s' and machines", words);
        snprintf(want, sizeof(want), "--allow must be numeric, privileged or both, not '%s'",
                 words);
        is_int(optimize_check(&o, job_argv, &e), cases[i].known ? 0 : ERR_USAGE,
               "--allow '%s' is checked", words);
        is_str(e.text, cases[i].known ? "" : want, "what is wrong with '%s' is told", words);
    }
}

static void test_two_allow(void)
{
    const struct optimize_opts o = { .allow = { { "numeric", "privileged" }, 2 } };
    const struct optimize_opts wrong = { .allow = { { "numeric", "all" }, 2 } };

    ok(optimize_allows(&o, "numeric") && optimize_allows(&o, "privileged"),
       "each --allow has its word");
    ok(!optimize_allows(&wrong, "privileged"), "a word that nobody gave is not allowed");
    is_int(optimize_check(&wrong, job_argv, NULL), ERR_USAGE, "each --allow is checked");
}

#define RESTARTS \
    "--restarts must be 0, or from 7 to 1000: a setting is decided in three runs with it and " \
    "three without, and the job is the last"
#define COMMAND "a command is needed: brim optimize -- COMMAND..."

static void test_together(void)
{
    static const struct {
        struct optimize_opts o;
        const char *command, *want;
    } cases[] = {
        { { .undo = true }, NULL, "" },
        { { .undo = true, .fake = "x" }, NULL, "" },
        { { .undo = true }, "job", "--undo takes no command" },
        { { .undo = false }, NULL, COMMAND },
        { { .undo = false }, "", COMMAND },
        { { .undo = false }, "job", "" },
        { { .restarts = 6 }, "job", RESTARTS },
        { { .restarts = 7 }, "job", "" },
        { { .restarts = 1000 }, "job", "" },
        { { .restarts = 1001 }, "job", RESTARTS },
        { { .restarts = 7, .meet = { .place = "h" } },
          "job",
          "--restarts starts a job on one host alone: leave --meet out, or --restarts" },
        { { .meet = { .place = "h" } }, "job", "" },
        { { .restarts = 7, .goal = "energy" },
          "job",
          "--restarts decides by steps a second: leave --goal energy out, or --restarts" },
        { { .restarts = 7, .goal = "throughput" }, "job", "" },
        { { .goal = "energy" }, "job", "" },
        { { .fake = "8xNONE" }, "job", "no such accelerator: 8xNONE" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char word[16], *argv[] = { word, NULL };
        struct err e = { "" };

        snprintf(word, sizeof(word), "%s", cases[i].command ? cases[i].command : "");
        if (!cases[i].command)
            argv[0] = NULL;
        is_int(optimize_check(&cases[i].o, argv, &e), *cases[i].want ? ERR_USAGE : 0,
               "options %zu have their status", i);
        is_str(e.text, cases[i].want, "what is wrong with options %zu is told", i);
    }
}

/* Values of the options as they are given on a command line. */
static void test_limits(void)
{
    static const struct {
        const char *name, *value;
        bool good;
    } cases[] = {
        { "budget", "999ms", false },  { "budget", "1s", true },    { "interval", "99ms", false },
        { "interval", "100ms", true }, { "interval", "10m", true }, { "interval", "601s", false },
        { "goal", "cost", true },      { "goal", "profit", false }, { "restarts", "0", true },
    };
    struct optimize_opts o = optimize_defaults;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_int(opt_set(optimize_options, &o, cases[i].name, cases[i].value, NULL),
               cases[i].good ? 0 : ERR_USAGE, "--%s %s is %s", cases[i].name, cases[i].value,
               cases[i].good ? "taken" : "refused");
    is_int(optimize_defaults.budget_ns / NS_PER_S, 600, "settings are tried for ten minutes");
    is_int(optimize_defaults.interval_ns / NS_PER_MS, 1000, "a sample is taken each second");
}

int main(void)
{
    test_meet();
    test_no_place();
    test_goal();
    test_meters();
    test_allow();
    test_two_allow();
    test_together();
    test_limits();
    return done();
}
