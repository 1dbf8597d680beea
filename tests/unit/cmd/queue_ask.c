/* What the commands of the queue ask its engine, and what they make of the answers. Without an
 * engine: the other side of the socket is here. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/common/terminal_text.h"
#include "cmd/queue/act.h"
#include "cmd/queue/engine.h"
#include "cmd/queue/on_slurm.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"
#include "folder.h"
#include "tap.h"

enum { TEXT = 4096 };

uid_t __wrap_geteuid(void);
int __wrap_gethostname(char *name, size_t size);

/* The answers, one after the other: fields "key=value" that end with NULL; or errors. */
struct answer {
    const char *fields[4][2];
    int rc;
    const char *why;
};

static const struct answer *answers;
static const char *host = "node7";
static bool is_root, shared, there;
static enum engine engine;
static int engine_rc;
static char asked[TEXT], said[TEXT];

uid_t __wrap_geteuid(void)
{
    return is_root ? 0 : 1000;
}

int __wrap_gethostname(char *name, size_t size)
{
    if (!host)
        return -1;
    snprintf(name, size, "%s", host);
    return 0;
}

bool queue_is_there(const char *folder)
{
    return there && !strcmp(folder, "/q");
}

bool queue_is_shared(const char *folder)
{
    return shared && !strcmp(folder, "/var/lib/brim/queue");
}

void say(const char *who, const char *sentence)
{
    size_t len = strlen(said);

    snprintf(said + len, sizeof(said) - len, "%s: %s\n", who, sentence);
}

int engine_of(enum engine *ret, const char *named, const char *directory, const char *folder,
              struct err *e)
{
    (void)named, (void)directory, (void)folder;
    *ret = engine;
    return engine_rc ? err_set(e, engine_rc, "no engine") : 0;
}

int on_slurm_act(const char *verb, const char *label, int64_t priority, struct err *e)
{
    size_t len = strlen(asked);

    snprintf(asked + len, sizeof(asked) - len, "slurm %s %s %lld\n", verb, label,
             (long long)priority);
    return strcmp(label, "4") ? 0 : err_set(e, -EACCES, "4 is not yours");
}

static int reply(const char *how, const char *folder, const struct str *request, struct str *ret,
                 struct err *e)
{
    const struct answer *a = answers++;
    const char *key, *value;
    size_t at = 0, key_len;

    snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s %s", how, folder);
    while (wire_next(request, &at, &key, &key_len, &value)) {
        size_t len = strlen(asked);

        snprintf(asked + len, sizeof(asked) - len, " %.*s=%s", (int)key_len, key, value);
    }
    snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "\n");
    if (a->rc < 0)
        return err_set(e, a->rc, "%s", a->why);
    for (size_t i = 0; a->fields[i][0]; i++)
        wire_add(ret, a->fields[i][0], a->fields[i][1]);
    return 0;
}

int queue_ask(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    return reply("ask", folder, request, answer, e);
}

int queue_wait(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    return reply("wait", folder, request, answer, e);
}

static void expect(const struct answer *list)
{
    answers = list;
    asked[0] = said[0] = '\0';
}

/* ---- folders ---- */

static void test_folder(void)
{
    static const struct {
        bool root, shared;
        const char *state, *host, *named, *want, *what;
    } cases[] = {
        { true, true, "/state", "n", "/q", "/q", "a folder that is named is taken" },
        { false, true, NULL, "n", "/q", "/q", "a folder that is named comes before the machine's" },
        { true, false, "/state", "n", NULL, "/state/queue", "systemd's folder has the queue" },
        { false, true, "/state", "n", NULL, "/state/queue",
          "systemd's folder comes before the machine's" },
        { true, false, NULL, "n", NULL, "/var/lib/brim/queue", "root has the machine's queue" },
        { false, true, NULL, "n", NULL, "/var/lib/brim/queue",
          "a user is given the queue of all users" },
        { false, false, NULL, "n", NULL, "/home/ana/brim/queue-n",
          "a user's own queue is that of the host" },
        { false, false, NULL, "a/b", NULL, "/home/ana/brim/queue",
          "a host's name with a slash is no part of a folder" },
        { false, false, NULL, NULL, NULL, "/home/ana/brim/queue",
          "a host without a name has a queue" },
    };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    char here[PATH_MAX], want[PATH_MAX + 2];

    setenv("XDG_STATE_HOME", "/home/ana", 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_root = cases[i].root;
        shared = cases[i].shared;
        host = cases[i].host;
        if (cases[i].state)
            setenv("STATE_DIRECTORY", cases[i].state, 1);
        else
            unsetenv("STATE_DIRECTORY");
        is_str(queue_client_folder(&a, cases[i].named), cases[i].want, "a queue's folder: %s",
               cases[i].what);
    }
    folder_need(getcwd(here, sizeof(here)) ? 0 : -1, "the folder of the test");
    snprintf(want, sizeof(want), "%s/q", here);
    is_str(queue_client_folder(&a, "q"), want, "a relative folder is below that of the command");
    unsetenv("STATE_DIRECTORY");
}

