/* What of a run that goes on is judged, and which processes are ranks where nobody tells. */
#include <math.h>
#include <string.h>

#include "run/archive/run_tail.h"
#include "run/job/find_ranks.h"
#include "tap.h"

#define S ((int64_t)1000000000)

/* Steps of so many seconds each up to a time, and a moment a second. */
static void build(struct run *r, size_t ranks, size_t steps, double step_s, int64_t end_ns)
{
    *r = (struct run){ .id = "x", .n_ranks = ranks };
    r->ranks = arena_alloc(&r->arena, ranks * sizeof(*r->ranks));
    for (size_t k = 0; k < ranks; k++) {
        struct run_rank *to = &r->ranks[k];

        to->steps = arena_alloc(&r->arena, steps * sizeof(*to->steps));
        to->n_steps = steps;
        for (size_t i = 0; i < steps; i++) {
            to->steps[i].number = i;
            to->steps[i].end_ns = end_ns - (int64_t)((double)(steps - 1 - i) * step_s * 1e9);
            to->steps[i].begin_ns = to->steps[i].end_ns - (int64_t)(step_s * 1e9);
        }
    }
    r->n_moments = 300;
    r->moments = arena_alloc(&r->arena, r->n_moments * sizeof(*r->moments));
    for (size_t i = 0; i < r->n_moments; i++) {
        r->moments[i].monotonic_ns = end_ns - (int64_t)(r->n_moments - 1 - i) * S;
        r->moments[i].seconds = 1;
    }
}

static void test_window(void)
{
    struct run_tail w;
    struct run r;

    build(&r, 2, 1000, 0.1, 1000 * S);
    run_tail_cut(&r, 60, 1001 * S, &w);
    ok(r.ranks[0].n_steps == 590 && r.ranks[1].n_steps == 590, "steps of the last minute: %zu",
       r.ranks[0].n_steps);
    is_int((int)r.ranks[0].steps[0].number, 410, "the last ones");
    is_int((int)r.ranks[0].dropped, 410, "the others count as dropped");
    is_int((int)r.n_moments, 59, "moments of the last minute are kept");
    ok(fabs(w.seconds - 60) < 1e-6 && fabs(w.longest_s - 0.1) < 1e-6,
       "the window has %g s and the longest step", w.seconds);
    ok(w.still_s < 1e-6, "what is behind the last moment is not kept yet");
    run_done(&r);
    build(&r, 1, 100, 10, 1000 * S);
    run_tail_cut(&r, 60, 1000 * S, &w);
    is_int((int)r.ranks[0].n_steps, WINDOW_STEPS, "long steps: as many as a verdict needs");
    ok(fabs(w.seconds - 200) < 1e-6, "the window of long steps takes %g s", w.seconds);
    run_done(&r);
}

static void test_still(void)
{
    struct run_tail w;
    struct run r;

    build(&r, 2, 500, 0.1, 1000 * S);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].monotonic_ns += 90 * S;
    r.ranks[1].n_steps = 100; /* ended long ago */
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(fabs(w.still_s - 90) < 1e-6, "the job has made no step for %g s", w.still_s);
    is_int((int)r.ranks[0].n_steps, WINDOW_STEPS, "the last ones are judged");
    is_int((int)r.ranks[1].n_steps, 0, "steps of a rank that ended before are not judged");
    run_done(&r);
    r = (struct run){ .id = "x" };
    run_tail_cut(&r, 60, 1000 * S, &w);
    ok(isnan(w.still_s) && isnan(w.longest_s), "a run without anything");
    run_tail_cut(&r, 60, INT64_MIN, &w);
    ok(isnan(w.seconds), "a run without anything has no time");
    run_done(&r);
}

/* Who are ranks, as text. */
static const char *ranks_of(const struct find_ranks *all, size_t n, char text[64])
{
    pid_t pids[KIN_MAX];
    size_t count = find_ranks_list(all, n, pids);

    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), 64 - strlen(text), "%s%d", i ? " " : "", (int)pids[i]);
    return text;
}

static void test_ranks(void)
{
    static const char train[] = "python\0train.py\0", torchrun[] = "torchrun\0train.py\0",
                      shell[] = "sh\0-c\0", sleeps[] = "sleep\0100\0",
                      tracker[] = "python\0-c\0from multiprocessing.resource_tracker import main\0";
    char text[64];
    const struct find_ranks one[] = { { 1, 0, 0, train } };
    const struct find_ranks forked[] = { { 1, 0, 0.01, train },
                                         { 2, 1, 0.9, train },
                                         { 3, 1, 1, train } };
    const struct find_ranks spawned[] = { { 1, 0, 0.01, train }, { 2, 1, 0.9, tracker } };
    const struct find_ranks two[] = {
        { 1, 0, 0.01, torchrun }, { 2, 1, 0.9, train }, { 3, 1, 1, train }, { 4, 3, 0.5, train }
    };
    const struct find_ranks deep[] = {
        { 1, 0, 0, shell }, { 2, 1, 0, torchrun }, { 3, 2, 1, train }, { 4, 1, 0, sleeps }
    };
    const struct find_ranks idle[] = { { 1, 0, 0, shell }, { 2, 1, 0, sleeps } };
    const struct find_ranks circle[] = { { 1, 2, 0, shell }, { 2, 1, 0, sleeps } };

    is_str(ranks_of(one, 1, text), "1", "a process alone is the rank");
    is_str(ranks_of(forked, 3, text), "1", "one with forked workers is, though they work");
    is_str(ranks_of(spawned, 2, text), "1",
           "a process with a helper of multiprocessing is the rank");
    is_str(ranks_of(two, 4, text), "2 3", "a launcher is none, its children are");
    is_str(ranks_of(deep, 4, text), "3", "behind a shell, without what sleeps beside");
    is_str(ranks_of(idle, 2, text), "2", "a process that sleeps alone is the rank");
    is_str(ranks_of(circle, 2, text), "", "a circle ends");
    is_str(ranks_of(one, 0, text), "", "no processes have no rank");
}

int main(void)
{
    test_window();
    test_still();
    test_ranks();
    return done();
}
