/* The embedded engine's rules: arrays, dependencies, what becomes of a job, how one is stopped. */
#include <errno.h>
#include <signal.h>

#include "queue/guard/stop_sequence.h"
#include "queue/job/job.h"
#include "queue/job/wire.h"
#include "tap.h"

/* ---- arrays ---- */

static int note(void *arg, int32_t task)
{
    str_addf(arg, "%d ", (int)task);
    return 0;
}

static const struct {
    const char *text, *tasks; /* NULL: refused */
    int width;
} arrays[] = {
    { "0-3", "0 1 2 3 ", 0 },   { "7", "7 ", 0 },           { "1,3,5-7", "1 3 5 6 7 ", 0 },
    { "0-9:4", "0 4 8 ", 0 },   { "0-3%2", "0 1 2 3 ", 2 }, { "", NULL, 0 },
    { "3-1", NULL, 0 },         { "1,1", NULL, 0 },         { "2,1", NULL, 0 },
    { "1-", NULL, 0 },          { "0-3%", NULL, 0 },        { "0-3%0", NULL, 0 },
    { "0-3%2x", NULL, 0 },      { "0-3x", NULL, 0 },        { "-1", NULL, 0 },
    { "0-9:0", NULL, 0 },       { "0-10000", NULL, 0 },     { "0,", NULL, 0 },
    { "5-5", "5 ", 0 },         { "0-2,2", NULL, 0 },       { "0-2,3", "0 1 2 3 ", 0 },
    { "0-4:3,4", "0 3 4 ", 0 }, { "0-4:4,4", NULL, 0 },     { "1%1", "1 ", 1 },
    { "0-9:", NULL, 0 },        { "1,x", NULL, 0 },         { "999999999", "999999999 ", 0 },
    { "1000000000", NULL, 0 },
};

static int count_tasks(void *arg, int32_t task)
{
    *(int32_t *)arg = task;
    return task == 77 ? -EIO : 0;
}

/* The most that there may be; a callback that fails. */
static void test_array_ends(void)
{
    struct err e = { "" };
    int32_t width = -1, last = -1;

    is_int(queue_array("0-9999", &width, count_tasks, &last, &e), -EIO,
           "what the callback returns ends the array");
    is_int(last, 77, "the callback is not called again");
    is_int(queue_array("100-10099", &width, count_tasks, &last, &e), 0,
           "an array may have 10,000 jobs: %s", e.text);
    is_int(last, 10099, "the last of 10,000 jobs is told");
    is_int(queue_array("100-10100", &width, count_tasks, &last, &e), -EINVAL,
           "an array of 10,001 jobs is refused");
    is_str(e.text, "--array 100-10100: an array has at most 10000 jobs",
           "the error tells how many jobs an array may have");
}

static void test_arrays(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
        CLEANUP(str_done) struct str tasks = STR_INIT(1 << 20);
        struct err e = { "" };
        int32_t width = -1;
        int rc = queue_array(arrays[i].text, &width, note, &tasks, &e);

        if (!arrays[i].tasks) {
            ok(rc == -EINVAL && *e.text, "array '%s' is refused: %s", arrays[i].text, e.text);
            continue;
        }
        is_int(rc, 0, "queue_array reads the array '%s'", arrays[i].text);
        is_str(str_text(&tasks), arrays[i].tasks, "the array '%s' has its numbers", arrays[i].text);
        is_int(width, arrays[i].width, "the array '%s' has its width", arrays[i].text);
    }
}

/* ---- dependencies ---- */

static const struct {
    const char *text, *said; /* NULL: refused */
} afters[] = {
    { "", "" },
    { "after:1", "after:1 " },
    { "afterok:12:13,afterany:7", "afterok:12 afterok:13 afterany:7 " },
    { "afternotok:3", "afternotok:3 " },
    { "12", NULL },
    { "afterok", NULL },
    { "afterok:", NULL },
    { "afterok:x", NULL },
    { "afterok:1,", NULL },
    { "afterok:1,2", NULL },
    { "afterok:1,0", NULL },
    { "afterok:1,9", NULL },
    { "sometime:1", NULL },
    { "after:1:", NULL },
    { "after:1;2", NULL },
    { "after,1", NULL },
    { "afterok:1,:2", NULL },
    { "afterok:123456789", "afterok:123456789 " },
    { "afterok:1234567890", NULL },
    { "afterany:9:0", "afterany:9 afterany:0 " },
};

