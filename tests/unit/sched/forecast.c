/* What jobs took that were like one, and what that says of it. */
#include <errno.h>

#include "oom.h"
#include "sched/forecast.h"
#include "tap.h"

enum { JOBS = 8, SECOND = 1000 };

/* Users 0 and 1, and one that nobody knows; of one device but for the last two. */
static struct work jobs[JOBS] = {
    { .user = 0, .devices = 1 },
    { .user = 0, .devices = 1 },
    { .user = 0, .devices = 8 },
    { .user = 1, .devices = 1 },
    { .user = -1, .devices = 1, .class = -1 },
    { .user = -1, .devices = 8, .class = -1 },
    { .user = -1, .devices = 8, .class = 3 },
    { .user = 2, .devices = 8, .class = 3 },
};
static const struct workload work = { .jobs = jobs, .n_jobs = JOBS };

static void learn(struct forecast *f, uint32_t job, const int *seconds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        forecast_learn(f, job, (int64_t)seconds[i] * SECOND);
}

static void test_levels(void)
{
    static const int small[] = { 10, 30, 20 }, large[] = { 500, 400, 600 };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct forecast f;

    if (forecast_init(&f, &a, &work) != 0)
        abort();
    is_int(forecast_left(&f, 0, 0), WORK_UNKNOWN, "nothing is known of the first");
    learn(&f, 0, small, 2);
    is_int(forecast_left(&f, 1, 0), WORK_UNKNOWN, "nothing is known after two jobs");
    learn(&f, 0, small + 2, 1);
    is_int(forecast_left(&f, 1, 0), 20 * SECOND, "the forecast is the middle one of three jobs");
    is_int(forecast_left(&f, 2, 0), 20 * SECOND, "of its user, where none was as large");
    is_int(forecast_left(&f, 3, 0), 20 * SECOND, "of anybody, where its user had none");
    learn(&f, 2, large, 3);
    is_int(forecast_left(&f, 1, 0), 20 * SECOND, "larger ones do not count");
    is_int(forecast_left(&f, 2, 0), 500 * SECOND, "large jobs have a forecast of their own");
    learn(&f, 6, large, 3);
    is_int(forecast_left(&f, 7, 0), 500 * SECOND,
           "the forecast is that of jobs of its class and size");
}

static void test_runs_on(void)
{
    static const int took[] = { 10, 20, 30, 100, 1000 };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct forecast f;

    if (forecast_init(&f, &a, &work) != 0)
        abort();
    learn(&f, 3, took, ARRAY_SIZE(took));
    is_int(forecast_left(&f, 3, 0), 30 * SECOND, "the forecast is what half of the jobs took");
    is_int(forecast_left(&f, 3, 15 * SECOND), 85 * SECOND,
           "the forecast is that of jobs that took more than 15 s");
    is_int(forecast_left(&f, 3, 100 * SECOND), 900 * SECOND, "of the last one");
    is_int(forecast_left(&f, 3, 5000 * SECOND), 5000 * SECOND,
           "a job beyond all others runs as long again as it has run");
    for (int i = 0; i < FORECAST_KEPT; i++)
        forecast_learn(&f, 3, 7 * SECOND);
    is_int(forecast_left(&f, 3, 0), 7 * SECOND, "old ones are forgotten");
}

static void test_oom(void)
{
    int failed;

    do {
        struct arena a = ARENA_INIT;
        struct forecast f;
        int rc;

        oom_next();
        rc = forecast_init(&f, &a, &work);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "forecast_init with allocation %d failing returns -ENOMEM", oom_at);
        arena_done(&a);
    } while (failed);
}

int main(void)
{
    test_levels();
    test_runs_on();
    test_oom();
    return done();
}
