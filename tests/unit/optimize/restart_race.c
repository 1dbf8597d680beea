/* Settings that need a restart: what is measured of a heat, and what contests of simulated jobs
 * come to. */
#include "optimize/restart_race.h"

#include <stdlib.h>

#include "noise.h"
#include "tap.h"

static const double nan_value = (double)NAN;

static const struct knob knobs[] = {
    { .name = "blas.library", .risk = KNOB_SAFE },
    { .name = "ddp.hook", .risk = KNOB_NUMERIC },
    { .name = "ddp.bucket", .risk = KNOB_SAFE },
    { .name = "malloc.library", .risk = KNOB_SAFE },
};

static void give(struct race_run *h, double seconds, double samples, double loss)
{
    const struct join_step s = { .seconds = seconds, .samples = samples, .loss = loss };

    race_run_step(h, &s);
}

static struct race_run *new_heat(double step_s)
{
    struct race_run *h = malloc(sizeof(*h));
    struct race_run_plan plan = race_run_plan_usual(2, step_s);

    if (!h)
        abort();
    race_run_init(h, &plan);
    race_run_tick(h, 100);
    return h;
}

/* ---- heats ---- */

static void test_heat(void)
{
    struct race_run *h = new_heat(nan_value);
    bool per_sample;

    for (unsigned i = 0; i < 5; i++)
        give(h, 10, nan_value, nan_value);
    for (unsigned i = 0; i < 40; i++) {
        ok(h->state == HEAT_RUNS, "a heat runs on after %u steps", i);
        give(h, i == 17 ? 3 : i % 4 ? 0.08 : 0.16, nan_value, nan_value);
    }
    ok(h->state == HEAT_ENOUGH && h->n == 40, "a heat ends after 40 steps of 0.1 s");
    ok(fabs(race_run_seconds(h, &per_sample) - 0.1) < 1e-9 && !per_sample,
       "steps in fours count by their mean, without a disturbed one");
    free(h);

    h = new_heat(nan_value);
    for (unsigned i = 0; i < 5 + 999; i++)
        give(h, 0.001, 8, nan_value);
    ok(h->state == HEAT_RUNS, "a heat of fast steps runs on before a second");
    give(h, 0.0011, 8, nan_value);
    ok(h->state == HEAT_ENOUGH, "a heat of fast steps ends after a second");
    ok(fabs(race_run_seconds(h, &per_sample) - 0.001 / 8) < 1e-9 && per_sample,
       "a heat's time is that of a sample where samples are known");
    free(h);

    h = new_heat(nan_value);
    for (unsigned i = 0; i < 5 + 7; i++)
        give(h, 4, 8, nan_value);
    ok(h->state == HEAT_RUNS, "a heat needs 8 steps, however long they take");
    give(h, 4, 8, nan_value);
    ok(h->state == HEAT_ENOUGH, "a heat of slow steps ends after 8 steps");
    free(h);

    h = new_heat(0.1);
    for (unsigned i = 0; i < 5 + 8; i++)
        give(h, 0.4, 8, nan_value);
    ok(h->state == HEAT_ENOUGH, "a heat far slower than the job ends after 8 steps");
    free(h);
}

static void test_heat_fails(void)
{
    struct race_run *h = new_heat(0.1);
    bool per_sample;

    race_run_tick(h, 129);
    ok(h->state == HEAT_RUNS, "a heat waits 29 s for its first step");
    race_run_tick(h, 131);
    ok(h->state == HEAT_FAILED, "a heat without a step for 31 s fails");
    is_str(h->why, "it has made no step for 31 s",
           "the reason says how long the heat made no step");
    ok(isnan(race_run_seconds(h, &per_sample)), "a heat that failed has no time");
    free(h);

    h = new_heat(1);
    give(h, 1, 8, nan_value);
    race_run_tick(h, 105);
    race_run_tick(h, 204);
    ok(h->state == HEAT_RUNS, "a heat waits 99 s after a step of 1 s");
    race_run_tick(h, 206);
    is_str(h->why, "it has made no step for 101 s",
           "a heat fails after 100 times its step without one");
    free(h);

    h = new_heat(0.1);
    for (unsigned i = 0; i < 20; i++)
        give(h, 0.1, 8, nan_value);
    race_run_end(h, "exit status 3");
    is_str(h->why, "it ended after 20 steps: exit status 3",
           "the reason has the exit status of a heat that dies");
    free(h);

    h = new_heat(0.1);
    for (unsigned i = 0; i < 12; i++)
        give(h, 0.1, 8, nan_value);
    race_run_end(h, NULL);
    is_str(h->why, "it ended after 12 steps", "the reason says that a heat is too short");
    free(h);

    h = new_heat(0.1);
    for (unsigned i = 0; i < 13; i++)
        give(h, 0.1, 8, nan_value);
    race_run_end(h, NULL);
    ok(h->state == HEAT_ENOUGH, "a heat that ends by itself after 13 steps is enough");
    race_run_fail(h, "too late");
    ok(h->state == HEAT_ENOUGH, "a heat that is over cannot fail");
    free(h);

    h = new_heat(0.1);
    race_run_step(h, &(const struct join_step){ .seconds = 0.1, .saves = true });
    ok(h->state == HEAT_SAVED, "a checkpoint ends a heat as saved");
    free(h);
}

