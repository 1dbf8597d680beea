/* What is seen of a job that may share devices: its steps alone and beside another one, pauses, how
 * busy it is, and from what cost on it is too much. */
#include "queue/job/sharing.h"

#include <math.h>

#include "model/job/job_spec.h"
#include "tap.h"

enum { LOOK = 10000, AFTER = 60000 };

static struct queue_job runs(void)
{
    struct queue_job j = { .state = QUEUE_RUNNING, .share = true };

    sharing_begin(&j);
    return j;
}

/* Looks from a time on, with so many more steps at each; when the last one was. */
static int64_t look(struct queue_job *j, int64_t from_ms, int looks, int more,
                    enum sharing_time time)
{
    for (int i = 0; i < looks; i++) {
        from_ms += LOOK;
        sharing_note_steps(j, from_ms, MAX(j->steps, 0) + more, LOOK, time);
    }
    return from_ms;
}

static void test_cost(void)
{
    static const struct {
        int steps, milli;
    } cases[] = { { 100, 0 }, { 90, 111 }, { 50, 1000 }, { 200, -500 } };
    int milli = 0;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct queue_job j = runs();
        int64_t now_ms = look(&j, 0, 7, 100, SHARING_ALONE);

        is_int(j.alone_ms, 60000, "time alone counts from the first look on");
        is_int(j.alone, 600, "steps alone count from the first look on");
        now_ms = look(&j, now_ms, 5, cases[i].steps, SHARING_BESIDE);
        is_int(sharing_cost(&j, AFTER, &milli), 0, "a cost is not known before its time");
        look(&j, now_ms, 1, cases[i].steps, SHARING_BESIDE);
        is_int(sharing_cost(&j, AFTER, &milli), 1, "a cost is known after its time");
        is_int(milli, cases[i].milli, "%d steps in the time of 100 cost so much", cases[i].steps);
        is_int(sharing_cost(&j, AFTER, &milli), 0, "the count of a cost begins anew");
    }
}

/* Steps that take as long as it takes to tell a cost: one is enough on either side. */
static void test_long_steps(void)
{
    struct queue_job j = runs();
    int milli = -1;

    j.alone = 1, j.alone_ms = AFTER;
    j.beside = 1, j.beside_ms = 2 * AFTER;
    is_int(sharing_cost(&j, AFTER, &milli), 1, "one step alone and one beside tell a cost");
    is_int(milli, 1000, "a step that takes twice as long beside another job costs as much again");
    j.beside_ms = AFTER;
    is_int(sharing_cost(&j, AFTER, &milli), 0, "no step beside another job tells no cost");
    j.beside = 1, j.alone = 0;
    is_int(sharing_cost(&j, AFTER, &milli), 0, "no step alone tells no cost");
}

/* What a job does when it starts again says nothing of the time before: what it did beside another
 * one, and when it was looked at. What it does alone is known still, unless its pace may differ. */
static void test_begins_again(void)
{
    struct queue_job j = runs();
    int64_t now_ms = look(&j, 0, 7, 100, SHARING_ALONE);
    int milli;

    (void)look(&j, now_ms, 6, 50, SHARING_BESIDE);
    sharing_note_use(&j, now_ms, 300, 100);
    sharing_begin(&j);
    is_int(sharing_cost(&j, 1, &milli), 0,
           "a job that starts again did nothing beside another one");
    is_int(j.beside_ms, 0, "a job that starts again spent no time beside another one");
    is_int(j.alone, 600, "what a job did alone is known when it starts again");
    sharing_note_use(&j, now_ms + 3600000, 300, 100);
    is_int(j.worked_ms, 0, "the time between two starts of a job is no time at work");
    j.requeue = true;
    j.least = 1;
    j.devices = 2;
    sharing_begin(&j);
    is_int(j.alone, 0, "what a job did alone is not known where its devices may differ");
}

