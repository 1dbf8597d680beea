/* brim jobs: the table, one job in detail, and what the queue is asked for. Without an engine: its
 * answers are texts here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"
#include "tap.h"

enum { TEXT = 8192 };

extern const struct cmd cmd_jobs;

static const char *page, *next;
static bool there;
static int ask_rc;
static char asked[TEXT], said[TEXT], printed[TEXT];
static unsigned warned;

bool queue_is_there(const char *folder)
{
    return there && !strcmp(folder, "/q");
}

bool queue_is_shared(const char *folder)
{
    (void)folder;
    return false;
}

bool queue_warn_full(const char *folder)
{
    warned += !strcmp(folder, "/q");
    return false;
}

int queue_ask(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    const char *key, *value;
    size_t at = 0, key_len, len = 0;

    asked[0] = '\0';
    while (wire_next(request, &at, &key, &key_len, &value))
        len += (size_t)snprintf(asked + len, sizeof(asked) - len, "%.*s=%s ", (int)key_len, key,
                                value);
    if (ask_rc < 0)
        return err_set(e, ask_rc, "no answer in %s", folder);
    wire_add(answer, "text", page);
    wire_add(answer, "n", "1");
    if (next)
        wire_add(answer, "next", next);
    return 0;
}

int engine_of(enum engine *ret, const char *asked_for, const char *directory, const char *folder,
              struct err *e)
{
    (void)directory, (void)folder, (void)e;
    *ret = asked_for && !strcmp(asked_for, "slurm") ? ENGINE_SLURM : ENGINE_LOCAL;
    return 0;
}

int on_slurm_jobs(const struct queue_listing *what, const char *label, int64_t now_ms,
                  struct str *answer, int64_t *more, struct err *e)
{
    snprintf(asked, sizeof(asked), "slurm %s since=%lld now=%lld", label ? label : "-",
             (long long)what->since_ms, (long long)now_ms);
    *more = 0;
    if (ask_rc < 0)
        return err_set(e, ask_rc, "no answer of Slurm");
    wire_add(answer, "text", page);
    return 0;
}

int queue_wait(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    return queue_ask(folder, request, answer, e);
}

void say(const char *who, const char *sentence)
{
    snprintf(said, sizeof(said), "%s: %s", who, sentence);
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    (void)e;
    snprintf(printed, sizeof(printed), "%s%s%s", path ? path : "", path ? "< " : "", str_text(out));
    return str_error(out);
}

static int64_t wall(void *arg)
{
    (void)arg;
    return 10000 * NS_PER_S;
}

static const struct clock still = { wall, wall, NULL };

/* As struct jobs_opts: options are set by their names. */
static union {
    char bytes[256];
    void *aligned;
} values;

static void option(const char *name, const char *value)
{
    is_int(opt_set(cmd_jobs.opts, &values, name, value, NULL), 0, "--%s %s is an option", name,
           value);
}

static void usual(void)
{
    memcpy(&values, cmd_jobs.defaults, cmd_jobs.size);
    option("directory", "/q");
    there = true;
    ask_rc = 0;
    next = NULL;
    said[0] = '\0';
}

/* What is printed of an answer, or the error. */
static const char *jobs(const char *text, const char *label)
{
    const struct app app = { .clock = &still };
    char word[16], *operands[] = { word, NULL };
    struct err e = { "" };

    snprintf(word, sizeof(word), "%s", label ? label : "");
    if (!label)
        operands[0] = NULL;
    page = text;
    printed[0] = asked[0] = '\0';
    if (cmd_jobs.run(&app, &values, operands, &e) < 0)
        snprintf(printed, sizeof(printed), "! %s", e.text);
    return printed;
}

/* ---- the table ---- */

#define PAGE(jobs) "{\n  \"jobs\": [" jobs "]\n}\n"
#define CPUS(jobs) "{\n  \"gives\": \"CPUs\",\n  \"jobs\": [" jobs "]\n}\n"
#define HEAD "JOB      NAME                 USER     STATE     PRIO DEVS  RAN      WHERE OR WHY\n"
#define CPU_HEAD \
    "JOB      NAME                 USER     STATE     PRIO CPUS  RAN      WHERE OR WHY\n"

