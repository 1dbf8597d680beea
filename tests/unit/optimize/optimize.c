/* The parts of a drive: ranks' steps joined, requests and their answers, losses compared, lines. */
#include <errno.h>
#include <stdbool.h>

#include "brim/control.h"
#include "noise.h"
#include "oom.h"
#include "optimize/job_request.h"
#include "optimize/join.h"
#include "optimize/loss_check.h"
#include "optimize/progress.h"
#include "tap.h"

static const double nan_value = (double)NAN;

static void push(struct join *j, size_t rank, uint64_t number, double seconds)
{
    const struct join_step s = { .number = number, .seconds = seconds, .samples = 4, .loss = 2 };

    if (join_push(j, rank, &s) < 0)
        abort();
}

static void test_join(void)
{
    bool in[JOIN_RANKS] = { true, true };
    struct join_step s;
    struct join *j = calloc(1, sizeof(*j));

    if (!j)
        abort();
    join_init(j);
    for (uint64_t i = 0; i < 6; i++)
        push(j, 0, i, 0.1);
    push(j, 2, 0, 9);
    ok(!join_next(j, &s), "join_next has no step without members");
    in[2] = false;
    join_members(j, in);
    ok(!join_next(j, &s), "join_next has no step until each member has one");
    push(j, 1, 4, 0.3);
    ok(join_next(j, &s) && s.number == 4, "join_next has the first step that all members have");
    ok(s.seconds == 0.3 && s.samples == 8 && s.loss == 2,
       "a joined step is the slowest one's, with all samples");
    ok(!join_next(j, &s), "join_next has no step that only one member has");
    join_switch(j, 0, 7);
    push(j, 0, 6, 0.2);
    push(j, 1, 5, 0.1);
    ok(join_next(j, &s) && s.request == 0, "a step before the switch has no request");
    push(j, 1, 6, 0.1);
    ok(join_next(j, &s) && s.request == 0,
       "a step where one member has not switched has no request");
    join_switch(j, 1, 7);
    push(j, 0, 7, 0.2);
    push(j, 1, 7, 0.1);
    ok(join_next(j, &s) && s.request == 7, "a step where all have switched has the request");
    is_int((long long)join_newest(j), 7, "join_newest is the newest joined step");
    push(j, 2, 1, 1);
    ok(!join_next(j, &s) && j->ranks[2].seen == 2, "steps of others are counted and not joined");
    for (uint64_t i = 0; i < JOIN_ROOM + 1; i++)
        push(j, 0, 8 + i, 0.1);
    ok(j->apart, "join notices a member that runs ahead too far");
    push(j, 1, 9, 0.1);
    ok(join_next(j, &s) && s.number == 9, "join_next goes on with the steps left of members apart");
    join_done(j);
    free(j);
}

static void test_join_oom(void)
{
    struct join *j = calloc(1, sizeof(*j));
    const struct join_step s = { .number = 1 };
    int rc = 0;
    bool failed;

    if (!j)
        abort();
    do {
        join_init(j);
        oom_next();
        rc = 0;
        for (int i = 0; i < 300 && rc == 0; i++)
            rc = join_push(j, 0, &s);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "join_push with allocation %d failing returns %d",
           oom_at, rc);
        join_done(j);
    } while (failed);
    free(j);
}

static void test_order(void)
{
    struct job_request o = { .open = false };
    struct job_request_marks m = { .did = { false } };

    ok(job_request_state(&o, 2) == ORDER_NONE, "a job request that is not open has no state");
    job_request_begin(&o, 5, true);
    ok(!job_request_answer(&o, &m, 0, 4, BRIM_SWITCH_DONE, NULL),
       "an answer to another request is left alone");
    ok(job_request_answer(&o, &m, 0, 5, BRIM_SWITCH_DONE, NULL),
       "the first answer that it is done counts");
    ok(!job_request_answer(&o, &m, 0, 5, BRIM_SWITCH_DONE, NULL), "the same answer counts once");
    ok(job_request_state(&o, 2) == ORDER_WAITS, "a request waits for the other rank's answer");
    ok(!job_request_answer(&o, &m, 1, 5, BRIM_SWITCH_REFUSED, "no"),
       "a refusal changes nothing in a rank");
    ok(job_request_state(&o, 2) == ORDER_BROKEN,
       "a request that one did and one refused is broken");
    is_str(o.why, "no", "the broken request has the refusal's reason");
    job_request_begin(&o, 6, false);
    ok(job_request_answer(&o, &m, 1, 6, BRIM_SWITCH_REFUSED, "no"),
       "a rank that did nothing may refuse to take it back");
    ok(job_request_answer(&o, &m, 0, 6, BRIM_SWITCH_DONE, NULL),
       "a rank that did it takes it back");
    ok(job_request_state(&o, 2) == ORDER_DONE, "a request taken back by all is done");
    job_request_begin(&o, 7, true);
    job_request_answer(&o, &m, 0, 7, BRIM_SWITCH_REFUSED, NULL);
    job_request_answer(&o, &m, 1, 7, BRIM_SWITCH_REFUSED, NULL);
    ok(job_request_state(&o, 2) == ORDER_REFUSED, "a request that all refuse is refused");
    job_request_begin(&o, 8, true);
    job_request_answer(&o, &m, 0, 8, BRIM_SWITCH_FAILED, "out of memory");
    job_request_begin(&o, 9, false);
    ok(!job_request_answer(&o, &m, 0, 9, BRIM_SWITCH_REFUSED, "no"),
       "a rank that failed may not refuse to take it back");
}

