/* The pilot of one heat of a race: what it makes of steps, of ranks that do not come together, of
 * notes that refuse a setting, and of how the job ends. */
#include "optimize/race_runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/members.h"
#include "tap.h"

#define S NS_PER_S

struct bench {
    struct rings *rings;
    struct race_runner *runner;
    const struct observe_pilot *pilot;
    struct run run;
    struct run_snapshot w;
    uint64_t steps[4];
};

static void follow(void *arg, const struct ring_event *e)
{
    const struct bench *b = arg;

    b->pilot->event(b->pilot->arg, e);
}

/* ranks: of a world of so many. */
static void set_up(struct bench *b, int ranks, int world, bool tries)
{
    const struct race_run_plan plan = race_run_plan_usual((double)NAN, (double)NAN);
    size_t ring;

    *b = (struct bench){ .w = { .now_ns = 100 * S } };
    if (rings_open(&b->rings, "/", NULL) < 0 || race_runner_new(&b->runner, &plan, tries) < 0)
        ok(false, "a heat is set up");
    b->pilot = race_runner_pilot(b->runner);
    b->pilot->start(b->pilot->arg, NULL, NULL);
    rings_follow(b->rings, follow, b);
    for (int i = 0; i < ranks; i++) {
        const struct rank_steps about = { .rank = i, .world = world, .host = "n" };

        if (rings_far_add(b->rings, &about, &ring) < 0)
            ok(false, "rank %d is added", i);
    }
    b->w.rings = b->rings;
    b->w.run = &b->run;
}

static void tear_down(struct bench *b)
{
    race_runner_free(b->runner);
    rings_close(b->rings);
}

/* A rank makes so many steps of a second, in the last of which it may save. */
static void make_steps(struct bench *b, size_t rank, int n, bool saves)
{
    for (int i = 0; i < n; i++) {
        struct step s = { .number = b->steps[rank],
                          .begin_ns = (int64_t)b->steps[rank] * S,
                          .end_ns = (int64_t)(b->steps[rank] + 1) * S,
                          .samples = 32,
                          .loss = 2 };

        s.host_s[BRIM_STAGE_CHECKPOINT] = saves && i + 1 == n ? 0.5 : 0;
        b->steps[rank]++;
        if (rings_far_step(b->rings, rank, &s) < 0)
            ok(false, "a step of rank %zu is made", rank);
    }
}

static void turn(struct bench *b)
{
    b->pilot->turn(b->pilot->arg, &b->w);
}

static const struct race_run *heat(const struct bench *b)
{
    return race_runner_run(b->runner);
}

static void test_steps(void)
{
    struct bench b;
    bool per_sample;

    set_up(&b, 2, 2, false);
    make_steps(&b, 0, 10, false);
    turn(&b);
    ok(heat(&b)->state == HEAT_RUNS && heat(&b)->seen == 0, "one rank of two makes no heat");
    make_steps(&b, 1, 10, false);
    turn(&b);
    is_int(heat(&b)->seen, 10, "steps of both ranks are steps of the heat");
    ok(!b.pilot->over(b.pilot->arg), "a heat of ten steps is not over");
    ok(heat(&b)->loss[9] == 2, "a step has its loss");
    make_steps(&b, 0, 40, false);
    make_steps(&b, 1, 40, false);
    turn(&b);
    ok(heat(&b)->state == HEAT_ENOUGH && b.pilot->over(b.pilot->arg), "a heat has enough steps");
    ok(fabs(race_run_seconds(heat(&b), &per_sample) - 1.0 / 64) < 1e-9 && per_sample,
       "a step of two ranks has the samples of both");
    tear_down(&b);
    set_up(&b, 1, 1, false);
    make_steps(&b, 0, 6, true);
    turn(&b);
    is_int((int)heat(&b)->state, HEAT_SAVED, "a heat ends where a checkpoint is written");
    tear_down(&b);
}