static void test_table(void)
{
    static const struct {
        const char *text, *want, *what;
    } cases[] = {
        { PAGE(""), "no jobs\n", "a queue without jobs" },
        { PAGE("{\"job\": \"7\", \"name\": \"train\", \"user\": \"ana\", \"state\": \"running\", "
               "\"priority\": 5, \"devices\": 2, \"cpus\": 16, \"attempts\": 1, \"ran_s\": 90, "
               "\"place\": \"GPU0,GPU1\", \"reason\": \"no\"}"),
          HEAD "7        train                ana      running   5    2     90 s     GPU0,GPU1\n",
          "a job that runs has its place" },
        { CPUS("{\"job\": \"7\", \"name\": \"train\", \"user\": \"ana\", \"state\": \"running\", "
               "\"priority\": 5, \"devices\": 2, \"cpus\": 16, \"attempts\": 1, \"ran_s\": 90, "
               "\"place\": \"CPUs\", \"beside\": 6, \"idle_s\": 120}"),
          CPU_HEAD
          "7        train                ana      running   5    16    90 s     CPUs, with "
          "job 6, idle for 120 s\n",
          "a job of CPUs beside another one" },
        { PAGE("{\"job\": \"8_12\", \"name\": \"a-name-that-is-long-0\", \"user\": \"ana\", "
               "\"state\": \"waiting\", \"priority\": -1, \"devices\": 0, \"attempts\": 0, "
               "\"ran_s\": 9, \"place\": \"GPU0\", \"reason\": \"no device is free\"}"),
          HEAD "8_12     a-name-that-is-lo... ana      waiting   -1   0     -        no device is "
               "free\n",
          "a job that waits has its reason, and a long name is cut" },
        { PAGE("{\"job\": \"9\", \"name\": \"12345678901234567890\", \"user\": "
               "\"a-user-with-a-very-long-name\", \"state\": \"failed\", \"priority\": 0, "
               "\"devices\": 1, \"attempts\": 2, \"ran_s\": 0.5, \"reason\": \"exit 1\"}"),
          HEAD "9        12345678901234567890 a-user-with-a-ver... failed 0 1 500 ms exit 1\n",
          "a cell that is too wide moves the next ones" },
    };

    usual();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(jobs(cases[i].text, NULL), cases[i].want, "a table of jobs: %s", cases[i].what);
    warned = 0;
    (void)jobs(PAGE(""), NULL);
    is_int(warned, 1, "a disk without room is told");
}

/* ---- one job ---- */

#define ONE(members) \
    PAGE("{\"id\": 7, \"job\": \"7\", \"name\": \"train\", \"user\": \"ana\", \"state\": " \
         "\"ended\", " \
         "\"cpus\": 1, \"priority\": 0, \"attempts\": 1, \"ran_s\": 90" members "}")
#define BEGIN "job 7, train, of ana: ended\n"
#define ENDS(ran) "ran        90 s" ran ", attempts 1\n"
#define OUTPUT "output     /q/jobs/7/output, unless it was given a file\n"

static void test_one(void)
{
    static const struct {
        const char *text, *want, *what;
    } cases[] = {
        { ONE(", \"devices\": 1"), BEGIN "needs      1 device, 1 CPU, priority 0\n" ENDS("") OUTPUT,
          "no more than there is" },
        { ONE(", \"devices\": 2, \"min_devices\": 1, \"memory_gb\": 40, \"requeue\": true, "
              "\"share\": true, \"limit_s\": 120, \"exit\": 3"),
          BEGIN "needs      2 devices, 1 at least, 40 GB of each, 1 CPU, priority 0, may be "
                "requeued, may share devices\n" ENDS(" of at most 120 s") "exit       3\n" OUTPUT,
          "what it asked for, its limit and its exit" },
        { ONE(", \"devices\": 1, \"requeue\": false, \"share\": false, \"reason\": \"r\", "
              "\"team\": \"t\", \"class\": \"c\", \"after\": \"6\", \"place\": \"GPU0\", "
              "\"sharing\": \"s\", \"stopped\": \"x\""),
          BEGIN "why        r\nneeds      1 device, 1 CPU, priority 0\nteam       t\nclass      "
                "c\nafter      6\nwhere      GPU0\nsharing    s\nstopped    x\n" ENDS("") OUTPUT,
          "texts in their order" },
        { ONE(", \"devices\": 1, \"use\": 0.25, \"idle_s\": 60, \"told\": 100"),
          BEGIN
          "needs      1 device, 1 CPU, priority 0\nbusy       25 %, idle for 60 s\ntold       "
          "1970-01-01T00:01:40Z\n" ENDS("") OUTPUT,
          "how busy it keeps its devices" },
        { ONE(", \"devices\": 1, \"use\": 1, \"idle_s\": null"),
          BEGIN "needs      1 device, 1 CPU, priority 0\nbusy       100 %\n" ENDS("") OUTPUT,
          "devices that are busy all the time" },
        { ONE(", \"devices\": 1, \"submitted\": 1, \"deadline\": 60, \"started\": 2, \"ended\": "
              "90"),
          BEGIN
          "needs      1 device, 1 CPU, priority 0\nsubmitted  1970-01-01T00:00:01Z\ndeadline   "
          "1970-01-01T00:01:00Z, missed by 30 s\nstarted    1970-01-01T00:00:02Z\nended      "
          "1970-01-01T00:01:30Z\n" ENDS("") OUTPUT,
          "a deadline that was missed" },
        { ONE(", \"devices\": 1, \"deadline\": 60, \"ended\": 60"),
          BEGIN "needs      1 device, 1 CPU, priority 0\ndeadline   1970-01-01T00:01:00Z, met\n"
                "ended      1970-01-01T00:01:00Z\n" ENDS("") OUTPUT,
          "a deadline that was met" },
        { ONE(", \"devices\": 1, \"deadline\": 60"),
          BEGIN "needs      1 device, 1 CPU, priority 0\ndeadline   1970-01-01T00:01:00Z\n" ENDS("")
              OUTPUT,
          "a deadline that is to come" },
    };

    usual();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(jobs(cases[i].text, "7"), cases[i].want, "one job tells %s", cases[i].what);
    is_str(asked, "verb=jobs job=7 ", "the engine is asked for the job");
    ok(strstr(jobs(CPUS("{\"id\": 7, \"job\": \"7\", \"devices\": 1, \"cpus\": 4}"), "7"),
              "needs      4 CPUs, priority "),
       "a machine that gives CPUs has no devices: %s", printed);
    ok(strstr(jobs(PAGE("{\"job\": \"7_1\"}, {\"job\": \"7_2\"}"), "7"), HEAD "7_1 "),
       "an array is a table");
    ok(strstr(jobs(PAGE("{\"job\": \"7\"}"), NULL), HEAD "7 "), "a list of one job is a table");
}

