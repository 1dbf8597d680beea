/* Why jobs of Slurm wait, and where they run; and the same as JSON. */
#include "slurm/user/words.h"

#include "slurm/user/show.h"
#include "tap.h"

enum { NOW = 1000000 };

static struct site_part two[] = { { 0, 3, 2 }, { 1, 0, 1 } }, away[] = { { 2, 1, 1 } };
static struct site_node nodes[] = {
    { .name = "n0", .devices = 4 },
    { .name = "n1", .devices = 4 },
    { .name = "n2", .devices = 4, .drained = true },
};

#define TEXTS .name = "a", .user = "ann", .account = "", .partition = "p", .qos = ""
static struct site_job jobs[] = {
    { .id = 5,
      TEXTS,
      .task = SITE_NO_TASK,
      .state = SITE_RUNNING,
      .parts = two,
      .n_parts = 2,
      .start_ms = NOW - 5000,
      .devices = 3,
      .limit_ms = 60000 },
    { .id = 6, TEXTS, .task = SITE_NO_TASK, .state = SITE_RUNNING, .parts = away, .n_parts = 1 },
    { .id = 7,
      TEXTS,
      .task = SITE_NO_TASK,
      .state = SITE_WAITING,
      .why = "Resources",
      .priority = 9,
      .devices = 8,
      .cpus = 1 },
    { .id = 8,
      .array = 8,
      TEXTS,
      .task = SITE_NO_TASK,
      .state = SITE_WAITING,
      .why = "JobArrayTaskLimit",
      .depends = true,
      .pending_tasks = true,
      .tasks = "4-9%2" },
    { .id = 9,
      .array = 8,
      TEXTS,
      .task = 3,
      .state = SITE_ENDED,
      .outcome = SITE_DONE,
      .start_ms = NOW - 9000,
      .end_ms = NOW - 2000 },
    { .id = 10,
      TEXTS,
      .task = SITE_NO_TASK,
      .state = SITE_WAITING,
      .devices = 1,
      .cpus = 2,
      .priority = 8,
      .why = "Priority" },
};
static const struct site site = {
    .cluster = "c", .nodes = nodes, .n_nodes = 3, .jobs = jobs, .n_jobs = 6
};
static char text[4096];

static const char *why_of(const struct site_job *j)
{
    CLEANUP(str_done) struct str out = STR_INIT(sizeof(text));
    struct slurm_words w;

    slurm_words_begin(&w, &site, NOW);
    slurm_words_why(&w, j, &out);
    snprintf(text, sizeof(text), "%s", str_text(&out));
    return text;
}

static const char *label_of(const struct site_job *j)
{
    CLEANUP(str_done) struct str out = STR_INIT(sizeof(text));

    slurm_words_label(j, &out);
    snprintf(text, sizeof(text), "%s", str_text(&out));
    return text;
}

static const char *place_of(const struct site_job *j)
{
    CLEANUP(str_done) struct str out = STR_INIT(sizeof(text));

    slurm_words_place(&site, j, &out);
    snprintf(text, sizeof(text), "%s", str_text(&out));
    return text;
}