/* ---- contests ---- */

static struct restart_race *new_contest(unsigned restarts, unsigned n)
{
    struct restart_race *c = malloc(sizeof(*c));

    if (!c)
        abort();
    restart_race_init(c, restarts);
    for (unsigned i = 0; i < n; i++)
        ok(restart_race_add(
               c, &(const struct candidate){ .knob = &knobs[i], .value = "b", .why = "" }),
           "restart_race_add takes %s", knobs[i].name);
    restart_race_begin(c);
    return c;
}

/* What a job does: the time of a step by the settings in force; the loss of a setting; failures. */
struct job {
    struct noise noise;
    double gain[CONTEST_MOST]; /* of each setting: 0.5 halves the step */
    double more_loss[CONTEST_MOST];
    int dies;    /* with this setting; -1 */
    bool sparse; /* losses in every second step, with a setting */
};

static void run_heat(struct restart_race *c, struct job *j, int heat)
{
    struct race_run *h = new_heat(nan_value);
    double start = exp(0.02 * noise_normal(&j->noise)), step_s = 0.1, loss = 2;

    for (unsigned i = 0; i < c->n; i++) {
        if (!restart_race_has(c, i, heat))
            continue;
        step_s *= j->gain[i];
        loss += j->more_loss[i];
        if (j->dies == (int)i)
            race_run_end(h, "signal 11");
    }
    for (unsigned i = 0; i < 100; i++)
        give(h, step_s * start * noise_next(&j->noise), 8,
             heat && j->sparse && i % 2 ? nan_value
                                        : loss - 0.01 * i + 0.002 * noise_normal(&j->noise));
    restart_race_take(c, h);
    free(h);
}

static void run_contest(struct restart_race *c, struct job *j)
{
    int heat;

    do
        while ((heat = restart_race_want(c)) >= 0)
            run_heat(c, j, heat);
    while (restart_race_again(c));
}

static void test_room(void)
{
    struct restart_race c;

    is_int(restart_race_room(6), 0, "six starts decide on no setting");
    is_int(restart_race_room(7), 1, "seven starts decide on one setting");
    is_int(restart_race_room(12), 2, "twelve starts decide on two settings");
    is_int(restart_race_room(1000), CONTEST_MOST,
           "a thousand starts decide on the maximum of settings");
    restart_race_init(&c, 7);
    ok(restart_race_add(&c,
                        &(const struct candidate){ .knob = &knobs[0], .value = "b", .why = "" }) &&
           !restart_race_add(&c, &(const struct candidate){ .knob = &knobs[1], .value = "b" }),
       "restart_race_add refuses a setting without room");
}

static void test_winner(void)
{
    struct job j = { noise_start(3, false), { 0.2, 1 }, { 0 }, -1 };
    struct restart_race *c = new_contest(12, 2);

    run_contest(c, &j);
    is_int(c->settings[0].entry.outcome, SESSION_ADOPTED,
           "a setting five times as fast is adopted");
    is_int(c->settings[1].entry.outcome, SESSION_REJECTED, "a setting without a gain is rejected");
    ok(c->settings[0].entry.effect.gain > 3.5 && c->settings[0].entry.effect.low > 1,
       "the gain of the winner lies near its real one");
    is_int(c->settings[0].entry.starts, 3, "the winner is adopted after three starts");
    is_int(c->heats, 9, "the race takes nine heats");
    ok(restart_race_has(c, 0, 0) && !restart_race_has(c, 1, 0),
       "the job starts with the winner alone");
    free(c);
}

static void test_both(void)
{
    struct job j = { noise_start(5, false), { 0.6, 1, 0.7 }, { 0 }, -1 };
    struct restart_race *c = new_contest(40, 3);

    run_contest(c, &j);
    ok(c->settings[0].entry.outcome == SESSION_ADOPTED &&
           c->settings[2].entry.outcome == SESSION_ADOPTED,
       "a second race adopts a setting that also gains");
    ok(fabs(c->settings[2].entry.effect.gain - 1 / 0.7 + 1) < 0.1,
       "the second winner's gain is that beside the first");
    is_str(c->settings[2].entry.note, "beside what was kept first",
           "the second winner's note says beside what it was tried");
    is_int(c->settings[1].entry.outcome, SESSION_REJECTED,
           "a setting without a gain is rejected in two races");
    ok(c->heats <= 39, "two races keep within the starts allowed");
    free(c);

    c = new_contest(13, 3);
    run_contest(c, &j);
    ok(c->heats <= 12, "without enough starts there is no second race");
    free(c);
}

