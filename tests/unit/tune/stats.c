/* How often trials are wrong, and what they cost, by simulation: false accepts of settings that
 * change nothing, power for those that help, beside two rules that look once. The table is what
 * docs/optimize-internals.md shows. Seeded: every run prints the same. With the word "few" races
 * alone, which are quick. */
#include <stdlib.h>

#include "noise.h"
#include "tap.h"
#include "tune/trial/race.h"
#include "tune/trial/recheck.h"
#include "tune/trial/trial.h"

enum { IDLE = 1000, USEFUL = 400 };
static const double step_s = 0.1;

struct outcome {
    double accepted, median, mean; /* share; steps */
    double covered;                /* share of trials whose bounds hold the true gain */
};

typedef bool rule_fn(struct noise *n, double gain, unsigned candidates, unsigned *steps,
                     bool *covered);

static bool run_trial(struct trial *t, struct noise *n, double gain, bool *covered)
{
    struct trial_effect effect;

    while (t->verdict == TRIAL_RUNS) {
        bool b = trial_want(t);

        trial_steps(t, b, step_s * noise_next(n) / (b ? 1 + gain : 1), 1);
    }
    effect = trial_effect(t);
    *covered = effect.low <= gain && gain <= effect.high;
    return t->verdict == TRIAL_ACCEPT;
}

static bool by_trial(struct noise *n, double gain, unsigned candidates, unsigned *steps,
                     bool *covered)
{
    struct trial_plan plan = trial_plan_usual(candidates);
    struct trial t;
    bool accepted;

    trial_init(&t, &plan);
    accepted = run_trial(&t, n, gain, covered);
    *steps = t.steps;
    return accepted;
}

/* As a session does with its first candidate: what was observed is the first block, and the
 * candidate is in force since its canary. */
static bool by_begun(struct noise *n, double gain, unsigned candidates, unsigned *steps,
                     bool *covered)
{
    enum { OBSERVED = 30, SKIPPED = 6 };
    struct trial_plan plan = trial_plan_usual(candidates);
    double values[OBSERVED];
    struct trial t;
    bool accepted;

    for (int i = 0; i < OBSERVED; i++)
        values[i] = step_s * noise_next(n);
    for (int i = 0; i < SKIPPED; i++)
        noise_next(n);
    trial_init(&t, &plan);
    trial_begun(&t, values, OBSERVED);
    accepted = run_trial(&t, n, gain, covered);
    *steps = t.steps + OBSERVED + SKIPPED;
    return accepted;
}

/* 100 steps with each, the smaller mean wins. */
static bool by_means(struct noise *n, double gain, unsigned candidates, unsigned *steps,
                     bool *covered)
{
    double a = 0, b = 0;

    (void)candidates;
    for (int i = 0; i < 100; i++)
        a += noise_next(n);
    for (int i = 0; i < 100; i++)
        b += noise_next(n) / (1 + gain);
    *steps = 200;
    *covered = false;
    return b < a;
}

