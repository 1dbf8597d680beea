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
    ok(!join_next(j, &s), "without members there is no step");
    in[2] = false;
    join_members(j, in);
    ok(!join_next(j, &s), "nor until each has one");
    push(j, 1, 4, 0.3);
    ok(join_next(j, &s) && s.number == 4, "the first that all have");
    ok(s.seconds == 0.3 && s.samples == 8 && s.loss == 2, "of the slowest, with all samples");
    ok(!join_next(j, &s), "and no other");
    join_switch(j, 0, 7);
    push(j, 0, 6, 0.2);
    push(j, 1, 5, 0.1);
    ok(join_next(j, &s) && s.request == 0, "before it was asked");
    push(j, 1, 6, 0.1);
    ok(join_next(j, &s) && s.request == 0, "while one has not answered");
    join_switch(j, 1, 7);
    push(j, 0, 7, 0.2);
    push(j, 1, 7, 0.1);
    ok(join_next(j, &s) && s.request == 7, "when all have");
    is_int((long long)join_newest(j), 7, "the newest");
    push(j, 2, 1, 1);
    ok(!join_next(j, &s) && j->ranks[2].seen == 2, "others are counted, and left out");
    for (uint64_t i = 0; i < JOIN_ROOM + 1; i++)
        push(j, 0, 8 + i, 0.1);
    ok(j->apart, "ranks that run away are noticed");
    push(j, 1, 9, 0.1);
    ok(join_next(j, &s) && s.number == 9, "and what is left of them joined");
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
        ok(failed ? rc == -ENOMEM : rc == 0, "allocation %d: rc %d", oom_at, rc);
        join_done(j);
    } while (failed);
    free(j);
}

static void test_order(void)
{
    struct job_request o = { .open = false };
    struct job_request_marks m = { .did = { false } };

    ok(job_request_state(&o, 2) == ORDER_NONE, "nothing is asked");
    job_request_begin(&o, 5, true);
    ok(!job_request_answer(&o, &m, 0, 4, BRIM_SWITCH_DONE, NULL), "an answer to another request");
    ok(job_request_answer(&o, &m, 0, 5, BRIM_SWITCH_DONE, NULL), "one does it");
    ok(!job_request_answer(&o, &m, 0, 5, BRIM_SWITCH_DONE, NULL), "once");
    ok(job_request_state(&o, 2) == ORDER_WAITS, "the other is waited for");
    ok(!job_request_answer(&o, &m, 1, 5, BRIM_SWITCH_REFUSED, "no"), "it refuses");
    ok(job_request_state(&o, 2) == ORDER_BROKEN, "which is neither");
    is_str(o.why, "no", "why");
    job_request_begin(&o, 6, false);
    ok(job_request_answer(&o, &m, 1, 6, BRIM_SWITCH_REFUSED, "no"), "who did nothing has it back");
    ok(job_request_answer(&o, &m, 0, 6, BRIM_SWITCH_DONE, NULL), "and who did it");
    ok(job_request_state(&o, 2) == ORDER_DONE, "is where it was");
    job_request_begin(&o, 7, true);
    job_request_answer(&o, &m, 0, 7, BRIM_SWITCH_REFUSED, NULL);
    job_request_answer(&o, &m, 1, 7, BRIM_SWITCH_REFUSED, NULL);
    ok(job_request_state(&o, 2) == ORDER_REFUSED, "all refuse");
    job_request_begin(&o, 8, true);
    job_request_answer(&o, &m, 0, 8, BRIM_SWITCH_FAILED, "out of memory");
    job_request_begin(&o, 9, false);
    ok(!job_request_answer(&o, &m, 0, 9, BRIM_SWITCH_REFUSED, "no"),
       "what broke has to be taken back");
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
    ok(found >= n * 95 / 100, "%d of %d that add two deviations are found", found, n);
    ok(stopped >= n * 95 / 100, "%d of %d with which it falls no more", stopped, n);
    loss_check_init(&s);
    for (int i = 0; i < 100; i++)
        loss_check_step(&s, 1, i % 3 ? nan_value : 2);
    ok(loss_check_ready(&s), "one loss in three steps is enough");
    loss_check_change(&s);
    for (int i = 0; i < 29; i++)
        loss_check_step(&s, 1, nan_value);
    ok(!loss_check_worse(&s, why), "a while without one is nothing");
    for (int i = 0; i < 40; i++)
        loss_check_step(&s, 1, nan_value);
    ok(loss_check_worse(&s, why), "but it is no number any more: %s", why);
    loss_check_settle(&s, false);
    loss_check_change(&s);
    loss_check_step(&s, 1, (double)INFINITY);
    ok(loss_check_worse(&s, why), "nor is infinity: %s", why);
    loss_check_settle(&s, false);
    ok(!loss_check_worse(&s, why), "what was undone is forgotten");
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
    ok(progress_next(&p, &s, &out), "a trial begins");
    is_str(str_text(&out), "trying loader.workers=13 instead of 0: fetching takes 163 ms",
           "and why");
    ok(!progress_next(&p, &s, &out), "once");
    s.entries[0] = (struct session_entry){ .knob = "a", .outcome = SESSION_LEFT };
    s.entries[1] = (struct session_entry){ .knob = "loader.workers",
                                           .value = "13",
                                           .outcome = SESSION_ADOPTED,
                                           .effect = { 10.6, 9.1, 13.2 },
                                           .steps = 104 };
    s.n_entries = 2;
    ok(progress_next(&p, &s, &out), "it ends");
    is_str(str_text(&out),
           "loader.workers=13: 11.6 times as fast (10.1 to 14.2), kept after 104 steps",
           "what it gained");
    s.entries[1].outcome = SESSION_ROLLED_BACK;
    s.entries[1].effect = (struct trial_effect){ 0.05, 0.02, 0.08 };
    ok(progress_next(&p, &s, &out), "it does not last");
    is_str(str_text(&out),
           "loader.workers=13: +5.0 % steps/s (+2.0 to +8.0 %); it did not last, "
           "taken back after 104 steps",
           "what came of it");
    s.entries[1].outcome = SESSION_BROKE;
    snprintf(s.entries[1].note, sizeof(s.entries[1].note), "no room");
    ok(progress_next(&p, &s, &out), "it breaks");
    is_str(str_text(&out), "loader.workers=13: failed: no room, taken back after 104 steps", "why");
    ok(!progress_next(&p, &s, &out), "no more");
}

int main(void)
{
    test_join();
    test_join_oom();
    test_order();
    test_losses();
    test_progress();
    return done();
}