static void test_afters(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(afters); i++) {
        CLEANUP(str_done) struct str said = STR_INIT(1024);
        enum queue_after_kind kind = AFTER_NONE;
        const char *at = afters[i].text;
        struct err e = { "" };
        int64_t id;
        int rc;

        while ((rc = queue_after_next(&at, &kind, &id, &e)) > 0)
            str_addf(&said, "%s:%lld ", queue_after_name(kind), (long long)id);
        if (afters[i].said) {
            is_int(rc, 0, "queue_after_next reads the dependencies '%s'", afters[i].text);
            is_str(str_text(&said), afters[i].said, "what it says");
        } else {
            ok(rc == -EINVAL && *e.text, "after '%s' is refused: %s", afters[i].text, e.text);
        }
    }
}

static const struct {
    enum queue_after_kind kind;
    struct queue_met met; /* all, started, ended, done */
    int want;
} mets[] = {
    { AFTER_START, { 1, 0, 0, 0 }, 0 },   { AFTER_START, { 1, 1, 0, 0 }, 1 },
    { AFTER_START, { 1, 0, 1, 0 }, 1 },   { AFTER_START, { 3, 2, 0, 0 }, 0 },
    { AFTER_OK, { 1, 1, 0, 0 }, 0 },      { AFTER_OK, { 1, 0, 1, 1 }, 1 },
    { AFTER_OK, { 1, 0, 1, 0 }, -1 },     { AFTER_OK, { 3, 1, 1, 0 }, -1 },
    { AFTER_OK, { 3, 1, 2, 2 }, 0 },      { AFTER_ANY, { 2, 1, 1, 0 }, 0 },
    { AFTER_ANY, { 2, 0, 2, 1 }, 1 },     { AFTER_NOT_OK, { 1, 1, 0, 0 }, 0 },
    { AFTER_NOT_OK, { 1, 0, 1, 1 }, -1 }, { AFTER_NOT_OK, { 1, 0, 1, 0 }, 1 },
    { AFTER_NOT_OK, { 2, 1, 1, 0 }, 0 },  { AFTER_NOT_OK, { 3, 0, 3, 2 }, 1 },
    { AFTER_START, { 3, 2, 1, 0 }, 1 },   { AFTER_OK, { 3, 0, 3, 3 }, 1 },
};

static void test_met(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(mets); i++)
        is_int(queue_after_met(mets[i].kind, &mets[i].met), mets[i].want,
               "the dependency %s of %d jobs is met as it should with %d ended",
               queue_after_name(mets[i].kind), (int)mets[i].met.all, (int)mets[i].met.ended);
}

/* ---- ends ---- */