/* ---- losses ---- */

struct learner {
    struct noise noise;
    double step, floor, noisy;
};

static double learn(struct learner *l)
{
    return l->floor + 2 / sqrt(1 + l->step++ / 200) + l->noisy * noise_normal(&l->noise);
}

/* So many steps before and after a change that adds to the loss, or has it fall no more; whether
 * that is noticed. */
static bool notices(uint64_t seed, int before, int after, double more, bool stops)
{
    struct learner l = { .noise = noise_start(seed, false), .floor = 0.5, .noisy = 0.05 };
    struct loss_check s;
    char why[LOSSES_TEXT];
    double last = 0;

    loss_check_init(&s);
    for (int i = 0; i < before; i++)
        loss_check_step(&s, 32, last = learn(&l));
    loss_check_change(&s);
    l.floor += more;
    for (int i = 0; i < after; i++) {
        double loss = learn(&l);

        if (stops)
            loss = last + 0.0005 * i + 0.05 * noise_normal(&l.noise);
        loss_check_step(&s, 32, loss);
        if (i % 20 == 0 && loss_check_worse(&s, why))
            return true;
    }
    return false;
}

/* What is said, and after how many steps, where losses come as a formula has them: a fall by the
 * logarithm with every other one higher, then a level, a rise. */
static void loss_case(unsigned before, unsigned after, double slope, double wave, double level,
                      double rise, const char *want)
{
    char why[LOSSES_TEXT] = "", said[LOSSES_TEXT + 64];
    struct loss_check s;
    unsigned i = 1;

    loss_check_init(&s);
    for (; i <= before; i++)
        loss_check_step(&s, 1, 2 - slope * log(i) + (i % 2 ? wave : 0));
    loss_check_change(&s);
    for (; i <= before + after && !*why; i++) {
        loss_check_step(&s, 1, level + rise * (i - before) + (i % 2 ? wave : 0));
        loss_check_worse(&s, why);
    }
    snprintf(said, sizeof(said), "%u: %s", i - 1 - before, why);
    is_str(said, want, "after %u losses a level of %g, rising by %g, is judged", before, level,
           rise);
}

static void test_judgements(void)
{
    loss_case(60, 200, 0, 0, 2, 0, "200: ");
    loss_case(60, 200, 0, 0, 2.5, 0,
              "8: the loss is 2.5 where 2 was to be expected (99.0 standard errors)");
    loss_case(60, 200, 0.1, 0.02, 1.59, 0,
              "19: the loss is 1.601 where 1.585 was to be expected (4.1 standard errors)");
    loss_case(60, 200, 0.1, 0.02, 1.62, 0,
              "8: the loss is 1.63 where 1.593 was to be expected (8.1 standard errors)");
    loss_case(60, 400, 0.1, 0.02, 1.55, 0.0005,
              "138: the loss rose from 1.607 to 1.625 (4.2 standard errors)");
    loss_case(200, 400, 0.1, 0.02, 1.40, 0.001,
              "78: the loss rose from 1.484 to 1.4845 (710.1 standard errors)");
    loss_case(1000, 3000, 0.1, 0.05, 1.25, 0.0001,
              "656: the loss rose from 1.3374 to 1.3375 (13.8 standard errors)");
    loss_case(40, 9000, 0, 0, 1.9, 0.00002,
              "5312: the loss rose from 2 to 2.001 (99.0 standard errors)");
    loss_case(40, 9000, 0.2, 0.05, 1.1, 0.00004,
              "5760: the loss rose from 1.306 to 1.345 (4.3 standard errors)");
    loss_case(40, 9000, -0.1, 0.01, 2.35, 0.00002,
              "896: the loss rose from 2.365 to 2.372 (4.0 standard errors)");
    loss_case(64, 64, 0, 0, 2.000004, 0,
              "8: the loss is 2.000004 where 2 was to be expected (99.0 standard errors)");
    loss_case(64, 64, 0, 0, 2.0000004, 0, "64: ");
}