/* ---- what is asked for ---- */

static void test_asked(void)
{
    usual();
    (void)jobs(PAGE(""), NULL);
    is_str(asked, "verb=jobs since=6400000 from=1 most=20000 ",
           "jobs of the last hour are asked for");
    option("since", "10s");
    option("user", "ana");
    option("from", "5");
    option("most", "7");
    (void)jobs(PAGE(""), NULL);
    is_str(asked, "verb=jobs since=9990000 from=5 most=7 user=ana ", "options say what is asked");
    option("all", "yes");
    (void)jobs(PAGE(""), NULL);
    is_str(asked, "verb=jobs since=0 from=5 most=7 user=ana ", "all that is remembered is asked");
    is_str(said, "", "nothing is said of more jobs where there are none");
    usual();
    option("most", "1");
    next = "9";
    (void)jobs(PAGE("{\"job\": \"7\"}"), NULL);
    is_str(said, "brim jobs: there are more: brim jobs --from 9 goes on", "more jobs are told");
    usual();
    option("json", "f");
    is_str(jobs(PAGE("{\"job\": \"7\"}"), "7"), "f< " PAGE("{\"job\": \"7\"}"),
           "JSON is the engine's answer");
}

static void test_failures(void)
{
    usual();
    ok(strstr(jobs("", "x"), "! "), "a word that is no job is refused");
    is_str(asked, "", "nothing is asked for a word that is no job");
    ask_rc = -EPIPE;
    is_str(jobs("", "7"), "! no answer in /q", "an engine that does not answer is told");
    usual();
    is_str(jobs("{", "7"), "! " QUEUE_BAD_ANSWER, "an answer that is damaged is told");
    there = false;
    is_str(jobs("", "7"), "! there is no job 7: the queue in /q was never used",
           "a queue that was never used has no job");
    is_str(jobs("", NULL), "! there is no queue in /q: brim submit --directory=/q starts one",
           "a folder that is named has to have a queue");
    memcpy(&values, cmd_jobs.defaults, cmd_jobs.size);
    is_str(jobs("", NULL), "no jobs\n", "a queue that was never used has no jobs");
    option("json", "f");
    is_str(jobs("", NULL),
           "f< {\n  \"schema\": \"brim.jobs.v1\",\n  \"version\": 1,\n  \"jobs\": []\n}\n",
           "JSON of a queue that was never used has no jobs");
}

#define OF_SLURM \
    "{\"job\": \"7\", \"name\": \"train\", \"user\": \"ana\", \"state\": \"waiting\", " \
    "\"priority\": 4294901757, \"devices\": 2, \"cpus\": 1, \"attempts\": 0, \"ran_s\": null, " \
    "\"partition\": \"gpu\", \"output\": \"slurm-7.out\", \"reason\": \"r\"}"

static void test_slurm(void)
{
    usual();
    option("engine", "slurm");
    warned = 0;
    is_str(jobs(PAGE(OF_SLURM), NULL),
           "JOB      NAME                 USER     STATE     PRIO       DEVS  RAN      WHERE OR "
           "WHY\n"
           "7        train                ana      waiting   4294901757 2     -        r\n",
           "jobs of Slurm are the same table, with room for its priorities");
    is_str(asked, "slurm - since=6400000 now=10000000", "Slurm is asked");
    is_int(warned, 0, "no disk of a queue is looked at");
    is_str(jobs(PAGE(OF_SLURM), "7"),
           "job 7, train, of ana: waiting\nwhy        r\nneeds      2 devices, 1 CPU, priority "
           "4294901757\npartition  gpu\nran        -, attempts 0\noutput     slurm-7.out in its "
           "folder, unless it was given a file\n",
           "one job of Slurm");
    is_str(asked, "slurm 7 since=6400000 now=10000000", "Slurm is asked for one job");
    ask_rc = -EIO;
    is_str(jobs("", NULL), "! no answer of Slurm", "what Slurm does not answer is told");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    test_table();
    test_one();
    test_asked();
    test_failures();
    test_slurm();
    return done();
}