static const struct {
    const char *what;
    bool requeue;
    enum queue_stop stop, began; /* asked for; what the guard had begun */
    int status;                  /* as waitpid() tells it */
    bool lost, unstarted;
    const char *word, *reason;
} ends[] = {
    { "exit 0", false, 0, 0, 0, false, false, "done", "exit status 0" },
    { "exit 3", false, 0, 0, 3 << 8, false, false, "failed", "exit status 3" },
    { "a signal", false, 0, 0, SIGSEGV, false, false, "failed",
      "killed by signal 11 (Segmentation fault)" },
    { "75 without requeue", false, 0, 0, 75 << 8, false, false, "failed", "exit status 75" },
    { "75 with it", true, 0, 0, 75 << 8, false, false, "waiting",
      "queued again: it asked for that with exit status 75" },
    { "a preemption", true, QUEUE_PREEMPT, QUEUE_PREEMPT, SIGTERM, false, false, "waiting",
      "queued again: it was stopped for a job that goes first" },
    { "exit 0 in a preemption", true, QUEUE_PREEMPT, QUEUE_PREEMPT, 0, false, false, "done",
      "exit status 0" },
    { "an end before the preemption came", true, QUEUE_PREEMPT, 0, 1 << 8, false, false, "failed",
      "exit status 1" },
    { "a cancellation", true, QUEUE_CANCEL, QUEUE_CANCEL, SIGTERM, false, false, "cancelled",
      "cancelled: killed by signal 15 (Terminated)" },
    { "exit 0 in a cancellation", false, QUEUE_CANCEL, QUEUE_CANCEL, 0, false, false, "done",
      "exit status 0" },
    { "the limit", false, 0, QUEUE_LIMIT, SIGTERM, false, false, "timeout",
      "it reached its time limit: killed by signal 15 (Terminated)" },
    { "75 at the limit", true, 0, QUEUE_LIMIT, 75 << 8, false, false, "waiting",
      "queued again: it asked for that with exit status 75" },
    { "an end that nobody saw", false, 0, 0, 0, true, false, "lost", "why" },
    { "the same with requeue", true, 0, 0, 0, true, false, "waiting", "queued again: why" },
    { "the same, cancelled", true, QUEUE_CANCEL, 0, 0, true, false, "lost", "why" },
    { "no such command", true, 0, 0, 127 << 8, false, true, "failed", "why" },
    { "a guard that was killed before", false, 0, 0, 75 << 8, false, true, "waiting", "why" },
    { "the same, cancelled", false, QUEUE_CANCEL, 0, 75 << 8, false, true, "cancelled",
      "cancelled: exit status 75" },
    { "a cancellation that the guard began", false, 0, QUEUE_CANCEL, 1 << 8, false, false,
      "cancelled", "cancelled: exit status 1" },
    { "a cancellation that came too late for the guard", true, QUEUE_CANCEL, 0, 1 << 8, false,
      false, "cancelled", "cancelled: exit status 1" },
    { "a preemption of one that may not be requeued", false, QUEUE_PREEMPT, QUEUE_PREEMPT, SIGTERM,
      false, false, "failed", "killed by signal 15 (Terminated)" },
    { "an end at the limit that nobody saw", true, 0, QUEUE_LIMIT, 0, true, false, "timeout",
      "why" },
    { "a signal that asks like 75", true, 0, 0, QUEUE_REQUEUED, false, false, "failed",
      "killed by signal 75 (Unknown signal 75)" },
};

static void test_ends(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        struct queue_job j = { .id = 1,
                               .task = -1,
                               .state = QUEUE_RUNNING,
                               .attempt = 1,
                               .requeue = ends[i].requeue,
                               .stop = (uint8_t)ends[i].stop,
                               .since_ms = 1000,
                               .ran_ms = 50,
                               .told_ms = 1,
                               .seen_ms = 2,
                               .used = "1-",
                               .bound = "3",
                               .place = "GPU0",
                               .slots = "0" };
        const struct queue_end end = { .status = ends[i].status,
                                       .stop = (uint8_t)ends[i].began,
                                       .lost = ends[i].lost,
                                       .unstarted = ends[i].unstarted,
                                       .end_ms = 3000,
                                       .text = "why" };

        queue_job_end(&j, &end);
        is_str(queue_job_word(&j), ends[i].word, "the job of case '%s' has its state: %s",
               ends[i].what, j.reason);
        is_str(j.reason, ends[i].reason, "the job of case '%s' tells why", ends[i].what);
        ok(!*j.slots && !*j.bound && !*j.used && !j.told_ms && !j.seen_ms,
           "a job that ended has no devices and no CPUs");
        is_int(j.ran_ms, ends[i].unstarted ? 50 : 2050,
               "a job that started has run for two seconds more");
        is_int(j.since_ms, 3000, "the job of case '%s' is where it is since its end", ends[i].what);
        is_int(j.status, ends[i].status, "the job of case '%s' has its status", ends[i].what);
        ok(j.state == QUEUE_ENDED ? j.end_ms == 3000 && !strcmp(j.place, "GPU0")
                                  : j.stop == QUEUE_GO && j.end_ms == 0 && !*j.place,
           "a job that is not over may start again, and one that is over stays where it was");
    }
}

