/* Losses before a change and after it: which are counted, what points are made of them, and what is
 * judged of few points. */
#include "optimize/loss_check.h"

#include <math.h>

#include "base/compiler.h"
#include "tap.h"

#define NIL ((double)NAN) /* not known */

static const double nan_value = (double)NAN;

static void steps(struct loss_check *l, unsigned n, double samples, double loss)
{
    for (unsigned i = 0; i < n; i++)
        loss_check_step(l, samples, loss);
}

static void test_points(void)
{
    struct loss_check l;

    loss_check_init(&l);
    for (unsigned i = 0; i < 128; i++)
        loss_check_step(&l, 2, i);
    ok(l.before.n == 128 && l.before.per == 1 && l.before.x[0] == 2 && l.before.y[127] == 127,
       "a loss is a point as long as there is room");
    loss_check_step(&l, 2, 128);
    is_int((long long)l.before.n, 64, "without room two points become one");
    is_int(l.before.per, 2, "a point of two losses is followed by points of two");
    ok(l.before.x[0] == 3 && l.before.y[0] == 0.5 && l.before.x[63] == 255 &&
           l.before.y[63] == 126.5,
       "a point of two losses has their means");
    loss_check_step(&l, 2, 129);
    ok(l.before.n == 65 && l.before.x[64] == 259 && l.before.y[64] == 128.5,
       "a new point has the loss that found no room");
    steps(&l, 2, 2, 7);
    ok(l.before.n == 66 && l.before.y[65] == 7 && l.before.x[65] == 263,
       "the next point begins anew");
    ok(l.before.steps == 132 && l.before.told == 132, "each loss is counted once");
}

static void test_counts(void)
{
    struct loss_check l;

    loss_check_init(&l);
    steps(&l, 3, nan_value, 1);
    ok(l.samples == 3, "a step without samples counts as one");
    steps(&l, 2, 0, 1);
    steps(&l, 2, -4, 1);
    ok(l.samples == 7, "a step of no samples counts as one");
    steps(&l, 2, 0.5, 1);
    ok(l.samples == 8, "samples are summed as they are told");
    steps(&l, 4, 1, nan_value);
    ok(l.before.steps == 13 && l.before.told == 9 && l.before.n == 9,
       "a step without a loss is counted and is no point");
    steps(&l, 1, 1, (double)INFINITY);
    ok(l.before.n == 9 && !l.infinite, "an infinite loss before the change is no point");
    steps(&l, 6, 1, 1);
    ok(!loss_check_ready(&l), "15 losses are too few");
    steps(&l, 1, 1, 1);
    ok(loss_check_ready(&l), "16 losses are enough");
}

/* What was done after a change becomes a part of before, or is forgotten. */
static void test_settle(void)
{
    for (int kept = 0; kept < 2; kept++) {
        struct loss_check l;

        loss_check_init(&l);
        steps(&l, 20, 1, 2);
        loss_check_change(&l);
        steps(&l, 5, 1, 3);
        ok(l.before.n == 20 && l.after.n == 5, "losses after a change are apart");
        loss_check_settle(&l, kept);
        is_int((long long)l.before.n, kept ? 25 : 20, "losses of a setting that is %s",
               kept ? "kept belong to before" : "undone are forgotten");
        ok(!kept || (l.before.x[20] == 21 && l.before.y[24] == 3),
           "losses that belong to before are where they were");
        ok(!l.changed && !l.after.n && l.after.per == 1, "the next change finds nothing after it");
        steps(&l, 1, 1, 4);
        is_int((long long)l.before.n, kept ? 26 : 21, "a loss after the setting is one of before");
    }
}

/* So many losses of one level, a change, and losses of another: whether they are worse. */
static void test_few(void)
{
    static const char no_number[] = "the loss is no number any more";
    static const char above[] = "the loss is 4 where 2 was to be expected (99.0 standard errors)";
    static const struct {
        const char *what;
        unsigned before;
        double level;
        unsigned first;
        double first_level;
        unsigned then; /* of 100 samples */
        double then_level;
        const char *worse; /* NULL: they are not */
    } cases[] = {
        { "7 points far above", 40, 2, 7, 4, 0, 0, NULL },
        { "8 points far above", 40, 2, 8, 4, 0, 0, above },
        { "7 points as before, of negative losses", 40, -2, 7, -2, 0, 0, NULL },
        { "one point above within the horizon, later ones not", 40, 2, 1, 4, 8, 2, NULL },
        { "7 points above within the horizon, later ones not", 40, 2, 7, 4, 8, 2, NULL },
        { "8 points above within the horizon, later ones not", 40, 2, 8, 4, 8, 2, above },
        { "later points above, beyond the horizon", 40, 2, 8, 2, 8, 4,
          "the loss rose from 2 to 4 (99.0 standard errors)" },
        { "points far below", 40, 2, 8, 1, 8, 1, NULL },
        { "points above after too few before", 15, 2, 20, 4, 0, 0, NULL },
        { "points above after enough before", 16, 2, 8, 4, 0, 0, above },
        { "an infinite loss after too few before", 15, 2, 1, (double)INFINITY, 0, 0, NULL },
        { "an infinite loss", 16, 2, 1, (double)INFINITY, 0, 0, no_number },
        { "20 steps without a loss", 16, 2, 20, NIL, 0, 0, NULL },
        { "21 steps without a loss", 16, 2, 21, NIL, 0, 0, no_number },
        { "a loss and 21 steps without one", 16, 2, 1, 2, 21, NIL, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char why[LOSSES_TEXT] = "";
        struct loss_check l;
        bool worse;

        loss_check_init(&l);
        steps(&l, cases[i].before, 1, cases[i].level);
        ok(!loss_check_worse(&l, why), "without a change nothing is worse: %s", cases[i].what);
        loss_check_change(&l);
        steps(&l, cases[i].first, 1, cases[i].first_level);
        steps(&l, cases[i].then, 100, cases[i].then_level);
        worse = loss_check_worse(&l, why);
        ok(worse == !!cases[i].worse, "losses are worse or are not: %s", cases[i].what);
        is_str(worse ? why : "", cases[i].worse ? cases[i].worse : "", "the reason tells of %s",
               cases[i].what);
    }
}

/* Where one step in three tells a loss, three times as many are waited for. */
static void test_sparse(void)
{
    char why[LOSSES_TEXT];
    struct loss_check l;

    loss_check_init(&l);
    for (int i = 0; i < 60; i++)
        loss_check_step(&l, 1, i % 3 ? nan_value : 2);
    loss_check_change(&l);
    steps(&l, 60, 1, nan_value);
    ok(!loss_check_worse(&l, why), "60 steps without a loss are not worse where 2 of 3 have none");
    steps(&l, 1, 1, nan_value);
    ok(loss_check_worse(&l, why), "61 steps without a loss are worse where 2 of 3 have none");
}

int main(void)
{
    test_points();
    test_counts();
    test_settle();
    test_few();
    test_sparse();
    return done();
}
