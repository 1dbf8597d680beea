/* Trials, guards and races step by step, with times that are chosen: what they want, what they
 * leave out, when they stop. How often they are wrong is in stats.c. */
#include <math.h>

#include "noise.h"
#include "tap.h"
#include "tune/trial/race.h"
#include "tune/trial/recheck.h"
#include "tune/trial/trial.h"

static struct trial_plan small_plan(void)
{
    struct trial_plan plan = trial_plan_usual(1);

    plan.block = 3;
    plan.block_s = 0;
    return plan;
}

static void test_sequence(void)
{
    struct sequence s = { .n = 0 };
    double first;

    sequence_add(&s, 0.1);
    ok(isinf(sequence_half(&s, 0.05, 1)), "one difference proves nothing");
    sequence_add(&s, (double)NAN);
    sequence_add(&s, (double)INFINITY);
    is_int((long long)s.n, 1, "what is not finite is left out");
    sequence_add(&s, 0.1);
    ok(isinf(sequence_half(&s, 0.05, 1)), "two differences prove nothing");
    for (int i = 0; i < 4; i++)
        sequence_add(&s, i % 2 ? 0.12 : 0.08);
    first = sequence_half(&s, 0.05, 1);
    ok(first > 0 && first < 0.1, "six that agree do");
    ok(sequence_half(&s, 0.01, 1) > first, "a smaller alpha has wider bounds");
    for (int i = 0; i < 20; i++)
        sequence_add(&s, i % 2 ? 0.12 : 0.08);
    ok(sequence_half(&s, 0.05, 1) < first, "more differences have narrower ones");
    s = (struct sequence){ .n = 100, .mean = 0.1 };
    ok(sequence_half(&s, 0.05, 1) > 0, "equal ones keep some spread");
}

static void test_order(void)
{
    struct trial_plan plan = small_plan();
    struct trial t;
    char order[40] = "";

    trial_init(&t, &plan);
    for (int i = 0; i < 36; i++) {
        order[i] = trial_want(&t) ? 'B' : 'A';
        trial_steps(&t, trial_want(&t), i % 2 ? 0.11 : 0.1, 1);
    }
    is_str(order, "AAAAABBBBBBBBAAAAAAAABBBBBBBBAAAAAAA",
           "A B B A: two are left out after each change, none where nothing changes");
    is_int((long long)t.pairs.n, 4, "eight whole blocks make four pairs");
}

static void test_left_out(void)
{
    struct trial_plan plan = small_plan();
    struct trial t;

    trial_init(&t, &plan);
    trial_steps(&t, true, 0.1, 1);
    is_int(t.steps, 0, "a step with what is not wanted does not count");
    for (int i = 0; i < 2; i++)
        trial_steps(&t, false, 100, 1);
    trial_steps(&t, false, 0, 1);
    trial_steps(&t, false, (double)NAN, 1);
    trial_steps(&t, false, -1, 1);
    is_int(t.n, 0, "the first two steps and times that are none do not count");
    for (int i = 0; i < 3; i++)
        trial_steps(&t, false, 0.1, 1);
    ok(t.blocks == 1 && t.without > 0.099 && t.without < 0.101, "three others are a block");
    plan.block_s = 1;
    trial_init(&t, &plan);
    for (int i = 0; i < 2 + 9; i++)
        trial_steps(&t, false, 0.1, 1);
    is_int(t.blocks, 0, "a block lasts its time");
    for (int i = 0; i < 2; i++)
        trial_steps(&t, false, 0.1, 1);
    is_int(t.blocks, 1, "a block ends after its time");
    trial_init(&t, &plan);
    for (int i = 0; i < 2 + TRIAL_BLOCK_MOST; i++)
        trial_steps(&t, false, 1e-6, 1);
    is_int(t.blocks, 1, "a block ends with %d steps", TRIAL_BLOCK_MOST);
}

static int add_block(char *to, bool b, unsigned steps, unsigned skipped)
{
    return snprintf(to, 40, "%c%u-%u ", b ? 'B' : 'A', steps, skipped);
}

/* Blocks until the verdict; of each the setting, its steps and those left out into text:
 * "A12-2 B12-2 ". */