static void test_above(void)
{
    static const struct {
        const char *folder, *want;
    } cases[] = {
        { "/", "" },
        { "/queue", "" },
        { "/proc/queue", "" },
        { "/proc//queue//", "" },
        { "queue", "" },
        { "/proc/none/queue", "/proc/none" },
        { "/proc/none/queue///", "/proc/none" },
        { "/proc/version/x/queue", "" },
        { "none/queue", "none" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };
        char want[TEXT] = "";
        int rc;

        errno = ENOENT; /* of what was looked for before */
        rc = queue_client_check_folder("Q", cases[i].folder, &e);

        if (*cases[i].want)
            snprintf(want, sizeof(want),
                     "--directory Q: there is no folder %s: make it, or name another folder",
                     cases[i].want);
        is_str(e.text, want, "the folder above %s is looked for", cases[i].folder);
        is_int(rc, *want ? -ENOENT : 0, "%s gives its error", cases[i].folder);
    }
    is_int(queue_client_check_folder(NULL, "/proc/none/queue", NULL), 0,
           "a folder that nobody named is not checked");
}

/* ---- questions ---- */

static void test_questions(void)
{
    static const struct answer one[] = { { .fields = { { "text", "x" } } },
                                         { .fields = { { "text", "y" } } },
                                         { .rc = -ENOENT, .why = "there is no job 9" } };
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);
    struct err e = { "" };

    expect(one);
    is_int(queue_client_job("/q", "12_3", &text, &e), 0, "a job is asked for");
    is_str(asked, "ask /q verb=jobs job=12_3\n", "the question names the job");
    is_str(wire_get(&text, "text"), "x", "the answer is handed on");
    expect(one + 1);
    is_int(queue_client_wait("/q", 9, &text, &e), 0, "a job is waited for");
    is_str(asked, "wait /q verb=wait job=9\n", "the engine is asked to wait for the job");
    is_int(queue_client_job("/q", "9", &text, &e), -ENOENT, "the engine's error is handed on");
    is_str(e.text, "there is no job 9", "the engine's sentence is handed on");
    is_int(queue_client_label("12", &e), 0, "a number is a job");
    is_int(queue_client_label("12_3", &e), 0, "a task of an array is a job");
    is_int(queue_client_label("x", &e), ERR_USAGE, "a word is no job");
}

/* ---- lists ---- */

#define PAGE(jobs) "{\n  \"schema\": \"s\",\n  \"jobs\": [" jobs "]\n}\n"
#define A "\n    {\"id\": 1}"
#define B "\n    {\"id\": 2, \"name\": \"]\"}"
#define C "\n    {\"id\": 3}"

/* The list of all pages, or the error; "> 7" behind it: the next job. */
static const char *list(const struct answer *pages, const char *user, uint64_t most)
{
    static char ret[TEXT];
    CLEANUP(str_done) struct str text = STR_INIT(WIRE_MAX);
    const struct queue_listing what = { 500, 1, user, most };
    struct err e = { "" };
    int64_t next = -1;

    expect(pages);
    if (queue_client_jobs("/q", &what, &text, &next, &e) < 0)
        snprintf(ret, sizeof(ret), "! %s", e.text);
    else
        snprintf(ret, sizeof(ret), "%s> %lld", wire_get(&text, "text"), (long long)next);
    return ret;
}