/* 100 steps with each, Welch's t-test at 5 %. */
static bool by_welch(struct noise *n, double gain, unsigned candidates, unsigned *steps,
                     bool *covered)
{
    double mean[2] = { 0, 0 }, squares[2] = { 0, 0 };

    (void)candidates;
    for (int k = 0; k < 2; k++)
        for (int i = 1; i <= 100; i++) {
            double x = noise_next(n) / (k ? 1 + gain : 1), from = x - mean[k];

            mean[k] += from / i;
            squares[k] += from * (x - mean[k]);
        }
    *steps = 200;
    *covered = false;
    return (mean[0] - mean[1]) / sqrt((squares[0] + squares[1]) / 99 / 100) > 1.972;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct outcome simulate(rule_fn *rule, bool drifts, double gain, unsigned candidates)
{
    double steps[IDLE];
    struct outcome o = { .accepted = 0 };
    int n = gain > 0 ? USEFUL : IDLE;

    for (int i = 0; i < n; i++) {
        struct noise noise = noise_start((uint64_t)i + 1, drifts);
        bool covered;
        unsigned took;

        o.accepted += rule(&noise, gain, candidates, &took, &covered) ? 1.0 / n : 0;
        o.covered += covered ? 1.0 / n : 0;
        o.mean += (double)took / n;
        steps[i] = took;
    }
    qsort(steps, (size_t)n, sizeof(*steps), compare);
    o.median = steps[n / 2];
    return o;
}

static void print_row(const char *name, rule_fn *rule, bool drifts, unsigned candidates)
{
    static const double gains[] = { 0, 0.02, 0.05, 0.10, 0.30 };

    printf("# %-26s %-5s", name, drifts ? "yes" : "no");
    for (size_t i = 0; i < ARRAY_SIZE(gains); i++) {
        struct outcome o = simulate(rule, drifts, gains[i], candidates);

        printf(" %5.1f %% (%3.0f)", o.accepted * 100, o.median);
    }
    printf("\n");
}

static void print_table(void)
{
    printf("# accepted (median of steps spent) for a true gain of, %d and %d trials\n", IDLE,
           USEFUL);
    printf("# %-26s %-5s %13s %13s %13s %13s %13s\n", "rule", "drift", "0 %", "2 %", "5 %", "10 %",
           "30 %");
    for (int drifts = 0; drifts < 2; drifts++) {
        print_row("A x100, B x100, faster wins", by_means, drifts, 1);
        print_row("A x100, B x100, Welch 5 %", by_welch, drifts, 1);
        print_row("trial, one candidate", by_trial, drifts, 1);
        print_row("trial, one of five", by_trial, drifts, 5);
        print_row("trial of five, begun", by_begun, drifts, 5);
    }
}

static void test_trials(bool drifts)
{
    const char *how = drifts ? "with drift" : "without drift";
    struct outcome idle = simulate(by_trial, drifts, 0, 1);
    struct outcome begun = simulate(by_begun, drifts, 0, 1);
    struct outcome five = simulate(by_trial, drifts, 0.05, 1);
    struct outcome ten = simulate(by_trial, drifts, 0.10, 1);

    ok(idle.accepted <= 0.05, "%s: %.1f %% of trials accept falsely", how, idle.accepted * 100);
    ok(begun.accepted <= 0.05, "%s: %.1f %% with the first block from before", how,
       begun.accepted * 100);
    ok(idle.covered >= 0.90, "%s: the bounds hold 0 %% in %.1f %% of the trials", how,
       idle.covered * 100);
    ok(five.accepted >= 0.9 && five.median <= 250, "%s: 5 %% is found in %.0f steps (%.1f %%)", how,
       five.median, five.accepted * 100);
    ok(five.covered >= 0.90, "%s: the bounds hold 5 %% in %.1f %% of the trials", how,
       five.covered * 100);
    ok(ten.accepted >= 0.99 && ten.median <= 120, "%s: 10 %% is found in %.0f steps (%.1f %%)", how,
       ten.median, ten.accepted * 100);
    printf("# %s: an idle one is given up after %.0f steps, mean\n", how, idle.mean);
}

/* A trend alone, downwards: what is tried later looks faster. */
static void test_warming(void)
{
    int accepted = 0;

    for (int i = 0; i < USEFUL; i++) {
        struct noise n = noise_start((uint64_t)i + 1, true);
        bool covered;
        unsigned steps;

        n.trend = -0.001;
        accepted += by_trial(&n, 0, 1, &steps, &covered);
    }
    ok(accepted <= USEFUL / 20, "steps that get faster by 0.1 %% each: %d of %d accepted", accepted,
       USEFUL);
}

/* The price of believing two pairs, where steps spread 40 % and 70 %: of the latter both pairs of
 * an idle setting are above 1.5 in 4 % of the trials. */
static void test_at_once(double spread)
{
    int accepted = 0, at_once = 0;

    for (int i = 0; i < IDLE; i++) {
        struct noise n = noise_start((uint64_t)i + 1, false);
        struct trial t;

        trial_init(&t, NULL);
        while (t.verdict == TRIAL_RUNS)
            trial_steps(&t, trial_want(&t), step_s * exp(spread * noise_normal(&n)), 1);
        accepted += t.verdict == TRIAL_ACCEPT;
        at_once += t.at_once;
    }
    ok(accepted <= IDLE / 20, "steps that spread %.0f %%: %d of %d accepted", spread * 100,
       accepted, IDLE);
    ok(at_once <= IDLE / 200, "%d of the trials are accepted at once", at_once);
}

/* Steps of 5 ms, of which a block has 60: B's blocks end by what their steps take with A. */
static void test_fast(void)
{
    int n = IDLE / 2, idle = 0, found = 0, right = 0;
    double steps = 0;

    for (int i = 0; i < 2 * n; i++) {
        struct noise noise = noise_start((uint64_t)i + 1, true);
        double gain = i < n ? 0 : 3;
        struct trial_effect effect;
        struct trial t;

        noise.trend /= 10;
        trial_init(&t, NULL);
        while (t.verdict == TRIAL_RUNS) {
            bool b = trial_want(&t);

            trial_steps(&t, b, 0.005 * noise_next(&noise) / (b ? 1 + gain : 1), 1);
        }
        effect = trial_effect(&t);
        idle += i < n && t.verdict == TRIAL_ACCEPT;
        found += i >= n && t.verdict == TRIAL_ACCEPT;
        right += i >= n && effect.low <= gain && gain <= effect.high;
        steps += i >= n ? (double)t.steps / n : 0;
    }
    ok(idle <= n / 20, "steps of 5 ms: %d of %d idle ones accepted", idle, n);
    ok(found == n && steps < 300, "%d of %d four times as fast found, in %.0f steps", found, n,
       steps);
    ok(right >= n * 9 / 10, "the bounds of the effect hold in %d", right);
}

/* Guards of settings that pay 10 %, nothing, or stop paying after 1,000 of 4,000 steps. */
static bool guard_ends(uint64_t seed, double before, double after, unsigned *at)
{
    struct noise noise = noise_start(seed, true);
    struct recheck g;

    noise.trend = 0;
    recheck_init(&g, step_s / (1 + before), NULL);
    for (*at = 0; *at < 4000; (*at)++) {
        bool on = recheck_want(&g);
        double gain = on ? (*at < 1000 ? before : after) : 0;

        if (recheck_steps(&g, on, step_s * noise_next(&noise) / (1 + gain), 1) == GUARD_ROLL_BACK)
            return true;
    }
    return false;
}

static void test_guard(void)
{
    int kept = 0, ended = 0, n = USEFUL / 4;
    double late = 0;

    for (int i = 0; i < n; i++) {
        unsigned at;

        kept += !guard_ends((uint64_t)i + 1, 0.10, 0.10, &at);
        if (guard_ends((uint64_t)i + 1, 0.10, -0.10, &at)) {
            ended++;
            late += at - 1000.0;
        }
    }
    ok(kept >= n * 95 / 100, "%d of %d that pay 10 %% are kept", kept, n);
    ok(ended == n && late / n <= 400, "%d of %d that cost 10 %% go, after %.0f steps", ended, n,
       late / n);
}

/* Runs whose medians spread 2 %; setting 2 is that much faster. */
static unsigned race_once(uint64_t seed, double gain, unsigned *runs)
{
    struct noise n = noise_start(seed, false);
    struct race r;

    race_init(&r, 4, NULL);
    for (*runs = 0; race_want(&r) >= 0; (*runs)++)
        race_run(&r, exp(0.02 * noise_normal(&n)) / (race_want(&r) == 2 ? 1 + gain : 1));
    return r.winner;
}

static void test_race(void)
{
    int idle = 0, right = 0;
    double cost = 0;

    for (int i = 0; i < IDLE; i++) {
        unsigned runs;

        idle += race_once((uint64_t)i + 1, 0, &runs) != 0;
        right += race_once((uint64_t)i + 1, 0.15, &runs) == 2;
        cost += (double)runs / IDLE;
    }
    ok(idle <= IDLE / 20, "races of idle settings: %d of %d have a winner", idle, IDLE);
    ok(right >= IDLE * 9 / 10, "races with one that gains 15 %%: %d of %d right, %.1f runs", right,
       IDLE, cost);
}

int main(int argc, char **argv)
{
    test_race();
    if (argc > 1 && !strcmp(argv[1], "few"))
        return done();
    print_table();
    test_trials(false);
    test_trials(true);
    test_warming();
    test_at_once(0.4);
    test_at_once(0.7);
    test_fast();
    test_guard();
    return done();
}
