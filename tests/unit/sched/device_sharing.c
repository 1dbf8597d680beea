/* Who shares devices with whom, when somebody waits: cases made by hand, with what a job says of
 * its memory and of company; and what becomes of the devices of two when one of them goes. */
#include "made_work.h"
#include "sched/core/action.h"
#include "sched/core/scheduler.h"
#include "sched/feature/device_sharing.h"
#include "sched/sched.h"
#include "tap.h"

enum { A, B, C, JOBS };

static const char policy[] = "[policy]\norder = fifo\nbackfill = greedy\nrestart = 5s\n"
                             "[share]\nbelow = 50%\ntogether = 90%\nafter = 5s\n";

struct world {
    struct policy policy;
    struct pool pool;
    struct workload work;
    struct work_wish wishes[JOBS];
    struct sched *s;
    int64_t again_ms;
};

/* What two jobs that run are like: how busy, which part of the memory they take. */
struct like {
    int milli, memory;
    bool alone, fixed;
};

/* Three jobs of two devices each on one node of four, of which the first two run from 0 on. */
static void make(struct world *t, const struct like *a, const struct like *b)
{
    static const char *const names[JOBS] = { "a", "b", "c" };
    const struct like *likes[] = { a, b, NULL };
    struct err e = { "" };
    int rc;

    *t = (struct world){ .s = NULL };
    rc = made_begin(&t->work);
    for (int i = 0; i < JOBS && rc == 0; i++) {
        struct work *job = made_job(&t->work, 0, 1000);

        if (!job)
            exit(1);
        job->name = names[i];
        job->devices = 2;
        if (!likes[i])
            continue;
        t->wishes[i].memory_milli = (int16_t)likes[i]->memory;
        t->wishes[i].alone = likes[i]->alone;
        job->wish = &t->wishes[i];
        job->fixed = likes[i]->fixed;
    }
    if (rc == 0)
        rc = policy_read(&t->policy, "test", policy, strlen(policy), &e);
    if (rc == 0)
        rc = pool_parse(&t->pool, "1x4", &e);
    if (rc == 0)
        rc = workload_settle(&t->work, &e);
    if (rc == 0)
        rc = sched_open(&t->s, &t->policy, &t->pool, &t->work, &e);
    if (rc == 0)
        sched_submit(t->s, A, 0, WORK_UNKNOWN);
    if (rc == 0)
        sched_submit(t->s, B, 0, WORK_UNKNOWN);
    if (rc == 0)
        rc = sched_pass(t->s, 0, &t->again_ms);
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

/* The third job comes: who makes room for it as a guest; "" where nobody does. */
static const char *come(struct world *t, int64_t now_ms)
{
    sched_submit(t->s, C, now_ms, WORK_UNKNOWN);
    is_int(sched_pass(t->s, now_ms, &t->again_ms), 0, "a pass is made");
    if (sched_job(t->s, C)->state != SCHED_RUNNING)
        return "";
    return sched_job(t->s, A)->guest ? "a" : sched_job(t->s, B)->guest ? "b" : "?";
}

static void test_pairs(void)
{
    static const struct {
        const char *what;
        struct like a, b;
        int64_t at_ms;
        const char *guest;
    } cases[] = {
        { "as busy as may be together", { .milli = 400 }, { .milli = 500 }, 5000, "a" },
        { "the second one busy less", { .milli = 400 }, { .milli = 300 }, 5000, "b" },
        { "equally busy", { .milli = 300 }, { .milli = 300 }, 5000, "a" },
        { "seen for too short a time", { .milli = 400 }, { .milli = 300 }, 4999, "" },
        { "too busy together", { .milli = 401 }, { .milli = 500 }, 5000, "" },
        { "one of them too busy", { .milli = 501 }, { .milli = 300 }, 5000, "" },
        { "one of them idle", { .milli = 10 }, { .milli = 300 }, 5000, "" },
        { "one of them hardly at work", { .milli = 11 }, { .milli = 300 }, 5000, "a" },
        { "the first one to be alone",
          { .milli = 300, .alone = true },
          { .milli = 300 },
          5000,
          "" },
        { "the other to be alone", { .milli = 300 }, { .milli = 300, .alone = true }, 5000, "" },
        { "the first one fixed", { .milli = 300, .fixed = true }, { .milli = 300 }, 5000, "" },
        { "all of the memory", { .milli = 300, .memory = 600 }, { 300, 400, 0, 0 }, 5000, "a" },
        { "more than the memory", { .milli = 300, .memory = 600 }, { 300, 401, 0, 0 }, 5000, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world t;

        make(&t, &cases[i].a, &cases[i].b);
        sched_use(t.s, A, 0, cases[i].a.milli);
        sched_use(t.s, B, 0, cases[i].b.milli);
        is_str(come(&t, cases[i].at_ms), cases[i].guest,
               "of two jobs the right one shares, or none: %s", cases[i].what);
        drop(&t);
    }
}

/* How busy a job is counts by time, as long as it works. */
static void test_seen(void)
{
    static const struct like any = { 0, 0, false, false };
    static const struct {
        int64_t at_ms;
        const char *guest;
    } cases[] = { { 7999, "" }, { 8000, "a" } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world t;

        make(&t, &any, &any);
        sched_use(t.s, A, 0, 200);
        sched_use(t.s, A, 2000, 0);
        sched_use(t.s, A, 5000, 600); /* 440 at 8000 */
        sched_use(t.s, B, 0, 450);
        is_str(come(&t, cases[i].at_ms), cases[i].guest, "time without work counts for nothing");
        drop(&t);
    }
    for (int more = 0; more < 2; more++) {
        struct world t;

        make(&t, &any, &any);
        sched_seen(t.s, A, 0, 4999 + more, 400);
        sched_seen(t.s, B, 0, 5000, 450);
        is_str(come(&t, 10), more ? "a" : "", "what was seen before is enough, or not");
        drop(&t);
    }
}

/* The free devices of the node. */
static int free_now(const struct world *t)
{
    return (int)sched_capacity(t->s)->whole;
}

static void test_devices(void)
{
    static const struct like little = { .milli = 300 };

    for (uint32_t first = A; first <= B; first++) {
        uint32_t other = first == A ? B : A;
        const struct action *actions;
        CLEANUP(str_done) struct str text = STR_INIT(1000);
        struct world t;
        size_t n;

        make(&t, &little, &little);
        sched_use(t.s, A, 0, 300);
        sched_use(t.s, B, 0, 300);
        is_str(come(&t, 5000), "a", "the first job is the guest of the second one");
        actions = sched_actions(t.s, &n);
        sched_reason(t.s, &actions[0], 5000, &text);
        is_str(str_text(&text),
               "job a gives up 2 devices and shares those of job b: both are at most 50 % busy, "
               "together 90 %, and job c, which waits for 2 devices, gets them",
               "the reason says who shares with whom, and for whom");
        ok(device_sharing_partner(t.s, A) == B && device_sharing_partner(t.s, B) == A &&
               device_sharing_host(t.s, A) == B && device_sharing_host(t.s, B) == B,
           "two that share know each other");
        ok(sched_is_on(t.s, A, 0) && sched_job(t.s, A)->part == NO_PART,
           "a guest is on the node of its host and has no devices of its own");
        is_int(free_now(&t), 0, "no device is free where three jobs have four");
        sched_end(t.s, first, 6000);
        is_int(free_now(&t), 0, "devices of two stay with the one that goes on");
        ok(!sched_job(t.s, other)->guest && sched_job(t.s, other)->part != NO_PART &&
               device_sharing_partner(t.s, other) == WAITING_NONE,
           "the one that goes on has the devices alone");
        sched_end(t.s, other, 7000);
        is_int(free_now(&t), 2, "devices are free when both have gone");
        sched_end(t.s, C, 8000);
        is_int(free_now(&t), 4, "all devices are free at the end");
        drop(&t);
    }
}

int main(void)
{
    test_pairs();
    test_seen();
    test_devices();
    return done();
}
