/* What a session counts up to: its budget of steps, the steps of a switch, what it writes down; and
 * what a trial is told of its candidate. */
#include "tune/session.h"

#include <math.h>
#include <stdlib.h>

#include "knobs_ini.h"
#include "tap.h"

static struct knobs knobs;

static struct session_command steps(struct session *s, unsigned n, double seconds)
{
    return session_event(
        s, &(const struct session_event){ .kind = SESSION_STEP, .seconds = seconds, .steps = n });
}

static struct session_command switched(struct session *s)
{
    return session_event(s, &(const struct session_event){ .kind = SESSION_SWITCHED });
}

static struct candidate workers(const char *value, double gain)
{
    return (struct candidate){ .knob = knobs_find(&knobs, "loader.workers"),
                               .value = value,
                               .before = "0",
                               .gain = gain,
                               .why = "why" };
}

/* A session that asks, with steps of 0.1 s. */
static struct session asking(const struct session_plan *plan)
{
    struct session s;

    session_init(&s, plan);
    while (s.phase != PHASE_ASK)
        steps(&s, 1, 0.1);
    return s;
}

/* The usual budget: 5,000 steps. */
static void test_budget(void)
{
    const struct candidate c = workers("4", 5);
    struct session s = asking(NULL);

    steps(&s, 5000 - s.steps, 0.1);
    is_int(session_offer(&s, &c, 1).what, SESSION_APPLY, "a trial begins after 5,000 steps");
    s = asking(NULL);
    steps(&s, 5001 - s.steps, 0.1);
    is_int(session_offer(&s, &c, 1).what, SESSION_FINISH, "no trial begins after 5,001 steps");
    is_str(s.reason, "the budget is used up", "the reason is the budget of steps");
}

/* What a switch takes: more than 200 steps, and more than 2 s. */
static void test_switch(void)
{
    static const struct {
        unsigned n;
        double seconds;
        bool late;
    } waits[] = {
        { 200, 1, false },           { 201, 1, true }, { 256, 0.0078125, false }, /* 2 s */
        { 288, 0.0078125, true },                                                 /* 2.25 s */
        { 300, (double)NAN, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
        const struct candidate c = workers("4", 5);
        struct session s = asking(NULL);

        session_offer(&s, &c, 1);
        for (int k = 0; k < (isnan(waits[i].seconds) ? 3 : 1); k++)
            steps(&s, waits[i].n, waits[i].seconds);
        ok((s.phase == PHASE_UNDO) == waits[i].late,
           "a switch that takes %u steps of %g s is given up: %d", waits[i].n, waits[i].seconds,
           waits[i].late);
    }
}

/* How many of these a session writes down. */
static unsigned left(struct session *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char value[16];
        struct candidate c;

        snprintf(value, sizeof(value), "%u", i);
        c = workers(value, 1);
        session_leave(s, &c, "the driver will not");
    }
    return s->n_entries;
}

/* Trials find room whatever was left before them. */
static void test_entries(void)
{
    const unsigned room = SESSION_ENTRIES - SESSION_TRIALS;
    const struct session_entry of = { .knob = "loader.prefetch", .before = "2" };
    struct session s = asking(NULL);

    ok(!session_has(&s, "", ""), "a session that tried nothing has no setting without a name");
    is_int(left(&s, room - 1), room - 1, "what is left is written down");
    session_refuse(&s, &of, "4", "no memory");
    is_int(s.n_entries, room, "a value that is refused is written down");
    ok(s.entries[room - 1].refused && s.entries[room - 1].outcome == SESSION_BROKE,
       "a value that is refused is marked so");
    is_str(s.entries[room - 1].value, "4", "a value that is refused has an entry of its own");
    is_str(s.entries[room - 1].before, "2", "what is refused has the value of before");
    session_refuse(&s, &of, "8", "no memory");
    is_int(left(&s, 2 * room), room, "nothing is written down where trials need the room");
    ok(!session_has(&s, "", ""), "a session that is full has no setting without a name");
    s = asking(NULL);
    session_refuse(&s, &of, "4", "no memory");
    session_refuse(&s, &of, "4", "no memory");
    is_int(s.n_entries, 1, "a value is refused once");
}

/* Workers from a number on, as candidates. */
static void make_list(struct candidate *list, char (*values)[16], unsigned n, unsigned from)
{
    for (unsigned i = 0; i < n; i++) {
        snprintf(values[i], sizeof(values[i]), "%u", from + i);
        list[i] = workers(values[i], 5);
    }
}

