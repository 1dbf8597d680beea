/* Races run by run: whose turn it is, who is dropped when, who wins, and with what bounds. And the
 * numbers of the usual plans. */
#include "tune/trial/race.h"

#include <math.h>
#include <stdio.h>

#include "tap.h"
#include "tune/session.h"
#include "tune/trial/recheck.h"

#define NIL ((double)NAN) /* not known */

enum { SETTINGS = 4, RUNS_MOST = 60 };

/* The runs in their order, "|" where a round ends, then the winner and who is left. */
static void race_course(struct race *r, const double *times, double noise, char text[200])
{
    size_t len = 0;
    int at;

    for (int runs = 0; (at = race_want(r)) >= 0 && runs < RUNS_MOST; runs++) {
        unsigned round = r->round;

        race_run(r, times[at] * (1 + noise * ((runs * 7 + at * 3) % 5)));
        len += (size_t)snprintf(text + len, 200 - len, "%d%s", at, r->round > round ? "|" : "");
    }
    len += (size_t)snprintf(text + len, 200 - len, " %u of", r->winner);
    for (unsigned i = 0; i < r->n; i++)
        if (r->in[i])
            len += (size_t)snprintf(text + len, 200 - len, " %u", i);
}

static void test_courses(void)
{
    static const struct {
        const char *what;
        unsigned n;
        double times[SETTINGS], noise;
        const char *want;
    } cases[] = {
        { "twice as fast", 2, { 1, 0.5 }, 0, "01|10|01| 1 of 0 1" },
        { "as fast", 2, { 1, 1 }, 0, "01|10|01| 0 of 0" },
        { "faster by 1 %", 2, { 1, 1 / 1.01 }, 0, "01|10|01| 0 of 0" },
        { "faster by 3 %", 2, { 1, 1 / 1.03 }, 0, "01|10|01| 1 of 0 1" },
        { "slower", 2, { 1, 1.1 }, 0, "01|10|01| 0 of 0" },
        { "faster by 10 % in noise", 2, { 1, 1 / 1.1 }, 0.03, "01|10|01| 1 of 0 1" },
        { "faster by 30 % in noise", 2, { 1, 1 / 1.3 }, 0.03, "01|10|01| 1 of 0 1" },
        { "as fast in noise", 2, { 1, 1 }, 0.05, "01|10|01|10|01|10|01|10| 0 of 0 1" },
        { "the second and the third", 4, { 1, 0.8, 0.7, 1.2 }, 0, "0123|3210|0123| 2 of 0 2" },
        { "two of a kind",
          3,
          { 1, 0.7, 0.7 },
          0.02,
          "012|210|012|210|012|210|012|210| 1 of 0 1 2" },
        { "two alike", 3, { 1, 0.7, 0.7 }, 0, "012|210|012|210|012|210|012|210| 1 of 0 1 2" },
        { "one that fails", 3, { 1, 0, 0.7 }, 0, "012|20|02| 2 of 0 2" },
        { "one that is never done", 3, { 1, (double)INFINITY, 0.7 }, 0.01, "012|20|02| 2 of 0 2" },
        { "the last that fails", 3, { 1, 0.7, -1 }, 0, "012|10|01| 1 of 0 1" },
        { "the job that fails", 3, { NIL, 0.7, 0.6 }, 0, "0 0 of 1 2" },
        { "all that fail", 3, { 1, 0, 0 }, 0, "012 0 of 0" },
        { "four in noise", 4, { 1, 0.95, 0.9, 1.05 }, 0.02, "0123|3210|0123|20| 2 of 0 2" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[200] = "";
        struct race r;

        race_init(&r, cases[i].n, NULL);
        race_course(&r, cases[i].times, cases[i].noise, text);
        is_str(text, cases[i].want, "a race of settings has its course: %s", cases[i].what);
    }
}

/* Of two rounds, and of none. */
static void test_effects(void)
{
    struct trial_effect e;
    struct race r;

    race_init(&r, 3, NULL);
    e = race_effect(&r, 1);
    ok(isnan(e.gain) && e.low <= -1 && e.low >= -1 && isinf(e.high),
       "before a round is whole nothing is known");
    for (int i = 0; i < 3; i++)
        race_run(&r, i == 2 ? 0.8 : 1);
    e = race_effect(&r, 2);
    ok(fabs(e.gain - 0.25) < 1e-9 && isinf(e.high), "one round has a gain without bounds");
    for (int i = 2; i >= 0; i--)
        race_run(&r, i == 2 ? 0.82 : 1);
    for (int i = 0; i < 3; i++)
        race_run(&r, i == 2 ? 0.81 : 1.01);
    e = race_effect(&r, 2);
    ok(fabs(e.gain - 0.238732) < 1e-6 && fabs(e.low - 0.138519) < 1e-6 &&
           fabs(e.high - 0.347767) < 1e-6,
       "three rounds have bounds: %.6f, %.6f to %.6f", e.gain, e.low, e.high);
    e = race_effect(&r, 0);
    ok(fabs(e.gain) < 1e-12, "the job has no gain against itself");
}

static void test_limits(void)
{
    struct race_plan plan = race_plan_usual();
    struct race r;

    ok(plan.rounds == 8 && fabs(plan.alpha - 0.05) < 1e-12 && fabs(plan.futile - 0.2) < 1e-12 &&
           fabs(plan.least_gain - 0.02) < 1e-12 && fabs(plan.spread - 16) < 1e-12,
       "the usual race has eight rounds, and its errors");
    plan.rounds = 0;
    race_init(&r, 2, &plan);
    is_int((int)r.plan.rounds, 1, "a race has a round at least");
    plan.rounds = RACE_ROUNDS_MOST + 1;
    race_init(&r, RACE_MOST + 1, &plan);
    ok(r.plan.rounds == RACE_ROUNDS_MOST && r.n == RACE_MOST,
       "a race has as many rounds and settings as there is room for");
    ok(r.in[RACE_MOST - 1] && isnan(r.log_s[RACE_MOST - 1][RACE_ROUNDS_MOST - 1]),
       "the last setting has run in no round");
}

/* The numbers of the plans, which are measured ones. */
static void test_plans(void)
{
    const struct trial_plan t = trial_plan_usual(5), wild = trial_plan_wild(5, 0);
    const struct recheck_plan g = recheck_plan_usual(), never = recheck_plan_wild(0);
    const struct session_plan s = session_plan_usual();

    ok(t.block == 6 && fabs(t.block_s - 0.3) < 1e-12 && t.discard == 2 && t.pairs == 40,
       "a trial has blocks of 6 steps and 0.3 s, and 40 pairs at most");
    ok(fabs(t.alpha - 0.01) < 1e-12 && fabs(t.futile - 0.2) < 1e-12 &&
           fabs(t.least_gain - 0.02) < 1e-12 && fabs(t.spread - 1) < 1e-12,
       "a trial has its share of false accepts, and 2 %% as its least gain");
    ok(t.at_once && isnan(t.promise) && fabs(t.hurry - 3) < 1e-12 && !t.chance,
       "a trial accepts at once what is far ahead");
    ok(fabs(trial_plan_usual(0).alpha - 0.05) < 1e-12, "a trial of nobody has all of alpha");
    ok(wild.chance == 1 && wild.block == 6 && wild.pairs == 200 &&
           fabs(wild.alpha - 0.001) < 1e-12 && !wild.at_once && !(wild.hurry > 0),
       "a trial by chance has 200 pairs and a tenth of alpha");
    is_int((long long)trial_plan_wild(5, 7).chance, 7, "a trial by chance has its seed");
    ok(g.block == 10 && g.every == 100 && fabs(g.rest - 30) < 1e-12 &&
           fabs(g.slack - 0.03) < 1e-12 && fabs(g.limit - 0.25) < 1e-12,
       "a guard looks each 100 blocks of ten, or where 25 %% are lost");
    ok(g.check.pairs == 12 && !g.check.at_once && !(g.check.hurry > 0) &&
           !(g.check.least_gain > 0) && fabs(g.check.alpha - 0.05) < 1e-12,
       "a guard's check has twelve pairs, and takes nothing at once");
    ok(never.check.chance == 1 && fabs(never.check.alpha - 0.005) < 1e-12 &&
           fabs(never.check.futile - 0.005) < 1e-12 && recheck_plan_wild(9).check.chance == 9,
       "a guard by chance takes back on proof alone");
    ok(s.observe == 30 && s.canary == 8 && fabs(s.canary_slow - 3) < 1e-12 && s.guard == 300 &&
           s.switch_most == 200 && fabs(s.switch_s - 2) < 1e-12,
       "a session has its steps of each phase");
    ok(s.trials == 5 && s.steps == 5000 && isnan(s.seconds) && !s.chance && !s.numeric,
       "a session has five trials in 5,000 steps");
}

/* What a guard begins with, and what is left when it begins a check. */
static void test_recheck(void)
{
    struct recheck_plan plan = recheck_plan_usual();
    struct recheck g;

    recheck_init(&g, 0.1, NULL);
    ok(fabs(g.old_s - 0.6) < 1e-12 && g.plan.block == 10, "a guard takes a look for two blocks");
    recheck_steps(&g, true, (double)INFINITY, 1);
    recheck_steps(&g, true, 0, 1);
    recheck_steps(&g, true, -1, 1);
    ok(!g.n && !(g.since_s > 0), "a step that took no time does not count");
    recheck_steps(&g, true, 0.1, 3);
    ok(g.n == 1 && fabs(g.since_s - 0.3) < 1e-12, "steps that are told together count together");
    for (int i = 0; i < 99 && !g.checking; i++)
        recheck_steps(&g, true, 0.15, 1);
    ok(g.checking && g.alarmed && g.checks == 1, "steps that got slower begin a check");
    ok(!g.n && !g.blocks && !(g.sum > 0) && !(g.old_s > 0) && !(g.since_s > 0),
       "a check begins anew");
    plan.block = 0;
    recheck_init(&g, 0.1, &plan);
    is_int((int)g.plan.block, 1, "a block of a guard has a step at least");
    plan.block = TRIAL_BLOCK_MOST + 1;
    recheck_init(&g, 0.1, &plan);
    is_int((int)g.plan.block, TRIAL_BLOCK_MOST, "a block of a guard is as large as there is room");
    plan = recheck_plan_usual();
    plan.every = 3;
    recheck_init(&g, 0.1, &plan);
    g.old_s = 0.05;
    for (int i = 0; i < 29; i++)
        recheck_steps(&g, true, 0.1, 1);
    ok(!g.checking, "before three blocks are whole no check begins");
    recheck_steps(&g, true, 0.1, 1);
    ok(g.checking && !g.alarmed, "after three blocks, and 30 times a look, a check begins");
    recheck_init(&g, 0.1, &plan);
    g.old_s = 0.11;
    for (int i = 0; i < 30; i++)
        recheck_steps(&g, true, 0.1, 1);
    ok(!g.checking && g.blocks == 3, "a check waits for 30 times what a look takes");
    recheck_steps(&g, false, 0.1, 1);
    ok(!g.n, "a step without the setting does not count for a guard");
}

int main(void)
{
    test_recheck();
    test_courses();
    test_effects();
    test_limits();
    test_plans();
    return done();
}