static void test_lists(void)
{
    static const struct answer empty[] = { { .fields = { { "text", PAGE("") }, { "n", "0" } } } };
    static const struct answer two[] = {
        { .fields = { { "text", PAGE(A "," B "\n  ") }, { "n", "2" }, { "next", "3" } } },
        { .fields = { { "text", PAGE(C "\n  ") }, { "n", "1" } } },
    };
    static const struct answer gaps[] = {
        { .fields = { { "text", PAGE("") }, { "n", "0" }, { "next", "1" } } },
        { .fields = { { "text", PAGE(A "\n  ") }, { "n", "1" }, { "next", "2" } } },
        { .fields = { { "text", PAGE("\n  ") }, { "n", "0" }, { "next", "3" } } },
        { .fields = { { "text", PAGE(C "\n  ") }, { "n", "1" }, { "next", "0" } } },
    };
    static const struct answer none[] = { { .fields = { { "n", "0" } } } };
    static const struct answer bad[] = { { .fields = { { "text", "{}" }, { "n", "0" } } } };
    static const struct answer open[] = { { .fields = { { "text", "\n  \"jobs\": [" } } } };
    static const struct answer failed[] = { { .rc = -EACCES, .why = "not yours" } };
    static const struct answer late[] = {
        { .fields = { { "text", PAGE(A "\n  ") }, { "n", "1" }, { "next", "2" } } },
        { .rc = -EPIPE, .why = "gone" },
    };

    is_str(list(empty, NULL, 10), PAGE("") "> 0", "a queue without jobs is listed");
    is_str(asked, "ask /q verb=jobs since=500 from=1 most=10\n", "a page is asked for");
    is_str(list(two, "ana", 10), PAGE(A "," B "," C "\n  ") "> 0", "two pages are one list");
    is_str(asked,
           "ask /q verb=jobs since=500 from=1 most=10 user=ana\n"
           "ask /q verb=jobs since=500 from=3 most=8 user=ana\n",
           "the second page begins where the first one ended");
    is_str(list(two, NULL, 3), PAGE(A "," B "," C "\n  ") "> 0",
           "a page is asked for where one job is left to list");
    is_str(list(two, NULL, 2), PAGE(A "," B "\n  ") "> 3",
           "no page is asked for when there are enough jobs");
    is_str(list(two, NULL, 1), PAGE(A "," B "\n  ") "> 3",
           "a page with more jobs than were asked for is the last one");
    is_str(list(gaps, NULL, 10), PAGE(A "," C "\n  ") "> 0", "a page without jobs adds no comma");
    is_str(list(none, NULL, 10), "! " QUEUE_NO_ANSWER, "an answer without a text is told");
    is_str(list(bad, NULL, 10), "! " QUEUE_BAD_ANSWER, "an answer without jobs is damaged");
    is_str(list(open, NULL, 10), "! " QUEUE_BAD_ANSWER, "an answer that breaks off is damaged");
    is_str(list(failed, NULL, 10), "! not yours", "the engine's error is told");
    is_str(list(late, NULL, 10), "! gone", "an engine that goes between two pages is told");
    (void)list(empty, NULL, UINT64_MAX);
    is_str(asked, "ask /q verb=jobs since=500 from=1 most=2147483647\n",
           "the engine is asked for as many jobs as it can count");
}

static void test_read(void)
{
    static const struct {
        const char *text;
        int rc;
        const char *want;
    } cases[] = {
        { NULL, -EPIPE, QUEUE_NO_ANSWER },
        { "", -EPIPE, QUEUE_NO_ANSWER },
        { "{", -EINVAL, QUEUE_BAD_ANSWER },
        { "{}", -EPROTO, QUEUE_BAD_ANSWER },
        { "{\"jobs\": 1}", -EPROTO, QUEUE_BAD_ANSWER },
        { "{\"jobs\": []}", 0, "" },
    };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *jobs;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str answer = STR_INIT(TEXT);
        struct err e = { "" };

        wire_add(&answer, "n", "1");
        if (cases[i].text)
            wire_add(&answer, "text", cases[i].text);
        is_int(queue_client_read(&jobs, &a, &answer, &e), cases[i].rc, "an answer '%s' is read",
               cases[i].text ? cases[i].text : "(none)");
        is_str(e.text, cases[i].want, "what is wrong with an answer is told");
    }
}

