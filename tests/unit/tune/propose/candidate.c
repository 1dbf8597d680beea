/* How a setting becomes a candidate: what it has to gain, whose word it needs, what is refused, and
 * that each stands there once. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "oom_arena.h"
#include "tap.h"
#include "tune/propose/propose_private.h"

static const char knobs_text[] =
    "[knob.plain]\nflag = --plain\nvalues = 0..64\n"
    "[knob.rounds]\nflag = --rounds\nvalues = 1, 2\nrounds = yes\n"
    "[knob.numeric]\nflag = --numeric\nvalues = 1, 2\nrisk = numeric\n"
    "[knob.machine]\nflag = --machine\nvalues = 1, 2\nrisk = privileged\n"
    "[knob.needs]\nflag = --needs\nvalues = 1, 2\nneeds = ranks >= 2\n"
    "[knob.loader.workers]\nflag = --workers\nvalues = 0..64\n";

struct made {
    struct knobs knobs;
    struct run run;
    struct run_rank rank;
    struct propose_about about;
    struct proposer p;
};

static void open_made(struct made *m)
{
    struct err e = { "" };

    *m = (struct made){ .run = { .id = NULL } };
    if (knobs_declare(&m->knobs, "k", knobs_text, strlen(knobs_text), &e) < 0)
        ok(false, "the knobs are read: %s", e.text);
    m->run.ranks = &m->rank;
    m->run.n_ranks = 1;
    m->about = (struct propose_about){ .run = &m->run, .knobs = &m->knobs, .least_gain = 0.02 };
    m->p = (struct proposer){ .about = &m->about };
    m->p.facts = (struct facts){ &m->run, &m->p.scratch, &m->p.no_memory };
}

static void close_made(struct made *m)
{
    proposals_done(&m->p.out);
    arena_done(&m->p.scratch);
    knobs_done(&m->knobs);
}

/* Candidates and those that need a word, as "1+0". */
static const char *counts(const struct made *m)
{
    static char text[32];

    snprintf(text, sizeof(text), "%zu+%zu", m->p.out.count, m->p.out.n_barred);
    return text;
}

static void add(struct made *m, const char *knob, const char *value, const char *before,
                double gain)
{
    propose_add(&m->p, knob, value, before, gain, "why %s", value);
}

static void test_gain(void)
{
    struct made m;

    open_made(&m);
    add(&m, "plain", "1", NULL, 1.0199);
    is_str(counts(&m), "0+0", "what gains less than the least is none");
    add(&m, "plain", "1", NULL, 1.02);
    is_str(counts(&m), "1+0", "what gains the least is a candidate");
    add(&m, "plain", "2", NULL, (double)NAN);
    is_str(counts(&m), "2+0", "what gains nobody knows how much is a candidate");
    is_str(m.p.out.list[0].why, "why 1", "a candidate has its reason");
    is_str(m.p.out.list[0].value, "1", "a candidate has its value");
    ok(!m.p.out.list[0].before, "what is not known before is not told");
    close_made(&m);
}

static void test_what_fits(void)
{
    struct made m;

    open_made(&m);
    add(&m, "none", "1", NULL, 2);
    add(&m, "plain", "65", NULL, 2);
    add(&m, "plain", "x", NULL, 2);
    add(&m, "plain", "3", "3", 2);
    add(&m, "needs", "1", NULL, 2);
    is_str(counts(&m), "0+0", "what does not fit is none");
    m.run.ranks = (struct run_rank[]){ { .rank = 0 }, { .rank = 1 } };
    m.run.n_ranks = 2;
    add(&m, "needs", "1", NULL, 2);
    is_str(counts(&m), "1+0", "a knob whose condition holds has a candidate");
    add(&m, "plain", "3", "4", 2);
    is_str(m.p.out.list[1].before, "4", "a candidate has the value of before");
    add(&m, "plain", "3", "4", 3);
    add(&m, "plain", "4", "3", 2);
    is_str(counts(&m), "3+0", "a value stands there once, and another beside it");
    close_made(&m);
}

