/* Jobs that another scheduler had, which run already or wait: what the next pass makes of them, and
 * what users have had before. */
#include "made_work.h"
#include "sched/core/action.h"
#include "sched/sched.h"
#include "tap.h"

#define VICTIMS "order = fifo\npriorities = yes\npreempt = victims\nrestart = 5s\n"
#define IDLE "[idle]\nwarn = 999h\nreclaim = 999h\naction = warn\n"

struct world {
    struct policy policy;
    struct pool pool;
    struct workload work;
    struct sched *s;
    int64_t again_ms;
};

/* A job: devices, priority, user. */
struct line {
    int devices, priority, user;
};

static void make(struct world *t, const char *policy, const char *nodes, const struct line *lines,
                 int n)
{
    struct err e = { "" };
    char text[256];
    int rc;

    *t = (struct world){ .s = NULL };
    snprintf(text, sizeof(text), "[policy]\n%s", policy);
    rc = made_begin(&t->work);
    if (rc == 0 && (work_number(&t->work, &t->work.users, "ann") < 0 ||
                    work_number(&t->work, &t->work.users, "bob") < 0))
        rc = -1;
    for (int i = 0; i < n && rc == 0; i++) {
        struct work *job = made_job(&t->work, 0, 1000);

        if (!job)
            exit(1);
        job->devices = lines[i].devices;
        job->priority = (int16_t)lines[i].priority;
        job->user = (int16_t)lines[i].user;
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

static bool runs(const struct world *t, uint32_t job)
{
    return sched_job(t->s, job)->state == SCHED_RUNNING;
}

static void pass(struct world *t, int64_t now_ms)
{
    is_int(sched_pass(t->s, now_ms, &t->again_ms), 0, "a pass is made");
}

/* A job runs on the first devices of a node since a time, at which so much was left of it. */
static void take_running(struct world *t, uint32_t job, uint16_t devices, int64_t since_ms,
                         int64_t left_ms)
{
    struct part part = { 0, devices, WORK_WHOLE, NO_PART, 0 };
    const struct fit where = { .parts = &part, .n = 1 };
    const struct sched_job was = { .since_ms = since_ms, .left_ms = left_ms };

    is_int(sched_take_up(t->s, job, 0, &was, &where), 0, "a job that runs is taken up");
}

static void take_waiting(struct world *t, uint32_t job, int64_t left_ms)
{
    const struct sched_job was = { .since_ms = -1000, .left_ms = left_ms };

    is_int(sched_take_up(t->s, job, 0, &was, NULL), 0, "a job that waits is taken up");
}

/* One runs until 10 s, the next one needs all devices: whoever ends by then may go between. */
static void test_easy(void)
{
    static const struct line lines[] = { { 2, 0, 0 }, { 4, 0, 0 }, { 2, 0, 0 } };

    for (int64_t left_ms = 10000; left_ms <= 10001; left_ms++) {
        struct world t;
        size_t n;

        make(&t, "order = fifo\nbackfill = easy\nlength = oracle\n", "1x4", lines, 3);
        take_running(&t, 0, 3, -5000, 15000);
        take_waiting(&t, 1, 50000);
        take_waiting(&t, 2, left_ms);
        is_int((int)sched_capacity(t.s)->whole, 2, "a job that is taken up has its devices");
        ok(sched_running(t.s, &n)[0] == 0 && n == 1 && sched_is_on(t.s, 0, 0),
           "a job that is taken up runs on its node");
        pass(&t, 0);
        is_int(runs(&t, 2), left_ms == 10000,
               "a short job goes before the end of one that was taken up, a longer one does not");
        is_int(sched_job(t.s, 0)->since_ms, -5000, "a job that was taken up runs since it started");
        drop(&t);
    }
}

/* One of high priority waits, one of low priority runs. */
static void test_victims(void)
{
    static const struct line lines[] = { { 2, 0, 0 }, { 2, 1, 0 } };
    static const char *const policies[] = {
        VICTIMS,
        VICTIMS IDLE,
        "order = fifo\npriorities = yes\npreempt = quota\nrestart = 5s\n",
        "order = fifo\npriorities = yes\npreempt = quota\nties = list\nrestart = 5s\n",
        "order = fifo\npriorities = yes\npreempt = rebuild\nrestart = 5s\n",
    };

    for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
        for (int first = 0; first < 2; first++) {
            struct world t;

            make(&t, policies[i], "1x2", lines, 2);
            if (first)
                take_waiting(&t, 1, WORK_UNKNOWN);
            take_running(&t, 0, 3, -5000, WORK_UNKNOWN);
            if (!first)
                take_waiting(&t, 1, WORK_UNKNOWN);
            pass(&t, 0);
            ok(runs(&t, 1) && !runs(&t, 0),
               "one of higher priority stops one that was taken up, under policy %zu", i);
            sched_end(t.s, 1, 1000);
            pass(&t, 1000);
            ok(runs(&t, 0), "one that was taken up and stopped runs again under policy %zu", i);
            drop(&t);
        }
}

/* A guest has no devices of its own until its host ends. */
static void test_guests(void)
{
    static const struct line lines[] = { { 2, 0, 0 }, { 2, 0, 0 }, { 2, 0, 0 } };
    const struct sched_job was = { .since_ms = -1000, .left_ms = WORK_UNKNOWN };
    struct world t;

    make(&t, "order = fifo\n[share]\nbelow = 50%\ntogether = 90%\nafter = 5s\n", "1x4", lines, 3);
    take_running(&t, 0, 3, -5000, WORK_UNKNOWN);
    sched_take_up_guest(t.s, 1, 0, &was, 0);
    ok(runs(&t, 1) && sched_job(t.s, 1)->guest && sched_is_on(t.s, 1, 0),
       "a guest that is taken up runs on the node of its host");
    is_int((int)sched_capacity(t.s)->whole, 2, "a guest that is taken up has no devices");
    sched_end(t.s, 0, 1000);
    is_int((int)sched_capacity(t.s)->whole, 2, "the devices of a host stay its guest's");
    sched_end(t.s, 1, 2000);
    is_int((int)sched_capacity(t.s)->whole, 4, "the devices are free behind both");
    drop(&t);
}

/* Of two users the one goes first who had less, of which half counts after ten seconds. */
static void test_users(void)
{
    static const struct line lines[] = { { 1, 0, 0 }, { 1, 0, 1 }, { 1, 0, -1 } };
    static const struct {
        double ann, bob, nobody;
        uint32_t first;
    } cases[] = {
        { 1000, 501, 900, 0 },
        { 1000, 499, 900, 1 },
        { 1000, 900, 499, 2 },
        { 0, 1, 1, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world t;

        make(&t, "order = fair\nbackfill = greedy\nhalf-life = 10s\n", "1x1", lines, 3);
        sched_had(t.s, 0, 0, cases[i].ann);
        sched_had(t.s, 1, 10000, cases[i].bob);
        sched_had(t.s, -1, 10000, cases[i].nobody);
        for (uint32_t job = 0; job < 3; job++)
            take_waiting(&t, job, WORK_UNKNOWN);
        pass(&t, 10000);
        ok(runs(&t, cases[i].first), "job %d starts, whose user had the least",
           (int)cases[i].first);
        drop(&t);
    }
}

/* A user whose job was taken up has devices from then on. */
static void test_running_user(void)
{
    static const struct line lines[] = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1 } };

    for (int had_ms = 4999; had_ms <= 5001; had_ms += 2) {
        struct world t;

        make(&t, "order = fair\nbackfill = greedy\n", "1x2", lines, 3);
        take_running(&t, 0, 1, -5000, WORK_UNKNOWN);
        take_waiting(&t, 1, WORK_UNKNOWN);
        take_waiting(&t, 2, WORK_UNKNOWN);
        sched_had(t.s, 1, 0, had_ms);
        pass(&t, 5000);
        is_int(runs(&t, 1), had_ms > 5000, "a user had what a job has that was taken up");
        drop(&t);
    }
}

int main(void)
{
    test_easy();
    test_victims();
    test_guests();
    test_users();
    test_running_user();
    return done();
}
