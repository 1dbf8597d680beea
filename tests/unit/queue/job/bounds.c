/* Jobs of a queue at their bounds: the shortest and longest numbers that are read, the first slot
 * and task, what an end leaves, and what is seen of jobs that share or idle, just so much or one
 * more. */
#include <errno.h>
#include <math.h>

#include "queue/job/idle_history.h"
#include "queue/job/sharing.h"
#include "tap.h"

enum { KEPT = 3600000 };

static int note_task(void *arg, int32_t task)
{
    *(int64_t *)arg = *(int64_t *)arg * 10 + task + 1;
    return 0;
}

static void test_arrays(void)
{
    static const char *const bad[] = { "0-", "0-,1", "0-4:", "0:1", "0%", "0%0", "1,", "" };
    int32_t width = 7;
    int64_t tasks = 0;
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(queue_array(bad[i], &width, note_task, &tasks, &e), -EINVAL, "'%s' is no array",
               bad[i]);
    is_int(queue_array("0-9:0", &width, note_task, &tasks, &e), -EINVAL, "a step of 0 is none");
    is_str(e.text,
           "--array 0-9:0: numbers and ranges from 0 on, each above the one before, such as 0-9, "
           "1,3,5-7, 0-90:10 or 0-99%4",
           "a step of 0 is told by how an array is written");
    tasks = 0;
    is_int(queue_array("0", &width, note_task, &tasks, &e), 0, "task 0 alone is an array");
    ok(tasks == 1 && width == 0, "an array without a width runs all at a time");
    tasks = 0;
    is_int(queue_array("0-4:2,6%1", &width, note_task, &tasks, &e), 0, "an array has steps");
    ok(tasks == 1357 && width == 1, "an array has its tasks in order, and its width");
}

static void test_numbers(void)
{
    CLEANUP(str_done) struct str label = STR_INIT(64);
    const char *slots = "999999999,0", *after = "afterok:12";
    enum queue_after_kind kind = AFTER_NONE;
    struct queue_job j = { .id = 12, .array = 12, .task = 0 };
    int64_t id;
    struct err e;

    is_int(queue_slots_next(&slots), 999999999, "a slot has up to nine digits");
    is_int(queue_slots_next(&slots), 0, "slot 0 may stand last");
    is_int(queue_slots_next(&slots), -1, "a list of slots has an end");
    is_int(queue_slots_count("0,1,2"), 3, "slot 0 counts");
    is_int(queue_slots_count("0"), 1, "slot 0 alone counts");
    queue_job_label(&j, &label);
    is_str(str_text(&label), "12_0", "the first task of an array has its number in its label");
    is_int(queue_after_next(&after, &kind, &id, &e), 1, "one dependency is read at a time");
    is_int(queue_after_next(&after, &kind, &id, &e), 0, "dependencies have an end");
}

