/* What optimize tried on a run: which time is without a trial, and what is said of it. */
#include "model/job/tuning.h"

#include <math.h>

#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

enum { TRIALS = 4, ROOM = 4096 };

static struct run_trial a_trial(enum run_trial_end end, int64_t from_s, int64_t to_s)
{
    return (struct run_trial){ .knob = "loader.workers",
                               .value = "5",
                               .before = "0",
                               .end = end,
                               .gain = 3.8,
                               .low = 3.7,
                               .high = 3.9,
                               .speed = (double)NAN,
                               .steps = 725,
                               .begin_ns = from_s * S,
                               .end_ns = to_s * S };
}

static struct run_tuning a_tuning(struct run_trial *trials, size_t n)
{
    return (struct run_tuning){ .before = { 185, 1480, (double)NAN },
                                .after = { 893, 7144, (double)NAN },
                                .trials = trials,
                                .n_trials = n };
}

static void is_stretch(const struct run_tuning *t, int64_t from_s, int64_t to_s, const char *what)
{
    const struct run_span s = run_tuning_stretch(t, 10 * S, 100 * S);

    ok(s.from_ns == from_s * S && s.to_ns == to_s * S, "%s: %lld to %lld s", what,
       (long long)(s.from_ns / S), (long long)(s.to_ns / S));
}

static void test_stretch(void)
{
    struct run_trial k[TRIALS] = { a_trial(RUN_TRIAL_REJECTED, 12, 20),
                                   a_trial(RUN_TRIAL_ADOPTED, 30, 40),
                                   a_trial(RUN_TRIAL_REJECTED, 50, 60),
                                   a_trial(RUN_TRIAL_RUNS, 90, 0) };
    struct run_tuning t = a_tuning(k, 0);

    is_stretch(NULL, 10, 100, "a run without a tuning is one stretch");
    is_stretch(&t, 10, 100, "a run without trials is one stretch");
    t.n_trials = 1;
    is_stretch(&t, 20, 100, "the longer side of a rejected trial is the stretch");
    t.n_trials = 2;
    is_stretch(&t, 40, 100, "the stretch begins when a setting was kept");
    t.n_trials = 3;
    is_stretch(&t, 60, 100, "a trial behind the kept one parts the rest of the run");
    t.n_trials = 4;
    is_stretch(&t, 60, 90, "a trial that nobody saw the end of lasts to the run's end");
    k[1].end = RUN_TRIAL_ROLLED_BACK;
    is_stretch(&t, 60, 90, "a setting that did not last counts as a trial until it went");
    k[1].end = RUN_TRIAL_ADOPTED;
    k[1].begin_ns = 0;
    t.n_trials = 2;
    is_stretch(&t, 20, 100, "a setting of a restart is in force from the run's begin on");
    k[1] = a_trial(RUN_TRIAL_ADOPTED, 90, 100);
    is_stretch(&t, 100, 100, "a setting that was kept as the run ended leaves no stretch");
}

/* Of stretches that are as long the first counts; a trial of a restart takes none of the run. */
static void test_which_stretch(void)
{
    struct run_trial k[TRIALS] = { a_trial(RUN_TRIAL_REJECTED, 40, 70),
                                   a_trial(RUN_TRIAL_REJECTED, 0, 99) };
    struct run_tuning t = a_tuning(k, 1);

    is_stretch(&t, 10, 40, "of two stretches of 30 s the first counts");
    t.n_trials = 2;
    is_stretch(&t, 10, 40, "a trial while the job did not run parts nothing");
    k[1] = a_trial(RUN_TRIAL_REJECTED, 5, 20);
    is_stretch(&t, 70, 100, "a trial that began before the run takes its begin");
    k[1] = a_trial(RUN_TRIAL_REJECTED, 45, 60);
    is_stretch(&t, 10, 40, "a trial within another parts nothing more");
    k[1] = a_trial(RUN_TRIAL_REJECTED, 5, 10);
    is_stretch(&t, 10, 40, "a trial that ended as the run began parts nothing");
    k[1] = a_trial(RUN_TRIAL_REJECTED, 96, 97);
    is_stretch(&t, 10, 40, "the longest of three stretches counts");
    k[0] = a_trial(RUN_TRIAL_ADOPTED, 15, 20);
    k[1] = a_trial(RUN_TRIAL_ADOPTED, 12, 14);
    is_stretch(&t, 20, 100, "the setting that was kept last begins the stretch");
}