static void test_reasons(void)
{
    static const struct {
        const char *why, *after, *tasks, *want;
    } rows[] = {
        { NULL, NULL, NULL, "Slurm has not looked at it yet" },
        { NULL, "afterok:5(unfulfilled)", NULL, "waits for afterok:5: 0 of 1 ended" },
        { "BeginTime", NULL, NULL,
          "waits for the time that it is to begin at, or after it was requeued (Slurm: "
          "BeginTime)" },
        { "Dependency", "afterok:5(unfulfilled),afterany:7(unfulfilled)", NULL,
          "waits for afterok:5: 0 of 1 ended" },
        { "Dependency", "afterok:8(unfulfilled)", NULL, "waits for afterok:8" },
        { "Dependency", "after:99+5(unfulfilled)", NULL, "waits for after:99+5" },
        { "Dependency", "singleton(unfulfilled)", NULL, "waits for singleton" },
        { "Dependency", NULL, NULL, "waits for a job" },
        { "DependencyNeverSatisfied", "afterok:5(failed)", NULL,
          "afterok:5 cannot be met any more" },
        { "DependencyNeverSatisfied", NULL, NULL, "waits for a job that cannot be met any more" },
        { "JobArrayTaskLimit", NULL, "4-9%2", "its array runs 2 at a time" },
        { "JobArrayTaskLimit", NULL, NULL, "its array runs no more at a time" },
        { "QOSMaxJobsPerUserLimit", NULL, NULL,
          "a limit of its QOS is reached (Slurm: QOSMaxJobsPerUserLimit)" },
        { "AssocGrpGRES", NULL, NULL, "a limit of its account is reached (Slurm: AssocGrpGRES)" },
        { "ReqNodeNotAvail, UnavailableNodes:n1", NULL, NULL,
          "nodes that it needs are down, drained or reserved (Slurm: ReqNodeNotAvail, "
          "UnavailableNodes:n1)" },
        { "Cheese", NULL, NULL, "waits: Slurm says Cheese" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct site_job j = { .id = 20,
                              TEXTS,
                              .state = SITE_WAITING,
                              .why = rows[i].why,
                              .after = rows[i].after,
                              .tasks = rows[i].tasks };

        is_str(why_of(&j), rows[i].want, "a job that waits by %s",
               rows[i].why ? rows[i].why : "no reason");
    }
}

static void test_needs(void)
{
    struct site_job j = jobs[2];

    is_str(why_of(&jobs[2]),
           "waits for 8 devices and 1 CPU: 5 of 12 devices of the cluster are "
           "free",
           "what is free: not of nodes that are drained, and no more than is there");
    is_str(why_of(&jobs[5]),
           "waits for 1 device and 2 CPUs: 5 of 12 devices of the cluster are "
           "free; job 7 goes before it",
           "a job that goes before another is told");
    j.devices = 0;
    is_str(why_of(&j), "waits for 1 CPU", "a job without devices");
    j.start_ms = NOW + 47000;
    is_str(why_of(&j), "waits for 1 CPU; Slurm expects its start in 47 s",
           "the start that Slurm expects is told");
    j.start_ms = NOW + SLURM_WORDS_NEVER_MS + 1;
    is_str(why_of(&j),
           "waits for 1 CPU; Slurm does not know for how long, as when jobs that run have no limit",
           "one that Slurm does not know");
    j.start_ms = NOW;
    is_str(why_of(&j), "waits for 1 CPU", "one that has passed");
    jobs[2].held = true;
    is_str(why_of(&jobs[5]),
           "waits for 1 device and 2 CPUs: 5 of 12 devices of the cluster are free",
           "a job that is held goes before nobody");
    jobs[2].held = false;
    jobs[2].partition = "q";
    ok(!strstr(why_of(&jobs[5]), "goes before"), "a job of another partition goes before nobody");
    jobs[2].partition = "p";
}

static void test_held(void)
{
    struct site_job j = {
        .id = 20, TEXTS, .state = SITE_WAITING, .held = true, .why = "JobHeldUser"
    };

    is_str(why_of(&j), "held: brim release 20 lets it go on", "a job that its owner holds");
    j.why = "JobHeldAdmin";
    is_str(why_of(&j), "held by an operator of Slurm: brim release 20 is for operators alone",
           "one that an operator holds");
    j.why = "launch failed requeued held";
    is_str(why_of(&j), "held: brim release 20 lets it go on (Slurm: launch failed requeued held)",
           "one that Slurm holds");
    j = jobs[3];
    j.held = true;
    j.id = 30;
    j.why = "JobHeldUser";
    is_str(why_of(&j), "held: brim release 8 lets it go on", "tasks of an array");
}

static void test_states(void)
{
    static const struct {
        int state, outcome;
        bool held;
        const char *word, *why;
    } rows[] = {
        { SITE_WAITING, 0, false, "waiting", "Slurm has not looked at it yet" },
        { SITE_WAITING, 0, true, "held", "held: brim release 20 lets it go on" },
        { SITE_STARTING, 0, false, "starting", "its nodes are being made ready" },
        { SITE_RUNNING, 0, false, "running", "" },
        { SITE_SUSPENDED, 0, false, "suspended", "suspended: it keeps its devices" },
        { SITE_ENDING, SITE_CANCELLED, false, "stopping", "" },
        { SITE_ENDED, SITE_DONE, false, "done", "exit status 0" },
        { SITE_ENDED, SITE_FAILED, false, "failed", "it failed: scontrol show job 20 says how" },
        { SITE_ENDED, SITE_CANCELLED, false, "cancelled", "cancelled" },
        { SITE_ENDED, SITE_TIMEOUT, false, "timeout", "it reached its time limit" },
        { SITE_ENDED, SITE_LOST, false, "lost", "a node that it ran on failed" },
        { SITE_ENDED, SITE_NOT_ENDED, false, "ended", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct site_job j = { .id = 20,
                              TEXTS,
                              .state = (uint8_t)rows[i].state,
                              .outcome = (uint8_t)rows[i].outcome,
                              .held = rows[i].held };

        is_str(slurm_words_state(&j), rows[i].word, "a job is %s", rows[i].word);
        is_str(why_of(&j), rows[i].why, "the reason of a job that is %s", rows[i].word);
    }
}

static void test_places(void)
{
    struct site_part many[10] = { { 0, 0, 0 } };
    struct site_job j = { .parts = many, .n_parts = 10 };

    is_str(place_of(&jobs[0]), "n0: GPU0,GPU1; n1", "nodes with the devices that are known");
    is_str(place_of(&jobs[2]), "", "one that waits is nowhere");
    is_str(place_of(&j), "n0; n0; n0; n0; n0; n0; n0; n0; and 2 more", "many nodes are cut");
    is_str(label_of(&jobs[0]), "5", "a job's number");
    is_str(label_of(&jobs[3]), "8_[4-9%2]", "tasks that wait");
    is_str(label_of(&jobs[4]), "8_3", "one of an array");
}

/* ---- as JSON ---- */

static const char *ids(const struct slurm_jobs_shown *what, int64_t *next)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    size_t len = 0;

    (void)slurm_show_jobs(&site, what, NOW, &out, next);
    text[0] = 0;
    for (const char *at = str_text(&out); (at = strstr(at, "\"id\": ")) != NULL; at++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s ",
                                (int)strspn(at + 6, "0123456789"), at + 6);
    return text;
}

static void test_listing(void)
{
    static const struct {
        struct slurm_jobs_shown what;
        const char *want;
        int next;
        const char *about;
    } rows[] = {
        { { .task = -1, .most = 100 }, "5 6 7 8 9 10 ", 0, "all" },
        { { .task = -1, .most = 100, .since_ms = NOW - 2000 },
          "5 6 7 8 9 10 ",
          0,
          "those that ended since then" },
        { { .task = -1, .most = 100, .since_ms = NOW - 1999 },
          "5 6 7 8 10 ",
          0,
          "without one that had ended before" },
        { { .task = -1, .most = 2 }, "5 6 ", 7, "the first two" },
        { { .task = -1, .most = 100, .from = 7 }, "7 8 9 10 ", 0, "those from one on" },
        { { .task = -1, .most = 100, .user = "bob" }, "", 0, "those of a user" },
        { { .task = -1, .most = 100, .user = "ann" }, "5 6 7 8 9 10 ", 0, "those of another" },
        { { .task = -1, .most = 100, .id = 8 }, "8 9 ", 0, "a whole array" },
        { { .task = 3, .most = 100, .id = 8 }, "8 9 ", 0, "one of it, and those that wait" },
        { { .task = 4, .most = 100, .id = 8 }, "8 ", 0, "one that waits" },
        { { .task = -1, .most = 100, .id = 9 }, "9 ", 0, "one of it by its own number" },
        { { .task = -1, .most = 100, .id = 99 }, "", 0, "one that is not there" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        int64_t next = -1;

        is_str(ids(&rows[i].what, &next), rows[i].want, "jobs are listed: %s", rows[i].about);
        is_int(next, rows[i].next, "the job to go on with is told: %s", rows[i].about);
    }
}

static void test_json(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    const struct slurm_jobs_shown what = { .id = 5, .task = -1, .most = 1 };
    int64_t next;

    jobs[0].name = "\"gives\": \"CPUs\"\n\x1b";
    is_int((long long)slurm_show_jobs(&site, &what, NOW, &out, &next), 1, "a job as JSON");
    jobs[0].name = "a";
    is_str(str_text(&out),
           "{\n  \"schema\": \"brim.jobs.v1\",\n  \"version\": 1,\n  \"engine\": \"slurm\",\n"
           "  \"cluster\": \"c\",\n  \"gives\": \"devices\",\n  \"slots\": 12,\n  \"jobs\": [\n"
           "    {\n      \"job\": \"5\",\n      \"id\": 5,\n"
           "      \"name\": \"\\\"gives\\\": \\\"CPUs\\\"\\n\\u001b\",\n      \"user\": \"ann\",\n"
           "      \"team\": null,\n      \"class\": null,\n      \"partition\": \"p\",\n"
           "      \"state\": \"running\",\n      \"priority\": 0,\n      \"devices\": 3,\n"
           "      \"cpus\": 0,\n      \"requeue\": false,\n      \"attempts\": 1,\n"
           "      \"submitted\": null,\n      \"started\": 995,\n      \"ended\": null,\n"
           "      \"ran_s\": 5,\n      \"limit_s\": 60,\n      \"place\": \"n0: GPU0,GPU1; n1\",\n"
           "      \"exit\": null,\n      \"output\": \"slurm-5.out\",\n      \"reason\": \"\"\n"
           "    }\n  ]\n}\n",
           "with the keys of the queue's");
}

int main(void)
{
    test_reasons();
    test_needs();
    test_held();
    test_states();
    test_places();
    test_listing();
    test_json();
    return done();
}