static void test_losses(void)
{
    int wrong = 0, found = 0, stopped = 0, n = 100;
    struct loss_check s;
    char why[LOSSES_TEXT] = "";

    for (int i = 0; i < n; i++) {
        wrong += notices((uint64_t)i, 600, 600, 0, false);
        found += notices((uint64_t)i, 600, 600, 0.1, false);
        stopped += notices((uint64_t)i, 600, 600, 0, true);
    }
    ok(wrong <= n / 20, "%d of %d settings that leave the loss as it is are blamed", wrong, n);
    ok(found >= n * 95 / 100, "%d of %d settings that add two deviations are found", found, n);
    ok(stopped >= n * 95 / 100, "%d of %d settings that stop the loss falling are found", stopped,
       n);
    loss_check_init(&s);
    for (int i = 0; i < 100; i++)
        loss_check_step(&s, 1, i % 3 ? nan_value : 2);
    ok(loss_check_ready(&s), "loss_check is ready with one loss in three steps");
    loss_check_change(&s);
    for (int i = 0; i < 29; i++)
        loss_check_step(&s, 1, nan_value);
    ok(!loss_check_worse(&s, why), "29 steps without a loss are not worse");
    for (int i = 0; i < 40; i++)
        loss_check_step(&s, 1, nan_value);
    ok(loss_check_worse(&s, why), "69 steps without a loss are worse: %s", why);
    loss_check_settle(&s, false);
    loss_check_change(&s);
    loss_check_step(&s, 1, (double)INFINITY);
    ok(loss_check_worse(&s, why), "an infinite loss is worse: %s", why);
    loss_check_settle(&s, false);
    ok(!loss_check_worse(&s, why), "a loss that was undone is forgotten");
    for (int i = 0; i < 5000; i++)
        loss_check_step(&s, 1, 2);
    ok(s.before.n <= LOSSES_ROOM && s.before.per >= 32, "long runs have coarser points");
}

/* ---- lines ---- */

static void test_progress(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct progress p = { .told = 0 };
    struct session s = { .phase = PHASE_CANARY, .trials = 1, .n_offers = 1 };
    const struct session_offer o = { "loader.workers", "13", "0", "fetching takes 163 ms" };

    s.offers[0] = o;
    ok(progress_next(&p, &s, &out), "progress has a line when a trial begins");
    is_str(str_text(&out), "trying loader.workers=13 instead of 0: fetching takes 163 ms",
           "the line of a trial has its values and reason");
    ok(!progress_next(&p, &s, &out), "progress tells the begin of a trial once");
    s.entries[0] = (struct session_entry){ .knob = "a", .outcome = SESSION_LEFT };
    s.entries[1] = (struct session_entry){ .knob = "loader.workers",
                                           .value = "13",
                                           .outcome = SESSION_ADOPTED,
                                           .effect = { 10.6, 9.1, 13.2 },
                                           .steps = 104 };
    s.n_entries = 2;
    ok(progress_next(&p, &s, &out), "progress has a line when a trial ends");
    is_str(str_text(&out),
           "loader.workers=13: 11.6 times as fast (10.1 to 14.2), kept after 104 steps",
           "the line of a setting kept has its gain and steps");
    s.entries[1].outcome = SESSION_ROLLED_BACK;
    s.entries[1].effect = (struct trial_effect){ 0.05, 0.02, 0.08 };
    ok(progress_next(&p, &s, &out), "progress has a line when a gain does not last");
    is_str(str_text(&out),
           "loader.workers=13: +5.0 % steps/s (+2.0 to +8.0 %); it did not last, "
           "taken back after 104 steps",
           "the line of a gain that does not last has its steps");
    s.entries[1].outcome = SESSION_BROKE;
    snprintf(s.entries[1].note, sizeof(s.entries[1].note), "no room");
    ok(progress_next(&p, &s, &out), "progress has a line when a setting breaks");
    is_str(str_text(&out), "loader.workers=13: failed: no room, taken back after 104 steps",
           "the line of a setting that breaks has the reason");
    ok(!progress_next(&p, &s, &out), "progress tells the end of a setting once");
}

int main(void)
{
    test_join();
    test_join_oom();
    test_order();
    test_losses();
    test_judgements();
    test_progress();
    return done();
}
