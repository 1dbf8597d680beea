/* What stops cost: cases made by hand. One device, a restart of 100 s; a long job is stopped by
 * short ones of a higher priority, once while it works and once while it starts again. */
#include "made_work.h"
#include "sim/sim.h"
#include "tap.h"

enum { LENGTH = 1000, RESTART = 100 };

static const char by_priority[] =
    "[policy]\norder = fifo\npriorities = yes\npreempt = victims\nrestart = 100s\n";

/* What is known of the long job when it waits again. */
struct seen {
    int64_t left_ms;
    int stops;
};

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct seen *x = ctx;

    (void)now_ms;
    if (a->kind != ACTION_PREEMPT || a->job != 0)
        return;
    x->left_ms = sched_job(s, 0)->left_ms;
    x->stops++;
}

/* The long job comes first; others of 10 s at these times. */
static int make(struct workload *w, const int *at, int n)
{
    struct work *job;

    if (made_begin(w) != 0 || !(job = made_job(w, 0, LENGTH)))
        return -1;
    job->devices = 1;
    for (int i = 0; i < n; i++) {
        job = made_job(w, at[i], 10);
        if (!job)
            return -1;
        job->devices = 1;
        job->priority = 1;
    }
    return 0;
}

/* When the long job ends, in seconds; -1: it could not be simulated. */
static int64_t end_of_long(struct workload *w, const char *text, struct seen *x)
{
    struct pool pool = { .n_nodes = 0 };
    struct policy p;
    struct sim_result r = { .events = 0 };
    const struct sim_options o = { .watch = watch, .ctx = x };
    int64_t end_s = -1;

    *x = (struct seen){ .stops = 0 };
    if (workload_settle(w, NULL) == 0 && pool_parse(&pool, "1x1", NULL) == 0 &&
        policy_read(&p, "test", text, strlen(text), NULL) == 0 &&
        sim_run(&r, &p, &pool, w, &o, NULL) == 0)
        end_s = r.jobs[0].end_ms / 1000;
    sim_result_done(&r);
    pool_done(&pool);
    return end_s;
}

static int64_t end_with(const char *text, const int *at, int n, struct seen *x)
{
    struct workload w;
    int64_t end_s = make(&w, at, n) < 0 ? -1 : end_of_long(&w, text, x);

    workload_done(&w);
    return end_s;
}

static void test_lengths(void)
{
    const int working[] = { 200, 400 }, starting[] = { 200, 250 };
    struct seen x;

    is_int(end_with(by_priority, working, 1, &x), 1000 + 10 + RESTART,
           "a job that is stopped once pays one restart");
    is_int(end_with(by_priority, working, 2, &x), 1000 + 2 * (10 + RESTART),
           "a job that is stopped twice while it works pays two restarts");
    /* It starts again at 210 s, and stops at 250 s: 40 s of that start were in vain. */
    is_int(end_with(by_priority, starting, 2, &x), 1000 + 2 * 10 + 40 + RESTART,
           "a job that is stopped during its restart pays what it did of it, and one restart");
}

/* The same where the scheduler knows lengths: what it knows is what is left. */
static void test_known(void)
{
    const int starting[] = { 200, 250 };
    struct seen x;
    char text[256];
    int64_t end_s;

    snprintf(text, sizeof(text), "%slength = oracle\n", by_priority);
    end_s = end_with(text, starting, 2, &x);
    is_int(end_s, 1000 + 2 * 10 + 40 + RESTART, "a job of known length ends at the same time");
    is_int(x.left_ms / 1000, 800 + RESTART,
           "the scheduler knows one restart to be left of a job that was stopped twice");
    is_int(x.stops, 2, "the long job was stopped twice");
}

/* The same for a job that says what it does with its device. */
static void test_activity(void)
{
    const int starting[] = { 200, 250 };
    struct workload w;
    struct seen x;
    int64_t end_s = -1;

    if (make(&w, starting, 2) == 0 && work_stretch_add(&w, &w.jobs[0], LENGTH * 1000LL, 900) == 0)
        end_s = end_of_long(&w, by_priority, &x);
    workload_done(&w);
    is_int(end_s, 1000 + 2 * 10 + 40 + RESTART,
           "a job with activity pays one restart for two stops, too");
}

/* Lucid's simulator adds a restart for each stop; a policy can repeat that. */
static void test_adds(void)
{
    const int starting[] = { 200, 250 };
    struct seen x;
    char text[256];

    snprintf(text, sizeof(text), "%srestart-adds = yes\nlength = oracle\n", by_priority);
    is_int(end_with(text, starting, 2, &x), 1000 + 2 * (10 + RESTART),
           "a policy with restart-adds counts a restart for each stop");
    is_int(x.left_ms / 1000, 800 + RESTART + RESTART - 40,
           "the scheduler knows the rest of the first restart, and the second one");
}

/* Two jobs of 100 s from the start on, and one of 10 s that comes at 50 s: three devices, and each
 * pass restarts all. own_ms: what a restart of the second one costs; -1: as much as of others. */
static int64_t simulate_each_pass(int32_t own_ms, int64_t end_s[2])
{
    static const char text[] = "[policy]\norder = srtf\nplace = first\npreempt = rebuild\n"
                               "length = oracle\nrestart = 10s\nrestart-each-pass = yes\n";
    static const struct {
        int at_s, length_s;
    } jobs[] = { { 0, 100 }, { 0, 100 }, { 50, 10 } };
    struct pool pool = { .n_nodes = 0 };
    struct workload w;
    struct policy p;
    struct sim_result r = { .events = 0 };
    int rc = made_begin(&w);

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(jobs); i++) {
        struct work *job = made_job(&w, jobs[i].at_s, jobs[i].length_s);

        if (!job)
            rc = -1;
        else
            job->devices = 1;
        if (job && i == 1)
            job->restart_ms = own_ms;
    }
    if (rc == 0 && workload_settle(&w, NULL) == 0 && pool_parse(&pool, "1x3", NULL) == 0 &&
        policy_read(&p, "test", text, strlen(text), NULL) == 0)
        rc = sim_run(&r, &p, &pool, &w, NULL, NULL);
    for (int i = 0; i < 2; i++)
        end_s[i] = rc == 0 && r.jobs ? r.jobs[i].end_ms / 1000 : -1;
    sim_result_done(&r);
    pool_done(&pool);
    workload_done(&w);
    return end_s[0];
}

/* At 50 s both did 40 s, and at 60 s, when the short one ends, nothing more. */
static void test_each_pass(void)
{
    int64_t end_s[2];

    is_int(simulate_each_pass(-1, end_s), 120, "two passes make a job end two restarts later");
    is_int(end_s[1], 120, "a second job of the same length ends at the same time");
    /* The second did 20 s by 50 s; at 120 s, when the first ends, 30 s more of the 80 s. */
    is_int(simulate_each_pass(30000, end_s), 120,
           "a job does not pay for another one whose restart is longer");
    is_int(end_s[1], 170, "a job whose restart is longer ends later by more");
}

int main(void)
{
    test_lengths();
    test_known();
    test_activity();
    test_adds();
    test_each_pass();
    return done();
}