static void test_nothing(void)
{
    unsigned kept = 0, most = 0;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct job j = { noise_start(100 + seed, true), { 1, 1.02, 1 }, { 0 }, -1 };
        struct restart_race *c = malloc(sizeof(*c));

        if (!c)
            abort();
        restart_race_init(c, 30);
        for (unsigned i = 0; i < 3; i++)
            (void)restart_race_add(
                c, &(const struct candidate){ .knob = &knobs[i], .value = "b", .why = "" });
        restart_race_begin(c);
        run_contest(c, &j);
        kept += c->kept;
        most = MAX(most, c->heats);
        free(c);
    }
    ok(kept <= 10, "of 200 contests of settings that gain nothing %u keep one", kept);
    ok(most <= 29, "a contest of settings that gain nothing takes %u heats at most", most);
}

/* A round in which each has run once compares; one that cannot be ended is not begun. */
static void test_whole_rounds(void)
{
    unsigned half = 0, unused = 0;

    for (unsigned restarts = 10; restarts < 30; restarts++) {
        struct job j = { noise_start(restarts, false), { 1, 1, 1 }, { 0 }, -1 };
        struct restart_race *c = new_contest(restarts, 2);
        int heat;

        while ((heat = restart_race_want(c)) >= 0)
            run_heat(c, &j, heat);
        half += c->race.at != 0;
        unused += c->heats == 0;
        free(c);
    }
    is_int(half, 0, "no race ends in the middle of a round");
    is_int(unused, 0, "each race of ten starts and more has run");
}

static void test_failures(void)
{
    struct job j = { noise_start(7, false), { 0.5, 0.5, 1 }, { 0, 0.1 }, 0 };
    struct restart_race *c = new_contest(20, 3);

    run_contest(c, &j);
    is_int(c->settings[0].entry.outcome, SESSION_BROKE, "a start that dies drops its setting");
    is_str(c->settings[0].entry.note, "it ended after 0 steps: signal 11",
           "the note has the signal that ended the heat");
    is_int(c->settings[0].entry.starts, 1, "a setting that dies is dropped after one start");
    is_int(c->settings[1].entry.outcome, SESSION_BROKE, "a higher loss drops its setting");
    ok(strstr(c->settings[1].entry.note, "above the job's") != NULL,
       "the note says that the loss is above the job's: %s", c->settings[1].entry.note);
    is_int(c->settings[2].entry.outcome, SESSION_REJECTED,
           "a setting beside broken ones is still decided");
    is_int(c->kept, 0, "no setting without a gain wins beside broken ones");
    free(c);

    j = (struct job){ noise_start(7, false), { 0.5, 0.5 }, { 0, 0.001 }, -1 };
    c = new_contest(20, 2);
    run_contest(c, &j);
    ok(c->settings[1].entry.outcome != SESSION_BROKE,
       "a loss that is about the same breaks no setting");
    j.more_loss[1] = nan_value;
    free(c);
    c = new_contest(20, 2);
    run_contest(c, &j);
    is_str(c->settings[1].entry.note, "the loss is no number any more",
           "the note says that the loss is no number");
    free(c);
    j = (struct job){ noise_start(7, false), { 0.5, 0.5 }, { 0 }, -1, .sparse = true };
    c = new_contest(20, 2);
    run_contest(c, &j);
    ok(c->settings[1].entry.outcome != SESSION_BROKE,
       "a loss in every second step breaks no setting");
    free(c);
}

static void test_ends(void)
{
    struct job j = { noise_start(9, false), { 0.5 }, { 0 }, -1 };
    struct restart_race *c = new_contest(12, 1);
    struct race_run *h = new_heat(nan_value);

    run_heat(c, &j, restart_race_want(c));
    is_int(restart_race_want(c), 1, "the heat after the job's own is that of the setting");
    restart_race_stop(c, "it was stopped");
    restart_race_stop(c, "and again");
    is_int(restart_race_want(c), -1, "restart_race_want is -1 after a stop");
    ok(!restart_race_again(c), "restart_race_again is false after a stop");
    is_int(c->settings[0].entry.outcome, SESSION_UNDECIDED, "a stop leaves the setting undecided");
    is_str(c->settings[0].entry.note, "it was stopped",
           "the note has the first reason of two stops");
    free(c);

    c = new_contest(12, 1);
    race_run_end(h, "exit status 1");
    restart_race_take(c, h);
    ok(restart_race_want(c) < 0 && !restart_race_again(c), "a job that fails as it is has no race");
    is_str(c->ended, "the job as it is failed: it ended after 0 steps: exit status 1",
           "the reason says how the job failed as it is");
    free(c);

    c = new_contest(12, 1);
    run_heat(c, &j, restart_race_want(c));
    h->state = HEAT_SAVED;
    restart_race_take(c, h);
    ok(restart_race_want(c) < 0 && !restart_race_again(c) && !c->kept,
       "a job that saves at once has no race");
    free(c);
    free(h);
}

int main(void)
{
    test_heat();
    test_heat_fails();
    test_room();
    test_winner();
    test_both();
    test_nothing();
    test_whole_rounds();
    test_failures();
    test_ends();
    return done();
}
