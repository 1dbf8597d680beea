/* What a step costs by each goal, and the lines that tell of trials. */
#include "optimize/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/goal.h"
#include "tap.h"

#define NIL ((double)NAN) /* not known */

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-9;
}

/* Of a step of 2 s at 300 W. */
static void test_goals(void)
{
    static const struct {
        struct goal goal;
        bool needs;
        double price;
        enum run_goal stored;
    } cases[] = {
        { { .kind = GOAL_THROUGHPUT }, false, 2, RUN_GOAL_THROUGHPUT },
        { { GOAL_THROUGHPUT, 36, 3, true, true, true }, false, 2, RUN_GOAL_THROUGHPUT },
        { { .kind = GOAL_ENERGY }, true, 600, RUN_GOAL_ENERGY },
        { { .kind = GOAL_COST, .price_hour = 36 }, false, 0.02, RUN_GOAL_COST },
        { { .kind = GOAL_COST, .price_kwh = 3 }, true, 0.0005, RUN_GOAL_COST },
        { { .kind = GOAL_COST, .price_kwh = 0.6 }, true, 0.0001, RUN_GOAL_COST },
        { { .kind = GOAL_COST, .price_hour = 36, .price_kwh = 3 }, true, 0.0205, RUN_GOAL_COST },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct goal *g = &cases[i].goal;

        ok(goal_needs_power(g) == cases[i].needs, "goal %zu wants the power or does not", i);
        ok(same(goal_price(g, 2, 300), cases[i].price), "goal %zu has its price of a step: %g", i,
           goal_price(g, 2, 300));
        is_int(progress_goal(g->kind), cases[i].stored, "goal %zu is stored as what it is", i);
    }
}