static void is_effect(double gain, double low, double high, enum run_goal goal, const char *want)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);

    run_effect_say(gain, low, high, goal, &text);
    is_str(str_text(&text), want, "a gain of %g (%g to %g) for goal %d has its words", gain, low,
           high, (int)goal);
}

static void test_effects(void)
{
    const double inf = (double)INFINITY;

    is_effect(1, 0.5, 2, RUN_GOAL_THROUGHPUT, "2.0 times as fast (1.5 to 3.0)");
    is_effect(0.999, 0.5, 2, RUN_GOAL_THROUGHPUT, "+99.9 % steps/s (+50.0 to +200.0 %)");
    is_effect(1, 0.5, inf, RUN_GOAL_ENERGY, "2.0 times the steps/J");
    is_effect(1, -inf, 2, RUN_GOAL_COST, "2.0 times the steps for the money");
    is_effect(-0.5, -0.6, -0.4, RUN_GOAL_COST, "-50.0 % steps for the money (-60.0 to -40.0 %)");
}

static void test_kept(void)
{
    struct run_trial k[2] = { a_trial(RUN_TRIAL_ADOPTED, 1, 2), a_trial(RUN_TRIAL_ADOPTED, 3, 4) };
    const struct run_tuning t = a_tuning(k, 2);

    k[1].value = "13";
    k[1].also = "loader.persistent";
    is_str(run_tuning_kept(&t, "loader.workers"), "13", "the value that was kept last is in force");
    is_str(run_tuning_kept(&t, "loader.persistent"), "yes", "what goes with a setting is in force");
    ok(!run_tuning_kept(&t, "loader.pin"), "nothing is kept of another knob");
    ok(!run_tuning_kept(NULL, "loader.workers"), "nothing is kept in a run without a tuning");
    k[1].end = RUN_TRIAL_REJECTED;
    is_str(run_tuning_kept(&t, "loader.workers"), "5", "a rejected value is not in force");
}

static void is_said(const struct run_tuning *t, const char *want, const char *what)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);

    run_tuning_say(t, &text);
    is_str(str_text(&text), want, "%s", what);
}

static void test_kept_words(void)
{
    struct run_trial k[3] = { a_trial(RUN_TRIAL_ADOPTED, 1, 2), a_trial(RUN_TRIAL_REJECTED, 3, 4),
                              a_trial(RUN_TRIAL_FAILED, 5, 6) };
    struct run_tuning t = a_tuning(k, 1);

    is_said(&t,
            "brim optimize gained 4.8 times as fast, 185 steps/s before and 893 after: "
            "loader.workers=5 instead of 0, 4.8 times as fast (4.7 to 4.9) in 725 steps",
            "the sentence has before, after, and the setting with its proof");
    t.n_trials = 3;
    k[2].note = "the job died (signal 9) while it was tried";
    k[2].before = NULL;
    is_said(&t,
            "brim optimize gained 4.8 times as fast, 185 steps/s before and 893 after: "
            "loader.workers=5 instead of 0, 4.8 times as fast (4.7 to 4.9) in 725 steps; "
            "loader.workers=5 failed: the job died (signal 9) while it was tried; 1 other did not "
            "pay",
            "the sentence tells of a trial in which the job died");
    t.n_trials = 1;
    k[0].also = "loader.persistent";
    k[0].starts = 3;
    t.after.steps_per_s = (double)NAN;
    is_said(&t,
            "brim optimize kept what paid, and the job ended before its speed with that was seen: "
            "loader.workers=5 with loader.persistent=yes instead of 0, 4.8 times as fast (4.7 to "
            "4.9) in 725 steps of 3 starts",
            "the sentence says that nothing was seen after the setting was kept");
}

static void test_other_goals(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    struct run_trial k = a_trial(RUN_TRIAL_ADOPTED, 1, 2);
    struct run_tuning t = a_tuning(&k, 1);

    k.gain = 0.25;
    k.low = 0.246;
    k.high = (double)NAN;
    k.speed = -0.02;
    t.goal = RUN_GOAL_ENERGY;
    t.before.price = 3.5;
    t.after.price = 2.8;
    is_said(&t,
            "brim optimize gained +25.0 % steps/J, 3.5 J a step before and 2.8 J after: "
            "loader.workers=5 instead of 0, +25.0 % steps/J at -2.0 % steps/s in 725 steps",
            "the sentence of the energy goal is in joules");
    t.goal = RUN_GOAL_COST;
    t.before.price = 6e-6;
    t.after.price = 2e-6;
    is_said(&t,
            "brim optimize gained 3.0 times the steps for the money, a million steps for 6 before "
            "and for 2 after: loader.workers=5 instead of 0, +25.0 % steps for the money at -2.0 % "
            "steps/s in 725 steps",
            "the sentence of the cost goal is in money");
    ok(run_tuning_gain(&t, &text) && !strcmp(str_text(&text), "3.0 times the steps for the money"),
       "the gain alone is that of all settings: %s", str_text(&text));
}