static void run_blocks(struct trial *t, double a_s, double b_s, double last_a_s, char *text)
{
    for (unsigned block = 0; t->verdict == TRIAL_RUNS && block < 6; block++) {
        bool b = trial_want(t);
        unsigned before = t->steps, blocks = t->blocks, skipped = 0;

        while (t->verdict == TRIAL_RUNS && t->blocks == blocks && t->steps - before < 999) {
            skipped += trial_skips(t);
            trial_steps(t, b, b ? b_s : block < 2 ? a_s : last_a_s, 1);
        }
        text += add_block(text, b, t->steps - before, skipped);
    }
}

/* Of a B that is much faster as many steps are enough as of A. */
static void test_fast(void)
{
    struct trial_plan plan = small_plan();
    struct trial t;
    char text[200];

    plan.block_s = 1;
    plan.hurry = 0;
    trial_init(&t, &plan);
    run_blocks(&t, 0.1001, 0.005, 0.1001, text);
    is_str(text, "A12-2 B12-2 B10-0 A12-2 ", "as many steps of B as A takes in its seconds");
    is_int(t.verdict, TRIAL_ACCEPT, "as many steps of B as of A are enough to accept it");
    plan.at_once = false;
    trial_init(&t, &plan);
    run_blocks(&t, 0.1001, 0.2501, 0.1001, text);
    ok(!strncmp(text, "A12-2 B6-2 B4-0 A12-2 ", 22), "of a slower one its own count: %s", text);
}

static void test_hurry(void)
{
    struct trial_plan plan = small_plan();
    struct trial_effect effect;
    struct trial t;
    char text[200];

    plan.block_s = 1;
    trial_init(&t, &plan);
    run_blocks(&t, 0.1001, 0.005, 0.1101, text);
    is_str(text, "A12-2 B12-2 A12-2 ", "a B that is far ahead is left for another look at A");
    is_int(t.verdict, TRIAL_ACCEPT, "a B that is far ahead is accepted when A is as it was");
    effect = trial_effect(&t);
    ok(effect.low > 15 && effect.gain > 19 && effect.gain < 21 && effect.high < 25,
       "B is %.1f times as fast, between %.1f and %.1f", 1 + effect.gain, 1 + effect.low,
       1 + effect.high);
    trial_init(&t, &plan);
    run_blocks(&t, 0.1001, 0.005, 0.005, text);
    ok(t.verdict == TRIAL_RUNS && t.hurried && t.blocks == 3 && t.pairs.n == 1,
       "when all has become as fast it begins anew: %s", text);
    ok(t.steps > 200, "the steps of all blocks are counted");
    trial_init(&t, &plan);
    run_blocks(&t, 0.1001, 0.04, 0.1001, text);
    is_str(text, "A12-2 B12-2 B10-0 A12-2 ", "2.5 times is not far");
    trial_init(&t, &plan);
    t.hurried = true;
    run_blocks(&t, 0.1001, 0.005, 0.1001, text);
    is_str(text, "A12-2 B12-2 B10-0 A12-2 ", "one that was in a hurry in vain is in none again");
}

static enum trial_verdict run(struct trial *t, double a, double b, double wave)
{
    for (int i = 0; t->verdict == TRIAL_RUNS && i < 100000; i++)
        trial_steps(t, trial_want(t),
                    (trial_want(t) ? b : a) * (1 + wave * ((i / 4 * 7 + i) % 5 - 2)), 1);
    return t->verdict;
}

/* Steps that a trial takes whose steps of A take 0.1 s, give or take a tenth, and of B so many
 * times that; accepted: whether B was. */
static unsigned steps_spent(double promise, double times, bool *accepted)
{
    struct trial_plan plan = trial_plan_usual(5);
    struct noise n = noise_start(7, false);
    struct trial t;

    plan.promise = promise;
    trial_init(&t, &plan);
    while (t.verdict == TRIAL_RUNS) {
        bool b = trial_want(&t);

        trial_steps(&t, b, 0.1 * noise_next(&n) * (b ? times : 1), 1);
    }
    *accepted = t.verdict == TRIAL_ACCEPT;
    return t.steps;
}