/* Whose word each needs: the user's for numbers, an operator's for machines. */
static void test_words(void)
{
    static const struct {
        bool numeric, privileged, exact;
        const char *want;
    } words[] = {
        { false, false, false, "2+2" }, { true, false, false, "3+1" },
        { false, true, false, "3+1" },  { true, true, false, "4+0" },
        { true, true, true, "3+1" }, /* not even the last digits may change */
        { false, false, true, "1+3" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        struct made m;

        open_made(&m);
        m.about.numeric = words[i].numeric;
        m.about.privileged = words[i].privileged;
        m.about.exact = words[i].exact;
        for (int k = 0; k < 2; k++) { /* the second time they are there already */
            add(&m, "plain", "1", NULL, 2);
            add(&m, "rounds", "1", NULL, 2);
            add(&m, "numeric", "1", NULL, 2);
            add(&m, "machine", "1", NULL, 2);
        }
        is_str(counts(&m), words[i].want, "numbers may change %d, the machine %d, digits not %d",
               words[i].numeric, words[i].privileged, words[i].exact);
        close_made(&m);
    }
}

/* What the profile has as refused: that value, and of workers more of them. */
static void test_refused(void)
{
    struct profile_setting memos[] = {
        { .knob = "loader.workers", .value = "8", .kind = PROFILE_REFUSED },
        { .knob = "plain", .value = "8", .kind = PROFILE_REFUSED },
    };
    const struct profile won = { .memos = memos, .n_memos = ARRAY_SIZE(memos) };
    struct made m;

    open_made(&m);
    m.about.won = &won;
    add(&m, "loader.workers", "9", NULL, 2);
    add(&m, "loader.workers", "8", NULL, 2);
    is_str(counts(&m), "0+0", "as many workers as were refused are none, nor are more");
    add(&m, "loader.workers", "7", NULL, 2);
    is_str(counts(&m), "1+0", "fewer workers than were refused are a candidate");
    add(&m, "plain", "8", NULL, 2);
    is_str(counts(&m), "1+0", "a value that was refused is none");
    add(&m, "plain", "9", NULL, 2);
    add(&m, "rounds", "1", NULL, 2);
    is_str(counts(&m), "3+0", "a larger value of another knob is a candidate");
    m.p.naming = true;
    add(&m, "plain", "8", NULL, 2);
    is_str(counts(&m), "4+0", "what the user names is not refused");
    memos[0].value = "many";
    m.p.naming = false;
    add(&m, "loader.workers", "20", NULL, 2);
    is_str(counts(&m), "5+0", "a refusal that is no number is of that word alone");
    close_made(&m);
}

static void number(struct made *m, double value, double before)
{
    propose_number(&m->p, "plain", value, before, 2, "why %.0f", value);
}

static void test_numbers(void)
{
    struct made m;

    open_made(&m);
    number(&m, 4, 2);
    is_str(m.p.out.list[0].value, "4", "a number is a value");
    is_str(m.p.out.list[0].before, "2", "a number of before is one");
    number(&m, 5, (double)NAN);
    ok(!m.p.out.list[1].before, "a number that nobody knows is not told");
    number(&m, (double)NAN, 2);
    number(&m, 1e15, 2);
    number(&m, -1e15, 2);
    number(&m, 6, 1e15);
    number(&m, 6, -1e15);
    number(&m, 3, 3);
    is_str(counts(&m), "2+0", "numbers that no knob takes, or that are there, are none");
    number(&m, 6, 9.99e14);
    is_str(counts(&m), "3+0", "a number of before may be large");
    close_made(&m);
}

/* What goes along is of the next one alone, whether that becomes a candidate or not. */
static void test_also(void)
{
    struct made m;

    open_made(&m);
    m.p.also = knobs_find(&m.knobs, "rounds");
    add(&m, "plain", "1", NULL, 1);
    add(&m, "plain", "2", NULL, 2);
    ok(!m.p.out.list[0].also, "what went along with one that is none goes with no other");
    m.p.also = knobs_find(&m.knobs, "rounds");
    add(&m, "plain", "3", NULL, 2);
    add(&m, "plain", "4", NULL, 2);
    ok(m.p.out.list[1].also && !m.p.out.list[2].also, "what goes along goes with one");
    close_made(&m);
}

static void test_without(void)
{
    const struct proposer p = { .step_s = 2 };

    ok(fabs(propose_without(&p, 1) - 2) < 1e-12, "half of a step less is twice as fast");
    ok(fabs(propose_without(&p, 0) - 1) < 1e-12, "nothing less is as fast");
    ok(fabs(propose_without(&p, -1) - 1) < 1e-12, "less than nothing is as fast");
    ok(fabs(propose_without(&p, 2) - 1) < 1e-12, "a whole step less says nothing");
    ok(fabs(propose_without(&p, (double)NAN) - 1) < 1e-12, "what is not known says nothing");
}

static void test_item(void)
{
    struct verdict_item items[] = { { .cause = CAUSE_GC, .share = 1 },
                                    { .cause = CAUSE_BLAS, .share = 2 },
                                    { .cause = CAUSE_BLAS, .share = 3 } };
    const struct verdict v = { .items = items, .count = 2 };
    const struct propose_about about = { .verdict = &v };
    const struct proposer p = { .about = &about };

    ok(propose_item(&p, CAUSE_GC) == &items[0] && propose_item(&p, CAUSE_BLAS) == &items[1],
       "the item of a cause is found");
    ok(!propose_item(&p, CAUSE_NUMA), "a cause that the verdict lacks has no item");
}

/* A text that is missing makes all of them none: nothing is added behind it. */
static void test_no_memory(void)
{
    bool failed;

    oom_restart();
    do {
        struct made m;

        open_made(&m);
        oom_next();
        add(&m, "plain", "1", "0", 2);
        add(&m, "machine", "1", NULL, 2);
        add(&m, "plain", "2", "0", 2);
        failed = oom_end();
        is_int(m.p.no_memory, failed, "candidates with allocation %d failing", oom_at);
        ok(failed || !strcmp(counts(&m), "2+1"), "all of them are there: %s", counts(&m));
        close_made(&m);
    } while (failed);
}

int main(void)
{
    test_gain();
    test_what_fits();
    test_words();
    test_refused();
    test_numbers();
    test_also();
    test_without();
    test_item();
    test_no_memory();
    return done();
}
