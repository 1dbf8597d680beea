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
    { "0-3", "0 1 2 3 ", 0 }, { "7", "7 ", 0 },           { "1,3,5-7", "1 3 5 6 7 ", 0 },
    { "0-9:4", "0 4 8 ", 0 }, { "0-3%2", "0 1 2 3 ", 2 }, { "", NULL, 0 },
    { "3-1", NULL, 0 },       { "1,1", NULL, 0 },         { "2,1", NULL, 0 },
    { "1-", NULL, 0 },        { "0-3%", NULL, 0 },        { "0-3%0", NULL, 0 },
    { "0-3%2x", NULL, 0 },    { "0-3x", NULL, 0 },        { "-1", NULL, 0 },
    { "0-9:0", NULL, 0 },     { "0-10000", NULL, 0 },     { "0,", NULL, 0 },
};

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
    { "sometime:1", NULL },
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
    { AFTER_NOT_OK, { 2, 1, 1, 0 }, 0 },
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
    const char *word;
} ends[] = {
    { "exit 0", false, 0, 0, 0, false, false, "done" },
    { "exit 3", false, 0, 0, 3 << 8, false, false, "failed" },
    { "a signal", false, 0, 0, SIGSEGV, false, false, "failed" },
    { "75 without requeue", false, 0, 0, 75 << 8, false, false, "failed" },
    { "75 with it", true, 0, 0, 75 << 8, false, false, "waiting" },
    { "a preemption", true, QUEUE_PREEMPT, QUEUE_PREEMPT, SIGTERM, false, false, "waiting" },
    { "exit 0 in a preemption", true, QUEUE_PREEMPT, QUEUE_PREEMPT, 0, false, false, "done" },
    { "an end before the preemption came", true, QUEUE_PREEMPT, 0, 1 << 8, false, false, "failed" },
    { "a cancellation", true, QUEUE_CANCEL, QUEUE_CANCEL, SIGTERM, false, false, "cancelled" },
    { "exit 0 in a cancellation", false, QUEUE_CANCEL, QUEUE_CANCEL, 0, false, false, "done" },
    { "the limit", false, 0, QUEUE_LIMIT, SIGTERM, false, false, "timeout" },
    { "75 at the limit", true, 0, QUEUE_LIMIT, 75 << 8, false, false, "waiting" },
    { "an end that nobody saw", false, 0, 0, 0, true, false, "lost" },
    { "the same with requeue", true, 0, 0, 0, true, false, "waiting" },
    { "the same, cancelled", true, QUEUE_CANCEL, 0, 0, true, false, "lost" },
    { "no such command", true, 0, 0, 127 << 8, false, true, "failed" },
    { "a guard that was killed before", false, 0, 0, 75 << 8, false, true, "waiting" },
    { "the same, cancelled", false, QUEUE_CANCEL, 0, 75 << 8, false, true, "cancelled" },
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
        ok(!*j.slots && *j.reason, "a job that ended has no devices and a reason");
        is_int(j.ran_ms, ends[i].unstarted ? 0 : 2000,
               "a job that started has run for two seconds");
        ok(j.state == QUEUE_ENDED || (j.stop == QUEUE_GO && j.end_ms == 0),
           "a job that is not over may start again");
    }
}

static void test_attempts(void)
{
    struct queue_job j = { .state = QUEUE_RUNNING, .attempt = QUEUE_ATTEMPTS, .requeue = true };
    const struct queue_end end = { .status = 75 << 8 };

    queue_job_end(&j, &end);
    is_str(queue_job_word(&j), "failed", "a job is not queued again for ever");
}

/* ---- how one is stopped ---- */

static void step(struct stop_sequence *c, enum queue_stop wanted, bool gone, int64_t now_ms,
                 int signal, enum stop_whom whom, const char *what)
{
    struct stop_step s = stop_sequence_next(c, wanted, gone, now_ms);

    ok(s.signal == signal && (!signal || s.whom == whom),
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
    test_afters();
    test_met();
    test_ends();
    test_attempts();
    test_limit();
    test_preempt();
    test_rest();
    test_labels();
    test_messages();
    return done();
}