static void test_lost(void)
{
    bool accepted;
    unsigned steps;

    steps = steps_spent((double)NAN, 1.6, &accepted);
    ok(steps > 50 && !accepted, "a trial that may not give up takes %u steps", steps);
    steps = steps_spent(0, 1.6, &accepted);
    ok(steps <= 20 && !accepted, "a B that is far slower is given up after %u steps", steps);
    steps = steps_spent(4, 1, &accepted);
    ok(steps <= 50 && !accepted, "a B that changes nothing and promised 5 times: %u steps", steps);
    steps = steps_spent(0.1, 1, &accepted);
    ok(steps > 50 && !accepted, "a B that promised 10 %% is looked at longer: %u steps", steps);
    steps_spent(4, 1 / 1.3, &accepted);
    ok(accepted, "a B that promised 5 times and is faster by 30 %% is taken");
    steps_spent(0, 1 / 1.1, &accepted);
    ok(accepted, "a B that is faster by 10 %% is taken");
}

static void test_verdicts(void)
{
    struct trial_plan plan = small_plan();
    struct trial_effect effect;
    struct trial t;

    trial_init(&t, &plan);
    is_int(run(&t, 0.2, 0.1, 0.01), TRIAL_ACCEPT, "a setting twice as fast is accepted");
    effect = trial_effect(&t);
    ok(t.pairs.n == 2 && effect.low > 0.5 && effect.gain > 0.9 && effect.high < 2,
       "a setting twice as fast is accepted at once: %.2f to %.2f", effect.low, effect.high);
    is_int(trial_steps(&t, false, 1, 1), TRIAL_ACCEPT, "a verdict stays when more steps come");
    plan.at_once = false;
    trial_init(&t, &plan);
    ok(run(&t, 0.2, 0.1, 0.01) == TRIAL_ACCEPT && t.pairs.n > 2,
       "a setting twice as fast is accepted later where nothing is at once");
    plan.at_once = true;
    trial_init(&t, &plan);
    is_int(run(&t, 0.1, 0.12, 0.01), TRIAL_REJECT, "a slower setting is rejected");
    trial_init(&t, &plan);
    is_int(run(&t, 0.1, 0.1, 0.01), TRIAL_REJECT, "a setting that changes nothing is rejected");
    trial_init(&t, &plan);
    is_int(run(&t, 0.101, 0.1, 0.001), TRIAL_REJECT, "faster by 1 %%, for sure, is not worth it");
    plan.futile = 1e-300;
    trial_init(&t, &plan);
    is_int(run(&t, 0.101, 0.1, 0.001), TRIAL_UNDECIDED, "however long one looks");
    ok(trial_effect(&t).low > 0, "though it is faster");
    plan.futile = 0.2;
    plan.pairs = 4;
    trial_init(&t, &plan);
    is_int(run(&t, 0.103, 0.1, 0.2), TRIAL_UNDECIDED, "four pairs do not do for 3 %% in noise");
    trial_init(&t, NULL);
    effect = trial_effect(&t);
    ok(isnan(effect.gain) && isinf(effect.high), "before anything ran nothing is known");
}

/* A guard's check of a setting that is that much faster, of steps that differ by 40 %: some time,
 * or since steps had got slower. */
static enum recheck_verdict checked(double faster, bool slower)
{
    struct recheck g;

    recheck_init(&g, slower ? 0.05 : 0.1, NULL);
    for (int i = 0; i < 1000 && !g.checking; i++)
        recheck_steps(&g, true, 0.1, 1);
    ok(g.checking && g.alarmed == slower, "the guard checks a setting that may have got slower");
    for (int i = 0; g.checking && i < 9999; i++)
        recheck_steps(&g, recheck_want(&g),
                      0.1 * (1 + 0.05 * (i / 4 * i % 9)) / (recheck_want(&g) ? faster : 1), 1);
    ok(g.check.verdict == TRIAL_UNDECIDED, "a check without proof, mean %+.3f", g.check.pairs.mean);
    return g.verdict;
}

