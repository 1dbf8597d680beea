/* The end of a run that goes on: which steps and moments are in the window, and how long it is. */
#include "run/archive/run_tail.h"

#include <math.h>
#include <string.h>

#include "tap.h"

enum { STEPS = 100 };

#define S ((int64_t)1000000000)

/* Steps and moments of a second each, up to a time in seconds; the rank has that many steps. */
static void build(struct run *r, size_t steps, size_t moments, int64_t end)
{
    *r = (struct run){ .id = "x", .n_ranks = 1 };
    r->ranks = arena_alloc(&r->arena, sizeof(*r->ranks));
    r->ranks[0] = (struct run_rank){ .n_steps = steps };
    r->ranks[0].steps = arena_alloc(&r->arena, STEPS * sizeof(*r->ranks[0].steps));
    for (size_t i = 0; i < steps; i++)
        r->ranks[0].steps[i] = (struct step){ .number = i,
                                              .begin_ns = (end - (int64_t)(steps - i)) * S,
                                              .end_ns = (end - (int64_t)(steps - i) + 1) * S };
    r->n_moments = moments;
    r->moments = arena_alloc(&r->arena, STEPS * sizeof(*r->moments));
    for (size_t i = 0; i < moments; i++) {
        r->moments[i].monotonic_ns = (end - (int64_t)(moments - 1 - i)) * S;
        r->moments[i].seconds = i ? 1 : 0.5;
    }
}

static void test_edges(void)
{
    struct run_tail w;
    struct run r;

    build(&r, STEPS, STEPS, 1000);
    r.ranks[0].steps[70].end_ns += S / 2;
    run_tail_cut(&r, 60, 1000 * S, &w);
    is_int((long long)r.ranks[0].n_steps, 60, "a step that begins with the window is in it");
    is_int((long long)r.ranks[0].steps[0].number, 40, "the first step of the window comes first");
    is_int((long long)r.ranks[0].dropped, 40, "steps before the window count as dropped");
    is_int((long long)r.n_moments, 60, "a moment that ends with the window's begin is not in it");
    ok(r.moments[0].monotonic_ns == 941 * S, "the first moment of the window comes first");
    ok(w.longest_s == 1.5, "the longest step of the window is told: %g s", w.longest_s);
    ok(w.seconds == 60 && w.still_s == 0, "the window has %g s", w.seconds);
    run_done(&r);
}

/* Runs that began within the window, and of which little is known. */
static void test_little(void)
{
    struct run_tail w;
    struct run r;

    build(&r, 3, 5, 1000);
    run_tail_cut(&r, 60, 1001 * S, &w);
    ok(r.ranks[0].n_steps == 3 && r.ranks[0].dropped == 0 && r.n_moments == 5,
       "all of a short run is in the window");
    ok(w.seconds == 5.5, "a run that began within the window has its own length: %g s", w.seconds);
    ok(w.longest_s == 1 && w.still_s == 0, "the steps of a short run are looked at");
    run_done(&r);
    build(&r, 3, 5, 1000);
    r.ranks[0].steps[2].end_ns -= S / 2;
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(w.seconds == 4.5, "without a time the newest moment is the end: %g s", w.seconds);
    ok(w.still_s == 0.5, "a job that makes no step stands still: %g s", w.still_s);
    run_done(&r);
    build(&r, 3, 0, 1000);
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(w.seconds == 60 && w.still_s == 0, "without moments the newest step is the end: %g s",
       w.seconds);
    run_done(&r);
    build(&r, 0, 5, 1000);
    run_tail_cut(&r, 2, 1000 * S, &w);
    ok(r.n_moments == 2 && w.seconds == 2, "a run without steps has its moments: %g s", w.seconds);
    ok(isnan(w.still_s) && isnan(w.longest_s), "a run without steps does not stand still");
    run_done(&r);
}

int main(void)
{
    test_edges();
    test_little();
    return done();
}