static void test_watts(void)
{
    static const struct {
        bool gpus, cpus;
        double gpu_w, cpu_w, want;
    } cases[] = {
        { true, false, 300, 80, 300 },  { false, true, 300, 80, 80 }, { true, true, 300, 80, 380 },
        { false, false, 300, 80, NIL }, { true, false, 0, 80, NIL },  { true, true, 0, 80, 80 },
        { true, true, NIL, 80, NIL },   { true, true, 0.5, 0, 0.5 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct goal g = { .gpus = cases[i].gpus, .cpus = cases[i].cpus };
        struct run_moment m = { .seconds = 1 };

        m.values[RUN_GPU_WATTS] = cases[i].gpu_w;
        m.values[RUN_CPU_WATTS] = cases[i].cpu_w;
        ok(same(goal_watts(&g, &m), cases[i].want), "moment %zu has the watts that are read", i);
    }
}

/* ---- lines ---- */

static void test_outcomes(void)
{
    static const struct {
        const char *want;
        enum session_goal goal;
        enum session_outcome outcome;
        double gain, low, high, speed;
        unsigned steps, starts;
        const char *note, *also;
    } cases[] = {
        { "k=v: +50.0 % steps/s (+40.0 to +60.0 %), kept", GOAL_THROUGHPUT, SESSION_ADOPTED, 0.5,
          0.4, 0.6, 0.3, 0, 0, "", "" },
        { "k=v: +50.0 % steps/J (+40.0 to +60.0 %) at -2.1 % steps/s, kept", GOAL_ENERGY,
          SESSION_ADOPTED, 0.5, 0.4, 0.6, -0.021, 0, 0, "", "" },
        { "k=v: -10.0 % steps for the money (-20.0 to +0.0 %), taken back", GOAL_COST,
          SESSION_REJECTED, -0.1, -0.2, 0, NIL, 0, 0, "", "" },
        { "k=v: +10.0 % steps/s, undecided and taken back after 7 steps", GOAL_THROUGHPUT,
          SESSION_UNDECIDED, 0.1, -0.2, (double)INFINITY, NIL, 7, 0, "", "" },
        { "k=v: not measured, undecided and taken back", GOAL_THROUGHPUT, SESSION_UNDECIDED, NIL,
          -1, (double)INFINITY, NIL, 0, 0, "so", "" },
        { "k=v: it was slow, taken back", GOAL_THROUGHPUT, SESSION_REJECTED, NIL, -1,
          (double)INFINITY, NIL, 0, 0, "it was slow", "" },
        { "k=v: not measured, taken back", GOAL_THROUGHPUT, SESSION_REJECTED, NIL, -1,
          (double)INFINITY, NIL, 0, 0, "", "" },
        { "k=v: +0.0 % steps/s (-10.0 to +10.0 %), taken back: x=1 is faster", GOAL_THROUGHPUT,
          SESSION_REJECTED, 0, -0.1, 0.1, NIL, 0, 0, "x=1 is faster", "" },
        { "k=v: failed: no room, taken back after 3 steps", GOAL_THROUGHPUT, SESSION_BROKE, 0.5,
          0.4, 0.6, NIL, 3, 0, "no room", "" },
        { "k=v with w=yes: 2.0 times as fast (1.9 to 2.1), kept after 120 steps in 3 starts",
          GOAL_THROUGHPUT, SESSION_ADOPTED, 1, 0.9, 1.1, NIL, 120, 3, "", "w" },
        { "k=v: +50.0 % steps/s (+40.0 to +60.0 %); it did not last, taken back after 9 steps in 1 "
          "start",
          GOAL_THROUGHPUT, SESSION_ROLLED_BACK, 0.5, 0.4, 0.6, NIL, 9, 1, "", "" },
        { "k=v: +50.0 % steps/s (+40.0 to +60.0 %), kept", GOAL_THROUGHPUT, SESSION_ADOPTED, 0.5,
          0.4, 0.6, NIL, 0, 2, "", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct session_entry k = { .knob = "k",
                                   .value = "v",
                                   .outcome = cases[i].outcome,
                                   .effect = { cases[i].gain, cases[i].low, cases[i].high },
                                   .speed = cases[i].speed,
                                   .steps = cases[i].steps,
                                   .starts = cases[i].starts };

        snprintf(k.note, sizeof(k.note), "%s", cases[i].note);
        snprintf(k.also, sizeof(k.also), "%s", cases[i].also);
        progress_outcome(&k, cases[i].goal, &out);
        is_str(str_text(&out), cases[i].want, "entry %zu has its line", i);
    }
}

/* Whether a trial that begins is told of, and how. */
static void test_begins(void)
{
    static const struct {
        const char *before, *also;
        enum session_phase phase;
        unsigned trials, offers;
        const char *want; /* NULL: nothing is told */
    } cases[] = {
        { "", "", PHASE_CANARY, 1, 1, "trying k=v: so" },
        { "w", "", PHASE_CANARY, 2, 3, "trying k=v instead of w: so" },
        { "", "x", PHASE_CANARY, 1, 1, "trying k=v with x=yes: so" },
        { "w", "x", PHASE_UNDO, 1, 1, "trying k=v with x=yes instead of w: so" },
        { "", "", PHASE_CANARY, 0, 1, NULL },
        { "", "", PHASE_CANARY, 1, 0, NULL },
        { "", "", PHASE_OVER, 1, 1, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct session s = { .phase = cases[i].phase,
                             .trials = cases[i].trials,
                             .n_offers = cases[i].offers };
        struct session_offer *o = &s.offers[0];
        struct progress p = { .told = 0 };

        str_add(&out, "earlier");
        *o = (struct session_offer){ .knob = "k", .value = "v", .why = "so" };
        snprintf(o->before, sizeof(o->before), "%s", cases[i].before);
        snprintf(o->also, sizeof(o->also), "%s", cases[i].also);
        ok(progress_next(&p, &s, &out) == !!cases[i].want, "begin %zu is told or is not", i);
        is_str(str_text(&out), cases[i].want ? cases[i].want : "", "begin %zu has its line", i);
        ok(!progress_next(&p, &s, &out), "begin %zu is told once", i);
    }
}

/* Entries are told in their order, those that were left are not, and a new outcome is told. */
static void test_entries(void)
{
    static const enum session_outcome outcomes[] = { SESSION_REJECTED, SESSION_LEFT,
                                                     SESSION_ADOPTED };
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct session s = { .phase = PHASE_OVER, .n_entries = ARRAY_SIZE(outcomes) };
    struct progress p = { .told = 0 };

    for (unsigned i = 0; i < s.n_entries; i++) {
        s.entries[i] = (struct session_entry){ .value = "v",
                                               .outcome = outcomes[i],
                                               .effect = { (double)NAN, -1, (double)INFINITY } };
        snprintf(s.entries[i].knob, sizeof(s.entries[i].knob), "k%u", i);
    }
    ok(progress_next(&p, &s, &out), "the first entry is told");
    is_str(str_text(&out), "k0=v: not measured, taken back", "the first entry has its line");
    ok(progress_next(&p, &s, &out), "the entry behind one that was left is told");
    is_str(str_text(&out), "k2=v: not measured, kept", "the third entry has its line");
    ok(!progress_next(&p, &s, &out), "three entries are told once");
    s.entries[0].outcome = SESSION_UNDECIDED;
    ok(progress_next(&p, &s, &out), "an old entry with another outcome is told");
    ok(!strncmp(str_text(&out), "k0=v", 4), "the line is that of the old entry: %s",
       str_text(&out));
    ok(!progress_next(&p, &s, &out), "another outcome is told once");
}

int main(void)
{
    test_goals();
    test_watts();
    test_outcomes();
    test_begins();
    test_entries();
    return done();
}
