/* Verdicts without memory: each allocation from an arena fails once, for runs of many causes. A
 * verdict is whole then, or told to be none. */
#include <errno.h>

#include "diagnose/verdict/judge.h"
#include "oom_arena.h"
#include "run_made.h"
#include "tap.h"

enum { STEPS = 120 };

static bool is_whole(const struct verdict *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!v->items[i].sentence || !v->items[i].evidence || !*v->items[i].sentence)
            return false;
    return v->count > 0 && v->sentence;
}

/* How many allocations of a run's verdict were told wrongly. */
static int wrong_of(const struct run *r, const struct run *earlier, int *rounds)
{
    int wrong = 0;
    bool failed;

    oom_restart();
    do {
        struct verdict v = { .count = 0 };
        int rc;

        oom_next();
        rc = judge_run(r, earlier, &v);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0) || (!failed && !is_whole(&v));
        verdict_done(&v);
    } while (failed);
    *rounds = oom_at - 1;
    return wrong;
}

static void test_causes(void)
{
    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        struct made m = made_like(c, 1);
        int rounds, wrong;

        m.steps = m.pause_every ? m.steps : STEPS;
        made_build(&m, &r);
        wrong = wrong_of(&r, NULL, &rounds);
        ok(wrong == 0 && rounds > 0, "a verdict of %s is wrong for %d of %d allocations",
           cause_name(c), wrong, rounds);
    }
}

/* Against an earlier run, which was twice as fast. */
static void test_earlier(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL }, earlier = { .id = NULL };
    struct made m = made_like(CAUSE_NONE, 1);
    int rounds, wrong;

    m.steps = STEPS;
    made_build(&m, &r);
    m.step_s /= 2;
    made_build(&m, &earlier);
    wrong = wrong_of(&r, &earlier, &rounds);
    ok(wrong == 0 && rounds > 0, "a verdict beside an earlier run: %d of %d allocations are wrong",
       wrong, rounds);
}

int main(void)
{
    test_causes();
    test_earlier();
    return done();
}
