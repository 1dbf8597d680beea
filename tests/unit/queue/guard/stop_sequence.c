/* How a job that runs is brought to its end: each step at its time, and none before it. */
#include "queue/guard/stop_sequence.h"

#include <signal.h>
#include <stdio.h>

#include "tap.h"

enum { BEGIN = 1000, LIMIT = 60000, WARN = 20000, GRACE = 30000 };

static const struct queue_job usual = {
    .limit_ms = LIMIT, .warn_ms = WARN, .grace_ms = GRACE, .signal = SIGUSR1
};

static struct stop_sequence begin(const struct queue_job *j)
{
    struct stop_sequence c;

    stop_sequence_begin(&c, j, BEGIN);
    return c;
}

/* All that is to be sent at a time, and when to ask again: "15 to group, then at 70000". */
static const char *steps(struct stop_sequence *c, enum queue_stop wanted, bool gone, int64_t now_ms)
{
    static const char *const whom[] = { "the first", "its group", "all" };
    static char text[128];
    struct stop_step step;
    size_t len = 0;

    text[0] = 0;
    while (stop_sequence_next(c, wanted, gone, now_ms, &step) && len < sizeof(text))
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%d to %s, ", step.signal,
                                whom[step.whom]);
    if (len < sizeof(text) && c->due_ms == INT64_MAX)
        snprintf(text + len, sizeof(text) - len, "then never");
    else if (len < sizeof(text))
        snprintf(text + len, sizeof(text) - len, "then at %lld", (long long)c->due_ms);
    return text;
}

static void test_limit(void)
{
    struct stop_sequence c = begin(&usual);

    is_int(c.due_ms, BEGIN + LIMIT - WARN, "a job is looked at when it is to be warned");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT - WARN - 1), "then at 41000",
           "a job is not warned before its time");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT - WARN), "10 to the first, then at 61000",
           "a job is warned before its limit by its own signal");
    is_int(c.stop, QUEUE_GO, "a job that is warned is not being ended");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT - 1), "then at 61000",
           "a job is not ended before its limit");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT), "15 to its group, then at 71000",
           "a job at its limit is asked to end");
    is_int(c.stop, QUEUE_LIMIT, "a job at its limit is ended for that");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT + COURSE_KILL_MS - 1), "then at 71000",
           "a job has 10 seconds to end");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT + COURSE_KILL_MS), "9 to all, then at 71500",
           "a job that does not end is killed");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT + COURSE_KILL_MS + COURSE_AGAIN_MS),
           "9 to all, then at 72000", "a job that is still there is killed again");
}

static void test_times(void)
{
    struct queue_job j = usual;
    struct stop_sequence c;

    j.limit_ms = 0;
    c = begin(&j);
    is_str(steps(&c, QUEUE_GO, false, INT64_MAX / 2), "then never",
           "a job without a limit is never ended, nor warned");
    j.limit_ms = 1;
    c = begin(&j);
    is_int(c.due_ms, BEGIN, "a job is warned at once where its limit is shorter than that");
    j.limit_ms = LIMIT;
    j.warn_ms = 0;
    c = begin(&j);
    is_int(c.due_ms, BEGIN + LIMIT, "a job that is not to be warned is looked at at its limit");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT - 1), "then at 61000",
           "a job that is not to be warned is not");
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT), "15 to its group, then at 71000",
           "a job that was not warned is ended at its limit");
    j.warn_ms = 1;
    c = begin(&j);
    is_str(steps(&c, QUEUE_GO, false, BEGIN + LIMIT - 1), "10 to the first, then at 61000",
           "a job may be warned a millisecond before its limit");
    is_int(COURSE_KILL_MS, 10000, "a job has 10 seconds from SIGTERM to SIGKILL");
    is_int(COURSE_REST_MS, 5000, "what a job leaves behind has 5 seconds");
    is_int(COURSE_AGAIN_MS, 500, "SIGKILL is sent again after half a second");
}

