/* What brim optimize tried, as the .ini file of a run has it: each key, and how much of it is
 * taken. */
#include <errno.h>
#include <math.h>

#include "base/str.h"
#include "run/archive/archive.h"
#include "tap.h"

enum { TRIALS_MAX = 64, TEXT_MAX = 4096, ROOM = 1 << 20 };

static const char head[] = "[run]\nversion = 1\nid = x\nhost = h\n";

static const struct run_tuning *parse(const char *text, struct run *r)
{
    CLEANUP(str_done) struct str all = STR_INIT(ROOM);
    struct archive_part part;
    struct err e = { "" };
    int rc;

    str_addf(&all, "%s%s", head, text);
    rc = archive_parse_about(str_text(&all), all.len, r, &part, &e);
    is_int(rc, 0, "a run with what was tried is read: %s", e.text);
    return r->tuning;
}

static void test_keys(void)
{
    static const char text[] =
        "[tuning]\ngoal = cost\n[tuning.before]\nsteps_per_s = 1.5\nsamples_per_s = 2.5\n"
        "price = 3.5\n[tuning.after]\nsteps_per_s = 4.5\nsamples_per_s = 5.5\nprice = 6.5\n"
        "[trial]\nknob = k\nvalue = v\nbefore = b\nalso = a\nnote = n\nnote = m\nend = rejected\n"
        "gain = 0.1\nlow = 0.2\nhigh = 0.3\nspeed = 0.4\nsteps = 5\nstarts = 6\nbegin_ns = 7\n"
        "end_ns = 8\nother = 9\n[other]\nknob = z\n";
    CLEANUP(run_done) struct run r = { .id = NULL };
    const struct run_tuning *t = parse(text, &r);
    const struct run_trial *k;

    if (!ok(t && t->n_trials == 1, "one trial is read"))
        return;
    k = t->trials;
    is_int(t->goal, RUN_GOAL_COST, "the goal is read");
    ok(t->before.steps_per_s == 1.5 && t->before.samples_per_s == 2.5 && t->before.price == 3.5,
       "rates of before are read");
    ok(t->after.steps_per_s == 4.5 && t->after.samples_per_s == 5.5 && t->after.price == 6.5,
       "rates of afterwards are read");
    is_str(k->knob, "k", "the knob of a trial is read");
    is_str(k->value, "v", "the value of a trial is read");
    is_str(k->before, "b", "the value before a trial is read");
    is_str(k->also, "a", "what goes with a trial is read");
    is_str(k->note, "nm", "a note of two lines is one text");
    is_int(k->end, RUN_TRIAL_REJECTED, "the end of a trial is read");
    ok(k->gain == 0.1 && k->low == 0.2 && k->high == 0.3 && k->speed == 0.4,
       "what a trial gained is read");
    ok(k->steps == 5 && k->starts == 6 && k->begin_ns == 7 && k->end_ns == 8,
       "steps, starts and times of a trial are read");
}

static void test_absent(void)
{
    CLEANUP(run_done) struct run none = { .id = NULL }, r = { .id = NULL };
    const struct run_tuning *t;

    ok(!parse("[trials]\nknob = k\n", &none), "a run of which nothing was tried has no trials");
    t = parse("[tuning]\n[tuning.before]\n[trial]\nknob = k\nvalue = v\n", &r);
    if (!ok(t && t->n_trials == 1, "a trial of which little is known is read"))
        return;
    ok(isnan(t->before.steps_per_s) && isnan(t->before.samples_per_s) && isnan(t->before.price) &&
           isnan(t->after.steps_per_s) && isnan(t->after.samples_per_s) && isnan(t->after.price),
       "rates that are not there are absent");
    ok(isnan(t->trials->gain) && isnan(t->trials->low) && isnan(t->trials->high) &&
           isnan(t->trials->speed) && !t->trials->steps && !t->trials->starts &&
           !t->trials->begin_ns && !t->trials->end_ns && t->trials->end == RUN_TRIAL_RUNS,
       "figures that are not there are absent");
}

/* Numbers at their limits; 1: what is there already stays. */
static void test_limits(void)
{
    static const struct {
        const char *key, *value;
        long long want;
    } cases[] = {
        { "steps", "4294967295", 4294967295 },
        { "steps", "4294967296", 1 },
        { "steps", "0", 0 },
        { "starts", "4294967295", 4294967295 },
        { "starts", "x", 1 },
        { "begin_ns", "2305843009213693951", 2305843009213693951 },
        { "begin_ns", "2305843009213693952", 1 },
        { "begin_ns", "0", 0 },
        { "begin_ns", "-1", 1 },
        { "end_ns", "2305843009213693951", 2305843009213693951 },
        { "end_ns", "-1", 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        const struct run_tuning *t;
        const struct run_trial *k;
        char text[256];

        snprintf(text, sizeof(text), "[trial]\nknob = k\nvalue = v\n%s = 1\n%s = %s\n",
                 cases[i].key, cases[i].key, cases[i].value);
        t = parse(text, &r);
        if (!ok(t && t->n_trials == 1, "the trial with %s is read", cases[i].value))
            continue;
        k = t->trials;
        is_int(cases[i].key[0] == 'b'   ? k->begin_ns
               : cases[i].key[0] == 'e' ? k->end_ns
               : cases[i].key[2] == 'e' ? (long long)k->steps
                                        : (long long)k->starts,
               cases[i].want, "%s = %s is taken or left out", cases[i].key, cases[i].value);
    }
}

/* How many trials, and how much of a text. */
static void test_much(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    CLEANUP(run_done) struct run many = { .id = NULL }, r = { .id = NULL };
    const struct run_tuning *t;

    for (int i = 0; i <= TRIALS_MAX; i++)
        str_addf(&text, "[trial]\nknob = k%d\nvalue = v\n", i);
    t = parse(str_text(&text), &many);
    ok(t && t->n_trials == TRIALS_MAX, "a trial more than a run may have is left out");
    is_str(t ? t->trials[0].knob : "", "k0", "the first of many trials has its knob");
    is_str(t ? t->trials[TRIALS_MAX - 2].knob : "", "k62", "trials of many have their own knobs");
    str_reset(&text);
    str_add(&text, "[trial]\nknob = k\nvalue = v\n");
    for (int i = 0; i < TEXT_MAX / 64 + 1; i++) {
        str_add(&text, "note = ");
        str_fill(&text, 'n', i == 0 ? 63 : 64);
        str_add_char(&text, '\n');
    }
    str_add(&text, "note = +\nnote = -\n");
    t = parse(str_text(&text), &r);
    if (!ok(t && t->n_trials == 1 && t->trials->note, "the trial with a long note is read"))
        return;
    is_int((long long)strlen(t->trials->note), TEXT_MAX, "a note has an end");
    is_str(t->trials->note + TEXT_MAX - 2, "n+", "a note is filled up to its end");
}

int main(void)
{
    test_keys();
    test_absent();
    test_limits();
    test_much();
    return done();
}