/* Half of the time beside another job its processes wait for CPUs. */
static void test_waits(void)
{
    static const struct {
        int64_t waited, other; /* a look */
        int milli;
        const char *what;
    } cases[] = {
        { 5000, 0, 0, "waiting for CPUs that others have is no cost of sharing" },
        { 5000, 5000, 1000, "waiting for CPUs that the other job has is a cost" },
        { 5000, 2500, 500, "what the other job does not explain is no cost" },
        { 0, 0, 1000, "steps that are late though CPUs are free are a cost" },
        { 20000, 0, -1000, "no more than all of the time was waited" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct queue_job j = runs();
        int64_t now_ms = look(&j, 0, 7, 100, SHARING_ALONE), waited = 777, other = 99;
        int milli = 0;

        sharing_note_waits(&j, waited, other, SHARING_BESIDE);
        for (int k = 0; k < 6; k++) {
            sharing_note_waits(&j, waited += cases[i].waited, other += cases[i].other,
                               SHARING_BESIDE);
            now_ms = look(&j, now_ms, 1, 50, SHARING_BESIDE);
        }
        is_int(sharing_cost(&j, AFTER, &milli), 1, "a cost is known beside waiting, too");
        is_int(milli, cases[i].milli, "a cost is told by the rule: %s", cases[i].what);
        is_int(j.late_ms, 0, "the count of waiting begins anew");
    }
}

/* Figures of other processes, or of a time that does not count, are no waiting. */
static void test_waits_that_do_not_count(void)
{
    struct queue_job j = runs();

    sharing_note_waits(&j, 1000, 0, SHARING_ALONE);
    sharing_note_waits(&j, 9000, 0, SHARING_BESIDE);
    is_int(j.late_ms, 0, "what was waited alone is not counted beside another job");
    sharing_note_waits(&j, 9500, 0, SHARING_NEITHER);
    sharing_note_waits(&j, 9900, 0, SHARING_BESIDE);
    is_int(j.late_ms, 0, "what was waited beside a job that does nothing is not counted");
    sharing_note_waits(&j, -1, 0, SHARING_BESIDE);
    sharing_note_waits(&j, 12000, 0, SHARING_BESIDE);
    is_int(j.late_ms, 0, "what follows a look that told nothing is not counted");
    sharing_note_waits(&j, 100, 0, SHARING_BESIDE);
    is_int(j.late_ms, 0, "a process that began anew has waited for nothing");
    sharing_note_waits(&j, 300, -1, SHARING_BESIDE);
    sharing_note_waits(&j, 500, 50, SHARING_BESIDE);
    is_int(j.late_ms, 0, "beside a job of which nothing is told waiting does not count");
    sharing_note_waits(&j, 700, 100, SHARING_BESIDE);
    is_int(j.late_ms, 150, "what is waited beside it counts without what the other one ran");
}

static void test_neither(void)
{
    struct queue_job j = runs();

    look(&j, 0, 20, 100, SHARING_NEITHER);
    ok(j.alone_ms == 0 && j.beside_ms == 0, "time beside one that does nothing counts as neither");
    ok(j.works, "a job whose steps go on works");
}

/* Alone a step takes 100 ms: a pause is more than two looks and 20 steps. */
static void test_pauses(void)
{
    struct queue_job j = runs();
    int64_t now_ms = look(&j, 0, 2, 100, SHARING_ALONE), pause_ms = 2 * LOOK + 20 * 100;
    double steps = j.steps;

    sharing_note_steps(&j, now_ms + pause_ms, steps, LOOK, SHARING_ALONE);
    ok(j.works, "a job works that ended no step for two looks and 20 steps");
    sharing_note_steps(&j, now_ms + pause_ms + 1, steps, LOOK, SHARING_ALONE);
    ok(!j.works, "a job makes a pause that ended no step for longer than that");
    sharing_note_steps(&j, now_ms + 2 * pause_ms, steps + 1, LOOK, SHARING_ALONE);
    ok(j.works, "a job works again when a step ends");
    is_int(j.alone_ms, LOOK, "a pause is no time alone");
    now_ms += 2 * pause_ms;
    sharing_note_steps(&j, now_ms + LOOK, (double)NAN, LOOK, SHARING_ALONE);
    ok(j.works && j.steps == steps + 1, "a look at which nobody told steps changes nothing");
    sharing_note_steps(&j, now_ms + LOOK, 3, LOOK, SHARING_ALONE);
    ok(j.steps == 3 && j.alone_ms == LOOK, "steps that begin anew add no time");
}

static void test_use(void)
{
    struct queue_job j = runs();

    sharing_note_use(&j, 10000, 900, 100);
    is_int(sharing_usual(&j), 0, "how busy a job is nobody knows at the first look");
    sharing_note_use(&j, 20000, 400, 300);
    sharing_note_use(&j, 30000, 200, 250);
    sharing_note_use(&j, 90000, WORK_IDLE, -1);
    is_int(sharing_usual(&j), 300, "how busy a job is is the mean of its time at work");
    is_int(j.worked_ms, 20000, "idle time is no time at work");
    is_int(j.memory_milli, 300, "the memory of a job is the most that was seen");
}

static void test_known(void)
{
    struct queue_job j = runs();

    j.alone = 100;
    j.alone_ms = AFTER;
    j.worked_ms = AFTER - 1;
    ok(!sharing_is_known(&j, AFTER), "a job that was seen at work for less is not known");
    j.worked_ms = AFTER;
    ok(sharing_is_known(&j, AFTER), "a job that was seen at work for long enough is known");
    j.alone_ms--;
    ok(!sharing_is_known(&j, AFTER), "a job whose steps were seen for less is not known");
    j.alone_ms++;
    sharing_begin(&j);
    ok(sharing_is_known(&j, AFTER) && j.steps < 0, "the next attempt of a job is known");
    j.requeue = true;
    j.devices = 2;
    j.least = 1;
    sharing_begin(&j);
    ok(!sharing_is_known(&j, AFTER),
       "the next attempt of a job that may have fewer devices is not known");
}

/* An hour counts, and what was before less and less. */
static void test_forgets(void)
{
    struct queue_job j = runs();
    int64_t now_ms = look(&j, 0, 401, 100, SHARING_ALONE);

    look(&j, now_ms, 800, 50, SHARING_ALONE);
    ok(j.alone_ms < 7200000, "no more than two hours are kept");
    ok((double)j.alone_ms / (double)j.alone > 180, "a job that became slower is known as slower");
}

int main(void)
{
    test_cost();
    test_long_steps();
    test_begins_again();
    test_waits();
    test_waits_that_do_not_count();
    test_neither();
    test_pauses();
    test_use();
    test_known();
    test_forgets();
    return done();
}