/* The trials of a session whose list of what was left is full: all fail. */
static void test_trials(void)
{
    static const struct session_event failed = { .kind = SESSION_FAILED };
    char values[SESSION_OFFERS][16];
    struct candidate list[SESSION_OFFERS];
    struct session_plan plan = session_plan_usual();
    struct session s;

    plan.trials = 100;
    s = asking(&plan);
    left(&s, 100);
    make_list(list, values, SESSION_OFFERS, 100);
    for (unsigned i = 0; s.phase != PHASE_OVER && i < 100; i++) {
        session_offer(&s, list, SESSION_OFFERS);
        session_event(&s, &failed);
        switched(&s);
        for (unsigned k = 0; s.phase == PHASE_OBSERVE && k < 100; k++)
            steps(&s, 1, 0.1);
    }
    is_int(s.trials, SESSION_TRIALS, "a session has 12 trials at most");
    is_int(s.n_entries, SESSION_ENTRIES, "each trial of a session is written down");
    is_str(s.entries[SESSION_ENTRIES - 1].note, "it failed", "a failure without a reason is told");
    is_str(s.reason, "as many settings were tried as were to be", "the reason is their number");
}

/* Of a long list the first 16. */
static void test_offers(void)
{
    char values[2 * SESSION_OFFERS][16];
    struct candidate list[2 * SESSION_OFFERS];
    struct session s = asking(NULL);

    make_list(list, values, ARRAY_SIZE(list), 1);
    session_offer(&s, list, ARRAY_SIZE(list));
    is_int(s.n_offers, SESSION_OFFERS, "a session takes 16 of a longer list");
    is_str(s.offers[SESSION_OFFERS - 1].value, "16", "a session takes the first of a list");
    is_int(s.n_entries, 0, "what has no room is not written down");
}

static struct session on_trial(double gain, enum session_goal goal, double step_s)
{
    struct session_plan plan = session_plan_usual();
    struct candidate c = workers("4", gain);
    struct session s;

    plan.goal = goal;
    session_init(&s, &plan);
    while (s.phase != PHASE_ASK)
        steps(&s, 1, step_s);
    session_offer(&s, &c, 1);
    switched(&s);
    while (s.phase == PHASE_CANARY)
        steps(&s, 1, step_s);
    return s;
}

/* A trial gives up early on what a candidate promised, where its steps are many. */
static void test_promise(void)
{
    struct session s = on_trial(5, GOAL_THROUGHPUT, 0.1);

    ok(s.trial.plan.promise > 3.999 && s.trial.plan.promise < 4.001,
       "five times as fast is a promise of %g", s.trial.plan.promise);
    s = on_trial(1.5, GOAL_THROUGHPUT, 0.1);
    ok(s.trial.plan.promise > 0.499 && s.trial.plan.promise < 0.501,
       "half as fast again is a promise of %g", s.trial.plan.promise);
    s = on_trial(0.5, GOAL_THROUGHPUT, 0.1);
    ok(s.trial.plan.promise >= 0 && s.trial.plan.promise <= 0, "a loss is a promise of nothing");
    s = on_trial((double)NAN, GOAL_THROUGHPUT, 0.1);
    ok(s.trial.plan.promise >= 0 && s.trial.plan.promise <= 0,
       "what is not known is a promise of nothing");
    s = on_trial(5, GOAL_ENERGY, 0.1);
    ok(isnan(s.trial.plan.promise), "nothing is promised of joules");
}

/* What was observed is the first block of a trial if it lasted 0.3 s. */
static void test_observed(void)
{
    struct session s = on_trial(1.02, GOAL_THROUGHPUT, 0.25);

    is_int(s.trial.blocks, 2, "what was observed and the canary's steps are two blocks");
    is_int(s.trial.n, 2, "a canary of eight steps is a block of six, and two of the next");
    s = on_trial(5, GOAL_THROUGHPUT, 0.3 / 30);
    ok(s.trial.blocks == 1, "30 steps of 10 ms are a block");
    s = on_trial(5, GOAL_THROUGHPUT, 0.299 / 30);
    is_int(s.trial.blocks, 0, "30 steps that take 0.299 s are no block");
}

/* How many steps are looked at before a trial, and are the first with a candidate: a block's at
 * most. */
static void test_few(void)
{
    static const struct {
        unsigned asked, seen, blocks;
    } plans[] = { { 0, 1, 0 }, { 1, 1, 0 }, { 2, 2, 1 }, { 1000, 512, 1 } };

    for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
        const struct candidate c = workers("4", 5);
        struct session_plan plan = session_plan_usual();
        struct session s;
        unsigned n;

        plan.observe = plan.canary = plans[i].asked;
        session_init(&s, &plan);
        for (n = 0; s.phase == PHASE_OBSERVE && n < 2000; n++)
            steps(&s, 1, 0.25);
        is_int(n, plans[i].seen + 3, "a session that is to observe %u steps sees %u behind three",
               plans[i].asked, plans[i].seen);
        is_int(s.begun, plans[i].blocks, "%u steps are %u blocks of a trial", plans[i].seen,
               plans[i].blocks);
        session_offer(&s, &c, 1);
        switched(&s);
        for (n = 0; s.phase == PHASE_CANARY && n < 2000; n++)
            steps(&s, 1, 0.25);
        is_int(n, plans[i].seen + 3, "a canary that is to live %u steps lives %u behind three",
               plans[i].asked, plans[i].seen);
    }
}