static void test_attempts(void)
{
    struct queue_job j = { .state = QUEUE_RUNNING, .attempt = QUEUE_ATTEMPTS, .requeue = true };
    const struct queue_end end = { .status = 75 << 8 };

    queue_job_end(&j, &end);
    is_str(queue_job_word(&j), "failed", "a job is not queued again for ever");
    j = (struct queue_job){ .state = QUEUE_RUNNING, .attempt = 999, .requeue = true };
    queue_job_end(&j, &end);
    is_str(queue_job_word(&j), "waiting", "a job is queued again after its attempt 999");
    for (int attempt = 999; attempt <= 1000; attempt++) {
        const struct queue_end none = { .status = 75 << 8, .unstarted = true, .text = "why" };

        j = (struct queue_job){ .state = QUEUE_RUNNING, .attempt = attempt };
        queue_job_end(&j, &none);
        is_str(queue_job_word(&j), attempt == 999 ? "waiting" : "failed",
               "a job whose guard was killed in attempt %d", attempt);
    }
    j = (struct queue_job){ .state = QUEUE_RUNNING, .since_ms = 5000, .ran_ms = 7 };
    queue_job_end(&j, &(const struct queue_end){ .end_ms = 4000 });
    is_int(j.ran_ms, 7, "a clock that was set back takes nothing from what a job ran");
}

static void test_drop(void)
{
    struct queue_job j = { .state = QUEUE_WAITING, .since_ms = 1 };

    queue_job_drop(&j, QUEUE_NEVER, 9, "it cannot come");
    ok(j.state == QUEUE_ENDED && j.outcome == QUEUE_NEVER && j.end_ms == 9 && j.since_ms == 9,
       "a job that is dropped has ended");
    is_str(j.reason, "it cannot come", "a job that is dropped tells why");
}

static void test_words(void)
{
    static const struct {
        struct queue_job job;
        const char *word;
    } words[] = {
        { { .state = QUEUE_WAITING }, "waiting" },
        { { .state = QUEUE_WAITING, .held = true }, "held" },
        { { .state = QUEUE_WAITING, .stop = QUEUE_CANCEL }, "waiting" },
        { { .state = QUEUE_RUNNING }, "running" },
        { { .state = QUEUE_RUNNING, .held = true }, "held" },
        { { .state = QUEUE_RUNNING, .stop = QUEUE_PREEMPT }, "stopping" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_NONE }, "ended" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_DONE }, "done" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_FAILED }, "failed" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_CANCELLED }, "cancelled" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_TIMEOUT }, "timeout" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_LOST, .held = true }, "lost" },
        { { .state = QUEUE_ENDED, .outcome = QUEUE_NEVER }, "never" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        is_str(queue_job_word(&words[i].job), words[i].word, "state %d is a word: %s",
               (int)words[i].job.state, words[i].word);
    is_int(queue_exit(3 << 8), 3, "the status of a job that ended by itself is its own");
    is_int(queue_exit(SIGKILL), 137, "the status of a job that was killed is that of a shell");
}