static void test_guard(void)
{
    struct recheck g;
    int i;

    recheck_init(&g, 0.1, NULL);
    for (i = 0; i < 999; i++)
        recheck_steps(&g, true, 0.1, 1);
    ok(!g.checks && recheck_want(&g), "steps as expected are let be");
    recheck_steps(&g, true, 0.1, 1);
    ok(g.checking && !recheck_want(&g), "every 1,000 of them the old setting is looked at");
    recheck_init(&g, 0.1, NULL);
    for (i = 0; i < 999 && !g.checks; i++)
        recheck_steps(&g, true, 0.12, 1);
    ok(i <= 60, "steps 20 %% slower are looked into after %d", i);
    for (i = 0; i < 999 && g.checking; i++)
        recheck_steps(&g, recheck_want(&g), recheck_want(&g) ? 0.12 + i % 3 * 1e-3 : 0.15, 1);
    ok(!g.checking && g.verdict == GUARD_KEEP, "the old one is slower still: it is kept");
    for (i = 0; i < 999 && g.checks == 1; i++)
        recheck_steps(&g, true, 0.12, 1);
    is_int(i, 999, "what is normal now is learnt");
    for (i = 0; i < 999 && g.verdict == GUARD_KEEP; i++)
        recheck_steps(&g, recheck_want(&g), recheck_want(&g) ? 0.16 + i % 3 * 1e-3 : 0.15, 1);
    is_int(g.verdict, GUARD_ROLL_BACK, "a setting slower than the old one is rolled back");
    is_int(recheck_steps(&g, true, 0.01, 1), GUARD_ROLL_BACK,
           "a setting that was rolled back stays so");
    recheck_init(&g, 0.05, NULL);
    for (i = 0; i < 999 && (!g.checks || g.checking); i++)
        recheck_steps(&g, recheck_want(&g), recheck_want(&g) ? 0.1 : 0.5 + i % 3 * 1e-3, 1);
    ok(g.verdict == GUARD_KEEP && g.check.blocks % 4 == 0 && !g.check.at_once,
       "of one that is far slower all blocks are looked at");
    is_int(checked(1.0, false), GUARD_ROLL_BACK, "the same as the old one, in noise: rolled back");
    is_int(checked(1.03, false), GUARD_KEEP, "3 %% faster, in noise that hides it: kept");
    is_int(checked(1.02, true), GUARD_ROLL_BACK, "2 %% are too few when steps had got slower");
    is_int(checked(1.05, true), GUARD_KEEP,
           "a setting that is 5 %% faster is kept though steps had got slower");
    recheck_init(&g, (double)NAN, NULL);
    recheck_steps(&g, true, (double)NAN, 1);
    recheck_steps(&g, false, 0.1, 1);
    is_int(g.n, 0, "what is no step with it does not count");
}

static void test_race(void)
{
    static const double times[] = { 1, 1.1, 0.8, 0.99 };
    struct race r;
    int runs, last = 0;

    race_init(&r, 4, NULL);
    is_int(race_want(&r), 0, "the old setting runs first");
    for (runs = 0; race_want(&r) >= 0 && runs < 100; runs++) {
        last = race_want(&r);
        race_run(&r, times[last] * (1 + 0.002 * (runs % 3)));
    }
    is_int(r.winner, 2, "the fastest wins, after %d runs", runs);
    ok(!r.in[1] && !r.in[3], "the others were dropped");
    ok(race_effect(&r, 2).low > 0 && race_effect(&r, 1).high < 0.02,
       "the winner's bounds exclude the loser's");
    race_run(&r, 0.1);
    is_int(r.winner, 2, "more runs change nothing");

    race_init(&r, 3, NULL);
    race_run(&r, 1);
    race_run(&r, (double)NAN);
    ok(!r.in[1] && race_want(&r) == 2, "a run that fails drops its setting");
    race_run(&r, 1);
    is_int(race_want(&r), 2, "the next round goes the other way");
    race_run(&r, 0);
    is_int(race_want(&r), -1, "with one left it is over");
    is_int(r.winner, 0, "a race with one left has no winner");
    ok(isnan(race_effect(&r, 1).gain), "of what never ran nothing is known");
    race_init(&r, 2, NULL);
    race_run(&r, (double)NAN);
    is_int(race_want(&r), -1, "a race without the old setting has nobody to run");
    race_init(&r, 1, NULL);
    is_int(race_want(&r), -1, "one alone does not race");
}

int main(void)
{
    test_sequence();
    test_order();
    test_left_out();
    test_fast();
    test_hurry();
    test_lost();
    test_verdicts();
    test_guard();
    test_race();
    return done();
}