/* Undecided at the job's end: another trial is worth it above the least gain. */
static void test_promising(void)
{
    static const struct session_event ended = { .kind = SESSION_ENDED, .why = "the job ended" };
    struct session first = on_trial(5, GOAL_THROUGHPUT, 0.25), again;

    ok(first.phase == PHASE_TRIAL && first.trial.pairs.n > 0, "the trial has a pair");
    for (int more = -1; more < 2; more++) {
        again = first;
        again.trial.plan.least_gain = trial_effect(&first.trial).gain - more * 0.001;
        session_event(&again, &ended);
        ok(again.entries[0].outcome == SESSION_UNDECIDED &&
               again.entries[0].promising == (more > 0),
           "a gain %s the least gain is promising: %d",
           more < 0    ? "below"
           : more == 0 ? "of"
                       : "above",
           more > 0);
    }
}

/* Why a candidate is not tried. */
static void test_left(void)
{
    static const struct {
        enum knob_effect effect;
        enum knob_risk risk;
        bool numeric, privileged;
        const char *before, *why; /* why: NULL where it is tried */
    } cases[] = {
        { KNOB_LIVE, KNOB_SAFE, false, false, "0", NULL },
        { KNOB_EPOCH, KNOB_SAFE, false, false, "0", "it takes effect with the next epoch" },
        { KNOB_RESTART, KNOB_SAFE, false, false, "0", "it takes effect with a restart" },
        { KNOB_LIVE, KNOB_NUMERIC, false, true, "0", "it changes numbers: --allow numeric" },
        { KNOB_LIVE, KNOB_NUMERIC, true, false, "0", NULL },
        { KNOB_LIVE, KNOB_PRIVILEGED, true, false, "0",
          "it needs an operator: --allow privileged" },
        { KNOB_LIVE, KNOB_PRIVILEGED, false, true, "0", NULL },
        { KNOB_LIVE, KNOB_SAFE, true, true, NULL,
          "the value of now is not known, so it could not be taken back" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct knob k = { .name = "k", .effect = cases[i].effect, .risk = cases[i].risk };
        const struct candidate c = { .knob = &k, .value = "1", .before = cases[i].before };
        struct session_plan plan = session_plan_usual();
        struct session s;

        plan.numeric = cases[i].numeric;
        plan.privileged = cases[i].privileged;
        s = asking(&plan);
        is_int(session_offer(&s, &c, 1).what, cases[i].why ? SESSION_FINISH : SESSION_APPLY,
               "candidate %zu is tried or is not", i);
        is_str(s.n_entries ? s.entries[0].note : "", cases[i].why ? cases[i].why : "",
               "candidate %zu has the reason why it is left", i);
    }
}

/* Steps that are left out one by one, of a canary and of a trial: none while a switch is made. */
static void test_skips(void)
{
    static const struct {
        enum session_phase phase;
        bool switching;
        unsigned skipped, left_out;
        bool skips;
    } cases[] = {
        { PHASE_CANARY, false, 0, 9, true },  { PHASE_CANARY, false, 2, 9, true },
        { PHASE_CANARY, false, 3, 0, false }, { PHASE_CANARY, true, 0, 0, false },
        { PHASE_TRIAL, false, 9, 0, true },   { PHASE_TRIAL, false, 0, 1, true },
        { PHASE_TRIAL, false, 0, 2, false },  { PHASE_TRIAL, true, 0, 0, false },
        { PHASE_GUARD, false, 0, 0, false },  { PHASE_OBSERVE, false, 0, 0, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct session s;

        session_init(&s, NULL);
        trial_init(&s.trial, NULL);
        s.phase = cases[i].phase;
        s.switching = cases[i].switching;
        s.skipped = cases[i].skipped;
        s.trial.left_out = cases[i].left_out;
        ok(session_skips(&s) == cases[i].skips, "case %zu leaves out its step or does not", i);
    }
}

/* A profile has what goes with a setting, with its value of before. */
static void test_with(void)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct session s;

    session_init(&s, NULL);
    s.entries[0] = (struct session_entry){ .knob = "loader.workers",
                                           .value = "4",
                                           .before = "0",
                                           .also = "loader.persistent",
                                           .outcome = SESSION_ADOPTED };
    s.n_entries = 1;
    if (profile_init(&p, "n", "k", "m", "v") < 0 || session_profile(&s, "2026-11-21", &p, NULL) < 0)
        abort();
    is_int((long long)p.count, 2, "a profile has both settings");
    is_str(p.settings[1].before ? p.settings[1].before : "", "no",
           "what goes with a setting was not in force before");
}

int main(void)
{
    struct err e = { "" };

    if (knobs_load(&knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0) {
        printf("Bail out! %s\n", e.text);
        return 1;
    }
    test_left();
    test_skips();
    test_with();
    test_budget();
    test_switch();
    test_entries();
    test_trials();
    test_offers();
    test_promise();
    test_observed();
    test_few();
    test_promising();
    knobs_done(&knobs);
    return done();
}