static void test_stretches(void)
{
    static const struct {
        bool requeue;
        int least, devices;
        bool stretches;
    } cases[] = {
        { true, 1, 2, true },  { false, 1, 2, false }, { true, 0, 2, false },
        { true, 2, 2, false }, { true, 0, 0, false },  { false, 0, 2, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct queue_job j = { .requeue = cases[i].requeue,
                                     .least = cases[i].least,
                                     .devices = cases[i].devices };

        is_int(queue_job_stretches(&j), cases[i].stretches, "job %zu can go on with fewer or not",
               i);
    }
}

static struct queue_job running(void)
{
    struct queue_job j = { .state = QUEUE_RUNNING, .devices = 2, .attempt = 1, .since_ms = 1000 };

    return j;
}

static void test_ends(void)
{
    const struct queue_end end = { .end_ms = 4000 };
    const struct queue_end again = { .end_ms = 4000, .status = QUEUE_REQUEUED << 8 };
    struct queue_job j = running();

    queue_job_end(&j, &end);
    ok(j.ran_ms == 3000 && j.device_ms == 6000, "a job whose devices nobody noted had all of them");
    j = running();
    snprintf(j.slots, sizeof(j.slots), "0");
    queue_job_end(&j, &end);
    is_int(j.device_ms, 3000, "a job had as many devices as were noted");
    j = running();
    j.parked_ms = 1500;
    queue_job_end(&j, &end);
    ok(j.ran_ms == 3000 && j.device_ms == 1000, "a job had no devices while it was parked");
    j = running();
    j.host = 9;
    j.requeue = true;
    snprintf(j.next, sizeof(j.next), "3");
    queue_job_end(&j, &again);
    ok(j.state == QUEUE_WAITING && j.host == 9 && j.end_ms == 0,
       "a job that goes on keeps the host that it goes on with");
    j = running();
    j.host = 9;
    j.requeue = true;
    queue_job_end(&j, &again);
    ok(j.state == QUEUE_WAITING && j.host == 0, "a job that waits in its turn has no host");
    j = running();
    j.host = 9;
    snprintf(j.next, sizeof(j.next), "3");
    queue_job_end(&j, &end);
    ok(j.state == QUEUE_ENDED && j.host == 0 && !*j.next,
       "a job that has ended goes on with nothing");
    j = running();
    snprintf(j.next, sizeof(j.next), "3,4");
    queue_job_drop(&j, QUEUE_NEVER, 5000, "why");
    ok(!*j.next && j.end_ms == 5000 && j.since_ms == 5000,
       "a job that is dropped goes on with nothing");
}

/* Half of what is an hour old counts. */
static void test_old(void)
{
    struct queue_job j = { .worked_ms = KEPT, .worked = KEPT, .use_ms = 1000 };

    sharing_note_use(&j, 1100, 500, -1);
    ok(j.worked_ms == KEPT + 100 && j.worked == KEPT + 50000, "all of an hour counts");
    j = (struct queue_job){ .worked_ms = KEPT + 2, .worked = KEPT + 2, .use_ms = 1000 };
    sharing_note_use(&j, 1100, 500, -1);
    ok(j.worked_ms == KEPT / 2 + 1 + 100 && j.worked == KEPT / 2 + 1 + 50000,
       "half of what is more than an hour counts");
    j = (struct queue_job){ .use_ms = 0 };
    sharing_note_use(&j, 1100, 500, -1);
    is_int(j.worked_ms, 0, "before the first look nothing was seen");
    j.use_ms = 1000;
    sharing_note_use(&j, 1100, 10, -1);
    is_int(j.worked_ms, 0, "a job that is busy for one per cent does not work");
    sharing_note_use(&j, 1200, 11, -1);
    is_int(j.worked_ms, 100, "a job that is busier works");
}

static void test_memory(void)
{
    struct queue_job j = { .memory_milli = 300, .kept_ms = 77 };

    sharing_note_use(&j, 1000, -1, 310);
    ok(j.memory_milli == 310 && j.kept_ms == 77, "a hundredth more memory is not stored at once");
    sharing_note_use(&j, 1000, -1, 321);
    ok(j.memory_milli == 321 && j.kept_ms == 0, "more than a hundredth is stored soon");
    sharing_note_use(&j, 1000, -1, 320);
    is_int(j.memory_milli, 321, "the most memory that was seen counts");
}

static void test_steps(void)
{
    struct queue_job j = { .steps = -1, .works = true };

    sharing_note_steps(&j, 1000, -0.5, 100, SHARING_ALONE);
    ok(j.steps < 0, "a number of steps below 0 is not known");
    sharing_note_steps(&j, 1000, 0, 100, SHARING_ALONE);
    ok(j.steps == 0 && j.alone == 0, "a job without a step so far was looked at");
    sharing_note_steps(&j, 1200, 0, 100, SHARING_ALONE);
    ok(j.works, "two looks without a step are no pause");
    sharing_note_steps(&j, 1201, 0, 100, SHARING_ALONE);
    ok(!j.works, "more than two looks without a step are a pause");
    j.steps_ms = 1300;
    sharing_note_steps(&j, 1400, 1, 100, SHARING_ALONE);
    ok(j.works && j.alone == 1 && j.alone_ms == 100, "the first step counts");
    sharing_note_steps(&j, 1500, 2, 100, SHARING_BESIDE);
    ok(j.beside == 1 && j.beside_ms == 100, "a single step beside another job counts");
    sharing_note_steps(&j, 1600, 3, 100, SHARING_NEITHER);
    ok(j.alone == 1 && j.beside == 1, "a step of neither time does not count");
}

static void test_waits(void)
{
    struct queue_job j = { .late_ms = 0 };

    sharing_note_waits(&j, 0, 0, SHARING_BESIDE);
    is_int(j.late_ms, 0, "the first look tells of no waiting");
    sharing_note_waits(&j, 5, 0, SHARING_BESIDE);
    is_int(j.late_ms, 5, "waiting that the other job does not explain is late");
    sharing_note_waits(&j, 12, 3, SHARING_BESIDE);
    is_int(j.late_ms, 9, "waiting is late but for the time of the other job");
    sharing_note_waits(&j, 13, 30, SHARING_BESIDE);
    is_int(j.late_ms, 9, "waiting that the other job explains is not late");
    sharing_note_waits(&j, 20, 30, SHARING_ALONE);
    sharing_note_waits(&j, 120, 30, SHARING_BESIDE);
    is_int(j.late_ms, 9, "waiting alone begins the count anew");
    sharing_note_waits(&j, -1, 30, SHARING_BESIDE);
    sharing_note_waits(&j, 220, 30, SHARING_BESIDE);
    is_int(j.late_ms, 9, "waiting that was not known begins the count anew");
}

static void test_cost(void)
{
    struct queue_job j = { .alone = 1000, .alone_ms = 1000, .beside = 1, .beside_ms = 2000000 };
    int milli = -1;

    is_int(sharing_cost(&j, 2000000, &milli), 1, "a cost is told when it was seen for long enough");
    is_int(milli, 1000000, "a cost of more than a thousand times is told as that");
    is_int(j.beside_ms, 0, "the count of a cost begins anew");
    j = (struct queue_job){ .alone = 10, .alone_ms = 1000, .beside = 10, .beside_ms = 1500 };
    is_int(sharing_cost(&j, 1501, &milli), 0, "a cost is not told before that");
    j.late_ms = 300;
    is_int(sharing_cost(&j, 1500, &milli), 1, "a cost is told at just that time");
    is_int(milli, 200, "steps of 120 ms for 100 ms cost a fifth");
    j = (struct queue_job){ .alone = 10, .alone_ms = 0, .beside = 10, .beside_ms = 1500 };
    is_int(sharing_cost(&j, 1500, &milli), 0, "beside steps that take no time there is no cost");
}

static void test_history(void)
{
    struct queue_job j = { .since_ms = 50, .kept_ms = 9, .told_ms = 8, .ticks = 7 };
    struct bursts u;

    idle_history_begin(&j);
    ok(j.told_ms == 0 && j.ticks == 0 && j.kept_ms == 50 && j.milli == -1,
       "a job that begins was told nothing, and nobody looked");
    ok(!idle_history_due(&j), "what is stored with the start is not to be stored again");
    j.kept_ms = 0;
    ok(idle_history_due(&j), "what was never stored is to be stored while a job is busy");
    snprintf(j.used, sizeof(j.used), "100000000000000000-200000000000000000 300000000000000000-");
    idle_history_read(&j, &u);
    ok(u.n == 2 && u.busy && u.at[0].to_ms == INT64_C(200000000000000000),
       "times have up to 18 digits");
    snprintf(j.used, sizeof(j.used), "1-1000000000000000000");
    idle_history_read(&j, &u);
    ok(u.n == 1 && u.busy && u.at[0].from_ms == 50, "a time of 19 digits cannot be read");
}

int main(void)
{
    test_arrays();
    test_numbers();
    test_stretches();
    test_ends();
    test_old();
    test_memory();
    test_steps();
    test_waits();
    test_cost();
    test_history();
    return done();
}
