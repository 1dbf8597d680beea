/* What a scheduler keeps so that a pass in which nothing can change looks at few jobs: whom one
 * that waits could stop, by queues and by priorities, when the next one falls, and places among
 * equals. */
#include "sched/core/falling.h"
#include "sched/core/labels.h"
#include "sched/core/scheduler.h"

#include "made_work.h"
#include "sched/sched.h"
#include "tap.h"

enum { JOBS = 8 };

#define LAS "order = las\nqueues = 10s 100s\npreempt = victims\nleast-run = 1h\n"

struct world {
    struct policy policy;
    struct pool pool;
    struct workload work;
    struct sched *s;
    int64_t again_ms;
};

/* Jobs of so many devices each, all of which are submitted at once. */
static void make(struct world *t, const char *nodes, const char *policy, const int *devices)
{
    struct err e = { "" };
    char text[256];
    int rc;

    *t = (struct world){ .s = NULL };
    snprintf(text, sizeof(text), "[policy]\n%s", policy);
    rc = made_begin(&t->work);
    for (int i = 0; devices[i] && rc == 0; i++) {
        struct work *job = made_job(&t->work, 0, 1000);

        if (!job)
            exit(1);
        job->devices = devices[i];
        job->priority = (int16_t)(i % 3 - 1);
    }
    if (rc == 0)
        rc = policy_read(&t->policy, "test", text, strlen(text), &e);
    if (rc == 0)
        rc = pool_parse(&t->pool, nodes, &e);
    if (rc == 0)
        rc = workload_settle(&t->work, &e);
    if (rc == 0)
        rc = sched_open(&t->s, &t->policy, &t->pool, &t->work, &e);
    if (rc < 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
}

static void drop(struct world *t)
{
    sched_close(t->s);
    workload_done(&t->work);
    pool_done(&t->pool);
}

/* Submit a job and let it start. */
static void start(struct world *t, uint32_t job, int64_t now_ms)
{
    sched_submit(t->s, job, now_ms, 1000000);
    is_int(sched_pass(t->s, now_ms, &t->again_ms), 0, "a pass is made");
    is_int(sched_job(t->s, job)->state, SCHED_RUNNING, "job %d starts", (int)job);
}

static void pass(struct world *t, int64_t now_ms)
{
    is_int(sched_pass(t->s, now_ms, &t->again_ms), 0, "a pass is made");
}

/* Two nodes of 4: job 0 has three devices of one, job 1 two of the other, and they fall in turn. */
static void test_falling(void)
{
    static const int devices[] = { 3, 2, 4, 1, 0 };
    struct world t;

    make(&t, "2x4", LAS, devices);
    ok(t.s->falling.on, "jobs that fall are kept in an order by queues");
    is_int(falling_next_ms(t.s), WORK_UNKNOWN, "nobody falls where nobody runs");
    start(&t, 0, 1000);
    is_int(falling_next_ms(t.s), 1000 + 3334, "a job of three devices falls after a third of 10 s");
    start(&t, 1, 2000);
    is_int(falling_next_ms(t.s), 1000 + 3334, "the next one that falls is the first of all");
    ok(!falling_may_free(t.s, 0, 4, 1), "nobody of the first queue stops for another one of it");
    ok(falling_may_free(t.s, 0, 2, 1), "two devices of a node are free");
    ok(!falling_may_free(t.s, 0, 2, 2), "two devices are not free of each node");
    ok(falling_may_free(t.s, 0, 1, 2), "one device is free of each node");
    ok(falling_may_free(t.s, -1, 4, 2), "a job that goes before all queues may stop all");
    ok(!falling_may_free(t.s, -1, 4, 3), "there are no three nodes");
    sched_submit(t.s, 2, 3000, 1000000);
    pass(&t, 3000);
    is_int(t.again_ms, 1000 + 3334, "a pass is due when a job falls");
    pass(&t, 4334);
    ok(falling_may_free(t.s, 0, 4, 1), "one that has fallen may be stopped for the first queue");
    ok(!falling_may_free(t.s, 0, 4, 2), "the other one may not be");
    ok(!falling_may_free(t.s, 1, 4, 1), "one that has fallen may not be stopped for its own queue");
    is_int(falling_next_ms(t.s), 2000 + 5000, "a job of two devices falls next");
    pass(&t, 7000);
    ok(falling_may_free(t.s, 0, 4, 2), "two that have fallen may be stopped");
    is_int(falling_next_ms(t.s), 1000 + 33334, "the first job falls next, into the last queue");
    sched_end(t.s, 0, 8000);
    ok(falling_may_free(t.s, 2, 4, 1), "a node is free when its job has ended");
    ok(!falling_may_free(t.s, 2, 4, 2), "the other node is not");
    is_int(falling_next_ms(t.s), 2000 + 50000, "one that has ended does not fall");
    drop(&t);
}

/* Whatever runs, the next one that falls is the first: compared with a look at all. */
static void test_heap(void)
{
    int devices[65] = { 0 }, wrong = 0;
    uint64_t chance = 3;
    struct world t;

    for (int i = 0; i < 64; i++)
        devices[i] = 1 + below(&chance, 4);
    make(&t, "64x4", LAS, devices);
    for (int i = 0; i < 64; i++)
        sched_submit(t.s, (uint32_t)i, 0, WORK_UNKNOWN);
    for (int64_t now_ms = 0; now_ms < 60000; now_ms += 700) {
        int64_t first_ms = WORK_UNKNOWN;

        pass(&t, now_ms);
        falling_pass(t.s, now_ms);
        for (uint32_t i = 0; i < 64; i++)
            if (t.s->jobs[i].state == SCHED_RUNNING) {
                int64_t had = now_ms * devices[i], left = had < 10000 ? 10000 - had : 100000 - had;
                int64_t falls_ms = now_ms + (left + devices[i] - 1) / devices[i];

                first_ms = left > 0 ? MIN(first_ms, falls_ms) : first_ms;
            }
        wrong += falling_next_ms(t.s) != first_ms;
        if (now_ms > 5000 && below(&chance, 2))
            sched_end(t.s, (uint32_t)below(&chance, 64), now_ms);
    }
    is_int(wrong, 0, "the next job that falls is that of a look at all");
    drop(&t);
}

static void test_lowest(void)
{
    static const int devices[] = { 1, 1, 1, 1, 1, 1, 0 };
    struct world t;

    /* job 0 has priority -1, job 1 has 0, job 2 has 1, and so on; ranks are -17 a step */
    make(&t, "1x8", "order = fifo\npriorities = yes\npreempt = victims\n", devices);
    ok(!lowest_may_stop(t.s, INT32_MIN), "nobody can be stopped where nobody runs");
    start(&t, 1, 0);
    ok(lowest_may_stop(t.s, -17) && !lowest_may_stop(t.s, 0),
       "one of priority 1 may stop one of priority 0, and one of 0 may not");
    start(&t, 2, 0);
    ok(!lowest_may_stop(t.s, 0), "one of priority 1 that runs beside it changes nothing");
    start(&t, 0, 0);
    ok(lowest_may_stop(t.s, 0) && !lowest_may_stop(t.s, 17),
       "one of priority 0 may stop one of priority -1");
    start(&t, 3, 0);
    sched_end(t.s, 0, 10);
    ok(lowest_may_stop(t.s, 0), "another one of priority -1 runs yet");
    sched_end(t.s, 3, 10);
    ok(!lowest_may_stop(t.s, 0) && lowest_may_stop(t.s, -17), "the lowest is of priority 0 again");
    sched_end(t.s, 1, 10);
    ok(!lowest_may_stop(t.s, -17) && lowest_may_stop(t.s, -34), "the lowest is of priority 1");
    sched_end(t.s, 2, 10);
    start(&t, 4, 20);
    ok(!lowest_may_stop(t.s, 0), "after all have ended the first that runs is the lowest");
    sched_end(t.s, 4, 30);
    start(&t, 5, 40);
    ok(!lowest_may_stop(t.s, -17), "the first that runs is the lowest, though a lower one ended");
    drop(&t);
    make(&t, "1x8", "order = fifo\npreempt = victims\n", devices);
    start(&t, 0, 0);
    ok(!lowest_may_stop(t.s, 0), "where priorities say nothing nobody stops another one");
    drop(&t);
    make(&t, "1x8", "order = deadline\npreempt = victims\n", devices);
    start(&t, 0, 0);
    ok(lowest_may_stop(t.s, 0) && !lowest_may_stop(t.s, 1),
       "one with a deadline may stop others, one without may not");
    drop(&t);
    make(&t, "1x8", LAS, devices);
    start(&t, 0, 0);
    ok(lowest_may_stop(t.s, 1) && !lowest_may_stop(t.s, 2),
       "one of the last queue stops nobody, those before it might");
    drop(&t);
}

/* Labels are numbered anew where too few are left below or above, and keep their order. */
static void test_labels(void)
{
    static const int devices[] = { 2, 2, 2, 2, 0 };
    const uint32_t most = 8 * 5, middle = 1U << 31;
    struct world t;

    make(&t, "1x4", "order = las\nqueues = 10s 100s\npreempt = quota\nties = list\n", devices);
    ok(labels_are_kept(t.s), "places among equals are labels");
    start(&t, 0, 0);
    start(&t, 1, 0);
    sched_submit(t.s, 2, 0, 1000000);
    sched_submit(t.s, 3, 0, 1000000);
    pass(&t, 0);
    t.s->lists = UINT32_MAX - most;
    labels_pass(t.s);
    is_int(t.s->lists, UINT32_MAX - most, "labels are kept where just enough are left above");
    t.s->lists = UINT32_MAX - most + 1;
    labels_pass(t.s);
    is_int(t.s->lists, middle + 2, "labels are numbered anew where too few are left above");
    ok(t.s->jobs[0].list == middle - 1 && t.s->jobs[1].list == middle &&
           t.s->jobs[2].list == middle + 1 && t.s->jobs[3].list == middle + 2,
       "jobs that run have labels before jobs that wait, in their order");
    ok(t.s->waiting.nodes[2].key.tie == middle + 1 && t.s->waiting.nodes[3].key.tie == middle + 2,
       "the keys of those that wait have the new labels");
    is_int(t.s->first_label, middle + 1, "the first label of those that wait is told");
    t.s->first_label = most;
    labels_pass(t.s);
    is_int(t.s->first_label, most, "labels are kept where just enough are left below");
    t.s->first_label = most - 1;
    labels_pass(t.s);
    is_int(t.s->first_label, middle + 1, "labels are numbered anew where too few are left below");
    drop(&t);
    make(&t, "1x4", "order = fifo\npreempt = victims\n", devices);
    t.s->lists = UINT32_MAX;
    labels_pass(t.s);
    is_int(t.s->lists, UINT32_MAX, "where places are no labels nothing is numbered");
    drop(&t);
}

int main(void)
{
    test_falling();
    test_heap();
    test_lowest();
    test_labels();
    return done();
}