static void test_priorities(void)
{
    static const struct {
        int64_t priority;
        bool may_lead;
        int want;
    } cases[] = {
        { -101, true, -EINVAL }, { -100, false, 0 },      { 0, false, 0 },
        { 1, false, -EACCES },   { 1, true, 0 },          { 100, true, 0 },
        { 101, true, -EINVAL },  { 101, false, -EINVAL }, { INT64_MAX, true, -EINVAL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err e = { "" };

        is_int(queue_priority_check(cases[i].priority, cases[i].may_lead, &e), cases[i].want,
               "priority %lld of %s is judged: %s", (long long)cases[i].priority,
               cases[i].may_lead ? "root" : "a user", e.text);
    }
}

static void test_signals(void)
{
    static const struct {
        const char *text;
        int number;
    } names[] = {
        { "TERM", SIGTERM }, { "USR1", SIGUSR1 },    { "USR2", SIGUSR2 },  { "INT", SIGINT },
        { "HUP", SIGHUP },   { "SIGCONT", SIGCONT }, { "SIGHUP", SIGHUP }, { "10", SIGUSR1 },
        { "2", SIGINT },     { "SIG10", -EINVAL },   { "9", -EINVAL },     { "0", -EINVAL },
        { "term", -EINVAL }, { "", -EINVAL },        { "-15", -EINVAL },   { "STOP", -EINVAL },
    };
    static const int known[] = { SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP, SIGCONT };
    int n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct err e = { "" };

        is_int(queue_signal(names[i].text, &e), names[i].number, "the signal '%s' is read: %s",
               names[i].text, e.text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        ok(queue_signal_known(known[i]), "signal %d may ask for a checkpoint", known[i]);
    for (int i = -1; i < 65; i++)
        n += queue_signal_known(i);
    is_int(n, 6, "no other signal may ask for a checkpoint");
}

/* ---- how one is stopped ---- */

static void step(struct stop_sequence *c, enum queue_stop wanted, bool gone, int64_t now_ms,
                 int signal, enum stop_whom whom, const char *what)
{
    struct stop_step s;
    bool any = stop_sequence_next(c, wanted, gone, now_ms, &s);

    ok(any == (signal != 0) && s.signal == signal && (!signal || s.whom == whom),
       "the stop '%s' at %lld ms sends signal %d to %d", what, (long long)now_ms, s.signal,
       (int)s.whom);
}

static void test_limit(void)
{
    const struct queue_job j = { .limit_ms = 1000, .warn_ms = 300, .signal = SIGUSR1 };
    struct stop_sequence c;

    stop_sequence_begin(&c, &j, 0);
    is_int(c.due_ms, 700, "the warning is due before the limit");
    step(&c, QUEUE_GO, false, 699, 0, 0, "nothing before");
    step(&c, QUEUE_GO, false, 700, SIGUSR1, COURSE_FIRST, "the warning");
    step(&c, QUEUE_GO, false, 701, 0, 0, "once");
    is_int(c.due_ms, 1000, "the limit is due after the warning");
    step(&c, QUEUE_GO, false, 1000, SIGTERM, COURSE_GROUP, "the limit");
    is_int(c.stop, QUEUE_LIMIT, "the limit is why the job is stopped");
    step(&c, QUEUE_GO, false, 1001, 0, 0, "time to end");
    step(&c, QUEUE_GO, false, 1000 + COURSE_KILL_MS, SIGKILL, COURSE_ALL, "no more time");
    step(&c, QUEUE_GO, false, 1000 + COURSE_KILL_MS + COURSE_AGAIN_MS, SIGKILL, COURSE_ALL,
         "again");
}

static void test_preempt(void)
{
    const struct queue_job j = { .grace_ms = 500, .signal = SIGUSR2 };
    struct stop_sequence c;

    stop_sequence_begin(&c, &j, 100);
    is_int(c.due_ms, INT64_MAX, "without a limit there is nothing to wait for");
    step(&c, QUEUE_PREEMPT, false, 200, SIGUSR2, COURSE_FIRST, "the checkpoint");
    step(&c, QUEUE_PREEMPT, false, 201, 0, 0, "once");
    step(&c, QUEUE_PREEMPT, false, 700, SIGTERM, COURSE_GROUP, "its grace is over");
    step(&c, QUEUE_CANCEL, false, 701, 0, 0, "it is ending already");
    stop_sequence_begin(&c, &j, 0);
    step(&c, QUEUE_PREEMPT, false, 0, SIGUSR2, COURSE_FIRST, "the checkpoint");
    step(&c, QUEUE_CANCEL, false, 1, SIGTERM, COURSE_GROUP, "cancelled meanwhile");
    is_int(c.stop, QUEUE_CANCEL, "the cancelling is why the job is stopped");
}

static void test_rest(void)
{
    const struct queue_job j = { .grace_ms = 500, .signal = SIGTERM };
    struct stop_sequence c;

    stop_sequence_begin(&c, &j, 0);
    step(&c, QUEUE_GO, true, 10, SIGTERM, COURSE_ALL, "what it left behind");
    is_int(c.stop, QUEUE_GO, "a job that ended by itself is not stopped for a reason");
    step(&c, QUEUE_GO, true, 11, 0, 0, "time to end");
    step(&c, QUEUE_GO, true, 10 + COURSE_REST_MS, SIGKILL, COURSE_ALL, "no more time");
    stop_sequence_begin(&c, &j, 0);
    step(&c, QUEUE_PREEMPT, false, 0, SIGTERM, COURSE_FIRST, "the checkpoint");
    step(&c, QUEUE_PREEMPT, true, 100, SIGTERM, COURSE_ALL, "a shell went, its command stays");
    step(&c, QUEUE_PREEMPT, true, 499, 0, 0, "which has what is left of the grace");
    step(&c, QUEUE_PREEMPT, true, 500, SIGKILL, COURSE_ALL, "and no more");
}

/* ---- words and messages ---- */

static void test_labels(void)
{
    struct err e = { "" };
    int64_t id = 0;
    int32_t task = 0;

    is_int(queue_label_read("12", &id, &task, &e), 0, "queue_label_read reads the label 12");
    ok(id == 12 && task == -1, "the label 12 is a whole job");
    is_int(queue_label_read("12_3", &id, &task, &e), 0, "queue_label_read reads the label 12_3");
    ok(id == 12 && task == 3, "the label 12_3 is one of an array");
    is_int(queue_label_read("12_", &id, &task, &e), -EINVAL,
           "queue_label_read refuses the label 12_");
    is_int(queue_label_read("", &id, &task, &e), -EINVAL,
           "queue_label_read refuses an empty label");
    is_int(queue_label_read("12x", &id, &task, &e), -EINVAL,
           "queue_label_read refuses what follows a number");
    is_int(queue_label_read("12_3_4", &id, &task, &e), -EINVAL,
           "queue_label_read refuses a second number in an array");
    is_int(queue_label_read("twelve", &id, &task, &e), -EINVAL, "queue_label_read refuses a word");
    is_int(queue_signal("SIGUSR1", &e), SIGUSR1, "a signal by its name");
    is_int(queue_signal("15", &e), SIGTERM, "queue_signal takes a signal by its number");
    is_int(queue_signal("KILL", &e), -EINVAL,
           "queue_signal refuses a signal that cannot be caught");
}

static void test_messages(void)
{
    CLEANUP(str_done) struct str m = STR_INIT(1024);
    const char *key, *value;
    size_t at = 0, len;

    wire_add(&m, "verb", "jobs");
    wire_add_int(&m, "n", -5);
    wire_add(&m, "env", "A=B=\xff");
    wire_add(&m, "verb", "last");
    is_str(wire_get(&m, "verb"), "last", "the last one counts");
    is_int(wire_int(&m, "n", 0), -5, "wire_int reads a negative number");
    is_str(wire_get(&m, "env"), "A=B=\xff", "a field may hold any byte");
    ok(!wire_get(&m, "ver") && wire_int(&m, "verb", 7) == 7, "what is not there");
    m.len--; /* broken off */
    while (wire_next(&m, &at, &key, &len, &value))
        ok(len > 0, "a field has a length");
    ok(at < m.len, "a message that is broken off ends before that");
}

int main(void)
{
    test_arrays();
    test_array_ends();
    test_afters();
    test_met();
    test_ends();
    test_attempts();
    test_drop();
    test_words();
    test_priorities();
    test_signals();
    test_limit();
    test_preempt();
    test_rest();
    test_labels();
    test_messages();
    return done();
}