static void test_preempted(void)
{
    struct queue_job j = usual;
    struct stop_sequence c = begin(&usual);

    is_str(steps(&c, QUEUE_PREEMPT, false, 5000), "10 to the first, then at 35000",
           "a job that is to give way is asked for a checkpoint");
    is_int(c.stop, QUEUE_PREEMPT, "a job that gives way is ended for that");
    is_str(steps(&c, QUEUE_PREEMPT, false, 34999), "then at 35000",
           "a job has its grace to write a checkpoint");
    is_str(steps(&c, QUEUE_PREEMPT, false, 35000), "15 to its group, then at 45000",
           "a job whose grace is over is asked to end");
    is_int(c.stop, QUEUE_PREEMPT, "a job whose grace is over still gives way");
    is_str(steps(&c, QUEUE_PREEMPT, false, 45000), "9 to all, then at 45500",
           "a job that does not give way is killed");
    j.grace_ms = 0;
    c = begin(&j);
    is_str(steps(&c, QUEUE_PREEMPT, false, 5000), "15 to its group, then at 15000",
           "a job without a grace is asked to end at once");
    is_int(c.stop, QUEUE_PREEMPT, "a job without a grace gives way");
    j.grace_ms = 1;
    c = begin(&j);
    is_str(steps(&c, QUEUE_PREEMPT, false, 5000), "10 to the first, then at 5001",
           "a grace of a millisecond is one");
    c = begin(&usual);
    (void)steps(&c, QUEUE_GO, false, BEGIN + LIMIT - WARN);
    is_str(steps(&c, QUEUE_PREEMPT, false, 45000), "10 to the first, then at 75000",
           "a job that was warned may be asked to give way");
}

static void test_cancelled(void)
{
    struct stop_sequence c = begin(&usual);

    is_str(steps(&c, QUEUE_CANCEL, false, 5000), "15 to its group, then at 15000",
           "a job that is cancelled is asked to end");
    is_int(c.stop, QUEUE_CANCEL, "a job that is cancelled is ended for that");
    is_str(steps(&c, QUEUE_CANCEL, false, 14999), "then at 15000",
           "a job that is cancelled is asked once");
    c = begin(&usual);
    (void)steps(&c, QUEUE_PREEMPT, false, 5000);
    is_str(steps(&c, QUEUE_CANCEL, false, 6000), "15 to its group, then at 16000",
           "a job may be cancelled during its grace");
    is_int(c.stop, QUEUE_CANCEL, "a job that is cancelled during its grace is cancelled");
    c = begin(&usual);
    (void)steps(&c, QUEUE_GO, false, BEGIN + LIMIT);
    is_str(steps(&c, QUEUE_CANCEL, false, 62000), "then at 71000",
           "a job that is ended at its limit is asked no sooner");
    is_int(c.stop, QUEUE_LIMIT, "a job that is ended at its limit stays so");
}

/* Its first process has gone, others have not. */
static void test_left_behind(void)
{
    struct stop_sequence c = begin(&usual);

    is_str(steps(&c, QUEUE_GO, true, 5000), "15 to all, then at 10000",
           "what a job leaves behind is asked to end");
    is_int(c.stop, QUEUE_GO, "a job that ended by itself was not ended");
    is_str(steps(&c, QUEUE_GO, true, 9999), "then at 10000", "what is left behind is asked once");
    is_str(steps(&c, QUEUE_GO, true, 10000), "9 to all, then at 10500",
           "what is left behind and does not end is killed");
    c = begin(&usual);
    (void)steps(&c, QUEUE_PREEMPT, false, 5000);
    is_str(steps(&c, QUEUE_PREEMPT, true, 6000), "15 to all, then at 35000",
           "what is left behind during the grace has the rest of it");
    is_str(steps(&c, QUEUE_PREEMPT, true, 35000), "9 to all, then at 35500",
           "what is left behind is killed when the grace is over");
    is_int(c.stop, QUEUE_PREEMPT, "a job that left something behind gave way");
    c = begin(&usual);
    (void)steps(&c, QUEUE_CANCEL, false, 5000);
    is_str(steps(&c, QUEUE_CANCEL, true, 6000), "15 to all, then at 15000",
           "what a cancelled job leaves behind has the rest of its time");
    c = begin(&usual);
    (void)steps(&c, QUEUE_CANCEL, false, 5000);
    (void)steps(&c, QUEUE_CANCEL, false, 15000);
    is_str(steps(&c, QUEUE_CANCEL, true, 15001), "then at 15500",
           "what is being killed is asked no more");
}

int main(void)
{
    test_limit();
    test_times();
    test_preempted();
    test_cancelled();
    test_left_behind();
    return done();
}