/* Which processes make the job has to be known in 20 s. */
static void test_members(void)
{
    struct bench b;

    set_up(&b, 2, 2, false);
    turn(&b);
    b.w.now_ns += 5 * S;
    turn(&b);
    is_int((int)heat(&b)->state, HEAT_RUNS, "before the first steps nobody is waited for");
    make_steps(&b, 0, MEMBERS_STEPS, false);
    turn(&b);
    b.w.now_ns += 20 * S;
    turn(&b);
    is_int((int)heat(&b)->state, HEAT_RUNS, "ranks may come within 20 s");
    b.w.now_ns++;
    turn(&b);
    is_str(heat(&b)->why, "some ranks make no steps", "a heat fails when a rank does not come");
    tear_down(&b);
    set_up(&b, 2, 1, false);
    make_steps(&b, 0, MEMBERS_STEPS, false);
    make_steps(&b, 1, MEMBERS_STEPS, false);
    turn(&b);
    is_str(heat(&b)->why, "several processes train on their own",
           "a heat fails where processes are no ranks of one job");
    tear_down(&b);
    set_up(&b, 2, 1, false);
    make_steps(&b, 0, MEMBERS_STEPS, false);
    make_steps(&b, 1, MEMBERS_STEPS, false);
    rings_far_closed(b.rings, 1);
    turn(&b);
    is_int(heat(&b)->seen, MEMBERS_STEPS, "a process that has ended is no member");
    tear_down(&b);
}

static void test_refused(void)
{
    static const struct {
        const char *name;
        bool tries, refused;
    } cases[] = {
        { "knob.ddp.comm_hook.refused", true, true },
        { "knob.ddp.comm_hook.refused", false, false },
        { "knob.ddp.comm_hook", true, false },
        { "knobs.refused", true, false },
        { "knob.refused", true, true },
        { "x.refused", true, false },
        { "knob.x.refusedx", true, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct bench b;

        set_up(&b, 1, 1, cases[i].tries);
        if (rings_far_note(b.rings, 0, "other", "x") < 0 ||
            rings_far_note(b.rings, 0, cases[i].name, "no such hook") < 0)
            ok(false, "a note is made");
        turn(&b);
        is_str(heat(&b)->why, cases[i].refused ? "no such hook" : "",
               "note '%s' refuses a setting or does not", cases[i].name);
        tear_down(&b);
    }
}

/* How a job ends that has made so many steps. */
static void test_ends(void)
{
    static const struct {
        int steps, status;
        enum run_end end;
        enum race_run_state state;
        const char *why;
    } cases[] = {
        { 15, 0, RUN_EXITED, HEAT_ENOUGH, "" },
        { 12, 0, RUN_EXITED, HEAT_FAILED, "it ended after 12 steps" },
        { 15, 3, RUN_EXITED, HEAT_FAILED, "it ended after 15 steps: exit status 3" },
        { 15, 9, RUN_KILLED, HEAT_FAILED, "it ended after 15 steps: signal 9" },
        { 0, 1, RUN_EXITED, HEAT_FAILED, "it ended after 0 steps: exit status 1" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct bench b;

        set_up(&b, 1, 1, false);
        make_steps(&b, 0, MIN(cases[i].steps, 14), false);
        if (cases[i].steps > 14)
            turn(&b);
        make_steps(&b, 0, MAX(0, cases[i].steps - 14), false);
        b.run.end = cases[i].end;
        b.run.status = cases[i].status;
        b.pilot->end(b.pilot->arg, &b.w);
        is_int((int)heat(&b)->state, (int)cases[i].state, "end %zu leaves the heat so", i);
        is_str(heat(&b)->why, cases[i].why, "end %zu has its sentence", i);
        tear_down(&b);
    }
}

static void test_stopped(void)
{
    struct bench b;

    set_up(&b, 1, 1, false);
    ok(!race_runner_stopped(b.runner), "a heat that goes on is not stopped");
    b.pilot->stop(b.pilot->arg);
    ok(race_runner_stopped(b.runner) && b.pilot->over(b.pilot->arg), "a user stops a heat");
    is_str(heat(&b)->why, "it was stopped", "a heat that was stopped says so");
    tear_down(&b);
    set_up(&b, 1, 1, false);
    b.w.asked = 2;
    turn(&b);
    is_str(heat(&b)->why, "it was interrupted", "a heat says that its job was interrupted");
    ok(!race_runner_stopped(b.runner), "an interrupt stops one heat");
    tear_down(&b);
    set_up(&b, 1, 1, false);
    turn(&b);
    b.w.now_ns += 31 * S;
    turn(&b);
    is_str(heat(&b)->why, "it has made no step for 31 s", "a heat waits 30 s for its first step");
    tear_down(&b);
    race_runner_free(NULL);
}

int main(void)
{
    test_steps();
    test_members();
    test_refused();
    test_ends();
    test_stopped();
    return done();
}
