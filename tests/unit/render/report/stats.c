/* Numbers of steps and signals of small runs, and the axis of their pictures. */
#include "render/report/stats.h"

#include <math.h>
#include <stdlib.h>

#include "model/signal/quantity.h"
#include "render/report/plot.h"
#include "render/report/report_private.h"
#include "tap.h"

#define STEP(begin_s, end_s) \
    { \
        .begin_ns = (int64_t)((begin_s)*1e9), .end_ns = (int64_t)((end_s)*1e9) \
    }

static struct step even[] = { STEP(1, 2), STEP(2, 4), STEP(4, 5), STEP(5, 9) };
static struct step broken[] = { STEP(3, 3), STEP(7, 6), STEP(-2, 1), STEP(2, 3) };

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_rank(void)
{
    struct run_rank k = { .steps = even, .n_steps = 4, .total = { .samples = 80 } };
    struct step_stats s;

    is_int(step_stats_rank(&k, &s), 0, "step_stats_rank counts the steps of a rank");
    ok(near(s.steps, 4) && near(s.steps_per_s, 0.5) && near(s.samples_per_s, 10),
       "a rank has its steps and samples a second");
    ok(near(s.median_s, 2) && near(s.p90_s, 4) && near(s.best_s, 1),
       "a rank has the median, the longest but a tenth and the best of its steps");
    k.total.number = 40;
    is_int(step_stats_rank(&k, &s), 0, "step_stats_rank counts steps that were not kept");
    ok(near(s.steps, 40) && near(s.steps_per_s, 5), "steps that were not kept count for the rate");
    k.n_steps = 0;
    is_int(step_stats_rank(&k, &s), 0, "step_stats_rank takes a rank without steps");
    ok(isnan(s.steps_per_s) && isnan(s.samples_per_s) && isnan(s.median_s) && isnan(s.best_s),
       "a rank without steps has no numbers");
    k = (struct run_rank){ .steps = broken, .n_steps = 4 };
    is_int(step_stats_rank(&k, &s), 0, "step_stats_rank takes steps of no time");
    ok(near(s.best_s, 0) && near(s.p90_s, 1) && near(s.median_s, 1),
       "a step that ends before it begins, or begins before time, has no length");
    k.n_steps = 1;
    is_int(step_stats_rank(&k, &s), 0, "step_stats_rank takes a step of no time alone");
    ok(isnan(s.steps_per_s) && near(s.steps, 1), "a rank whose steps took no time has no rate");
}

static void test_run(void)
{
    struct run_rank ranks[] = {
        { .rank = 2, .steps = even, .n_steps = 4, .total = { .samples = 80 } },
        { .rank = 1, .steps = broken, .n_steps = 1 },
        { .rank = 0, .steps = even, .n_steps = 2, .total = { .samples = 30 } },
    };
    const struct run r = { .ranks = ranks, .n_ranks = 3 };
    const struct run_rank **order = stats_ranks(&r);
    struct step_stats s;

    is_int(step_stats_run(&r, &s), 0, "step_stats_run counts the steps of all ranks");
    is_int((long long)s.steps, 7, "a run has the steps of all ranks");
    ok(near(s.steps_per_s, (0.5 + 2 / 3.0) / 2),
       "a run has the mean rate of ranks that have one: %g", s.steps_per_s);
    ok(near(s.samples_per_s, 20), "a run has the samples of all ranks: %g", s.samples_per_s);
    ok(order && order[0] == &ranks[2] && order[1] == &ranks[1] && order[2] == &ranks[0],
       "ranks are put in their order");
    free(order);
    ranks[1].rank = ranks[2].rank = 2;
    order = stats_ranks(&r);
    ok(order && order[0] == &ranks[0] && order[1] == &ranks[1] && order[2] == &ranks[2],
       "ranks of the same number stay as they are");
    free(order);
}

static void test_signal(void)
{
    struct run_moment moments[] = { { .seconds = 1 }, { .seconds = 3 },  { .seconds = 2 },
                                    { .seconds = 0 }, { .seconds = -1 }, { .seconds = 5 } };
    const double values[] = { 10, 2, (double)NAN, 1000, 1000, 1000 };
    const struct run r = { .moments = moments, .n_moments = 5 };

    for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
        for (int s = 0; s < RUN_SIGNALS; s++)
            moments[i].values[s] = s == RUN_JOB_CPU ? values[i] : (double)NAN;
    ok(near(stats_signal(&r, RUN_JOB_CPU), 4), "moments count for a signal by their length");
    ok(isnan(stats_signal(&r, RUN_DISK_READ)), "a signal that was never measured has no mean");
    moments[0].seconds = (double)NAN;
    ok(near(stats_signal(&r, RUN_JOB_CPU), 2), "a moment of no known length does not count");
}

static void axis(const struct run *r, double begin_s, double length_s, const char *what)
{
    struct report p = { .run = r };

    axis_find(&p);
    ok((isnan(begin_s) ? isnan(p.begin_s) : near(p.begin_s, begin_s)) && near(p.length_s, length_s),
       "the axis begins at %g and is %g s long where there are %s", begin_s, length_s, what);
}

static void test_axis(void)
{
    struct run_rank ranks[] = { { .steps = even, .n_steps = 4 },
                                { .steps = broken, .n_steps = 2 },
                                { .n_steps = 0 } };
    struct run_moment moments[] = { { .monotonic_ns = 12000000000, .seconds = 12 },
                                    { .monotonic_ns = 30000000000, .seconds = (double)NAN },
                                    { .monotonic_ns = 20000000000, .seconds = -5 } };

    axis(&(struct run){ .n_ranks = 0 }, (double)NAN, 0, "neither steps nor moments");
    axis(&(struct run){ .ranks = ranks, .n_ranks = 1 }, 1, 8, "steps alone");
    axis(&(struct run){ .ranks = ranks + 2, .n_ranks = 1 }, (double)NAN, 0, "ranks without steps");
    axis(&(struct run){ .ranks = ranks, .n_ranks = 3 }, 1, 8, "steps of several ranks");
    axis(&(struct run){ .moments = moments, .n_moments = 1 }, 0, 12, "moments alone");
    axis(&(struct run){ .moments = moments, .n_moments = 3 }, 0, 12,
         "moments of no known length beside one");
    axis(&(struct run){ .moments = moments + 1, .n_moments = 2 }, (double)NAN, 0,
         "moments of no known length alone");
    axis(&(struct run){ .ranks = ranks, .n_ranks = 1, .moments = moments, .n_moments = 1 }, 0, 12,
         "moments around steps");
}

/* Where a time begins and ceases to be told in two units. */
static void test_durations(void)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        { 99.5, "1 min 40 s" },    { 119.4, "1 min 59 s" },  { 119.5, "2 min 00 s" },
        { 3599.4, "59 min 59 s" }, { 3599.5, "1 h 00 min" }, { 86399, "23 h 59 min" },
        { 86400, "1 d 00 h" },     { 1e9, "11574 d 01 h" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(report_duration(cases[i].seconds).text, cases[i].text, "%.1f s have two units",
               cases[i].seconds);
    is_str(report_duration(99.4).text, quantity_seconds(99.4).text, "little time has one unit");
    is_str(report_duration(1.1e9).text, quantity_seconds(1.1e9).text,
           "more than 31 years have one unit");
}

int main(void)
{
    test_durations();
    test_rank();
    test_run();
    test_signal();
    test_axis();
    return done();
}