/* Figures have three digits that count, prices of a million steps four. */
static void test_digits(void)
{
    struct run_trial k = a_trial(RUN_TRIAL_ADOPTED, 1, 2);
    struct run_tuning t = a_tuning(&k, 1);

    k.before = NULL;
    t.before = (struct run_rates){ 1.23456, 10, 4.56789 };
    t.after = (struct run_rates){ 2.34567, 20, 1.23456 };
    is_said(&t,
            "brim optimize gained +90.0 % steps/s, 1.23 steps/s before and 2.35 after: "
            "loader.workers=5, 4.8 times as fast (4.7 to 4.9) in 725 steps",
            "rates have three digits");
    t.goal = RUN_GOAL_ENERGY;
    k.gain = (double)NAN;
    k.speed = 0.1;
    is_said(&t,
            "brim optimize gained 3.7 times the steps/J, 4.57 J a step before and 1.23 J after: "
            "loader.workers=5, not measured in 725 steps",
            "joules have three digits, and what was not measured has no speed");
    t.goal = RUN_GOAL_COST;
    t.before.price = 1.234567e-6;
    t.after.price = 1.123456e-6;
    k.steps = 0;
    k.starts = 2;
    is_said(&t,
            "brim optimize gained +9.9 % steps for the money, a million steps for 1.235 before and "
            "for 1.123 after: loader.workers=5, not measured",
            "prices have four digits, and starts without steps are not told");
}

static void test_vain_words(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    struct run_trial k[5] = { a_trial(RUN_TRIAL_REJECTED, 1, 2), a_trial(RUN_TRIAL_UNDECIDED, 3, 4),
                              a_trial(RUN_TRIAL_ROLLED_BACK, 5, 6),
                              a_trial(RUN_TRIAL_REJECTED, 7, 8), a_trial(RUN_TRIAL_RUNS, 9, 0) };
    struct run_tuning t = a_tuning(k, 0);

    is_said(&t, "brim optimize found no setting that was worth a trial",
            "the sentence says that nothing was tried");
    t.n_trials = 1;
    k[0].gain = -0.031;
    k[0].low = -0.04;
    k[0].high = -0.02;
    is_said(&t,
            "brim optimize tried 1 setting and kept none: loader.workers=5 instead of 0, -3.1 % "
            "steps/s (-4.0 to -2.0 %) in 725 steps, taken back",
            "the sentence says what was tried in vain");
    t.n_trials = 5;
    for (int i = 1; i < 5; i++)
        k[i].gain = (double)NAN;
    is_said(&t,
            "brim optimize tried 5 settings and kept none: loader.workers=5 instead of 0, -3.1 % "
            "steps/s (-4.0 to -2.0 %) in 725 steps, taken back; loader.workers=5 instead of 0, "
            "undecided and taken back; loader.workers=5 instead of 0, kept, and taken back as it "
            "did not last; loader.workers=5 instead of 0, on trial when brim was ended; 1 other "
            "did not pay",
            "the sentence names three settings and counts the others");
    ok(!run_tuning_gain(&t, &text), "there is no gain where nothing was kept");
}

static void test_names(void)
{
    for (int i = 0; i < RUN_TRIAL_ENDS; i++) {
        enum run_trial_end e = RUN_TRIAL_ENDS;

        ok(run_trial_end_find(run_trial_end_name((enum run_trial_end)i), &e) && (int)e == i,
           "the outcome %s is found by its name", run_trial_end_name((enum run_trial_end)i));
    }
    for (int i = 0; i <= RUN_GOAL_COST; i++) {
        enum run_goal g = RUN_GOAL_THROUGHPUT;

        ok(run_goal_find(run_goal_name((enum run_goal)i), &g) && (int)g == i,
           "the goal %s is found by its name", run_goal_name((enum run_goal)i));
    }
    ok(!run_trial_end_find("kept", &(enum run_trial_end){ 0 }) &&
           !run_goal_find("speed", &(enum run_goal){ 0 }),
       "words that are no names are not found");
}

int main(void)
{
    test_stretch();
    test_which_stretch();
    test_effects();
    test_digits();
    test_kept();
    test_kept_words();
    test_other_goals();
    test_vain_words();
    test_names();
    return done();
}