static void test_members(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str answer = STR_INIT(TEXT);
    const struct json_value *jobs = NULL, *job;

    wire_add(&answer, "text", "{\"jobs\": [{\"name\": \"train\", \"devices\": 8}]}");
    is_int(queue_client_read(&jobs, &a, &answer, NULL), 0, "an answer with a job is read");
    if (!ok(jobs && jobs->n_items == 1, "there is a job"))
        return;
    job = jobs->items;
    is_str(queue_client_text(job, "name"), "train", "a text is found");
    is_str(queue_client_text(job, "devices"), "", "a number is no text");
    is_str(queue_client_text(job, "state"), "", "what is not there is no text");
    ok(queue_client_number(job, "devices") > 7.5, "a number is found");
    ok(isnan(queue_client_number(job, "name")), "a text is no number");
    ok(isnan(queue_client_number(job, "state")), "what is not there is no number");
}

/* ---- one thing to some jobs ---- */

/* What comes of words that name jobs: "status: error". */
static const char *act(const char *verb, const char *priority, const char *words)
{
    static char ret[TEXT];
    const struct act_opts o = { .directory = "/q" };
    char copy[64], *rest = copy, *jobs[8] = { NULL };
    struct err e = { "" };
    int rc;

    snprintf(copy, sizeof(copy), "%s", words);
    for (size_t n = 0; *words && (jobs[n] = strsep(&rest, " "));)
        n++;
    rc = act_on_jobs(&o, verb, priority, jobs, &e);
    snprintf(ret, sizeof(ret), "%d: %s", rc, e.text);
    return ret;
}

static void test_act(void)
{
    static const struct answer done_all[] = { { .rc = 0 }, { .rc = 0 } };
    static const struct answer some[] = { { .rc = -ENOENT, .why = "no job 1" },
                                          { .rc = 0 },
                                          { .rc = -EACCES, .why = "3 is not yours" },
                                          { .rc = -EPERM, .why = "4 is over" } };

    there = true;
    expect(done_all);
    is_str(act("cancel", NULL, "1 2_5"), "0: ", "two jobs are cancelled");
    is_str(asked, "ask /q verb=cancel job=1\nask /q verb=cancel job=2_5\n",
           "the engine is asked for each job");
    expect(done_all);
    is_str(act("priority", "7", "1"), "0: ", "a priority is set");
    is_str(asked, "ask /q verb=priority job=1 priority=7\n", "the engine is told the priority");
    expect(some);
    is_str(act("hold", NULL, "1 2 3 4"), "-1: 4 is over", "the last job that failed is the error");
    is_str(said, "brim hold: no job 1\nbrim hold: 3 is not yours\n",
           "jobs that failed before are told");
    expect(some);
    is_str(act("hold", NULL, "1 2"), "-2: no job 1", "a job behind it does not hide an error");
    is_str(said, "", "an error is told once");
    expect(NULL);
    is_str(act("hold", NULL, ""), "-4096: say which job: brim hold JOB...", "a job is needed");
    is_str(act("priority", "7", ""), "-4096: say which job: brim priority N JOB...",
           "a job is needed behind a priority");
    ok(strstr(act("hold", NULL, "1 x"), "-4096: "), "a word that is no job is refused");
    is_str(asked, "", "nothing is asked where one job is none");
    there = false;
    is_str(act("hold", NULL, "1"), "-2: there is no job 1: the queue in /q was never used",
           "a queue that was never used has no jobs");
}

static void test_act_on_slurm(void)
{
    there = false;
    engine = ENGINE_SLURM;
    expect(NULL);
    is_str(act("hold", NULL, "3 4 12_5"), "-13: 4 is not yours", "jobs of Slurm are held");
    is_str(asked, "slurm hold 3 0\nslurm hold 4 0\nslurm hold 12_5 0\n",
           "Slurm is asked for each job, and no queue");
    expect(NULL);
    is_str(act("priority", "-7", "3"), "0: ", "a priority is set");
    is_str(asked, "slurm priority 3 -7\n", "Slurm is told the priority");
    expect(NULL);
    is_str(act("priority", "x", "3"), "-4096: 'x' is no priority", "a priority is a number");
    ok(strstr(act("hold", NULL, "all"), "-4096: "), "a word that is no job is refused");
    engine_rc = ERR_USAGE;
    is_str(act("hold", NULL, "3"), "-4096: no engine", "without an engine nobody is asked");
    is_str(asked, "", "nothing is asked of Slurm for a word that is no job");
    engine_rc = 0;
    engine = ENGINE_LOCAL;
}

int main(void)
{
    test_folder();
    test_above();
    test_questions();
    test_lists();
    test_read();
    test_members();
    test_act();
    test_act_on_slurm();
    return done();
}
