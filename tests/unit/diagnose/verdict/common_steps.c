/* Ranks are compared in the steps that all of them have: how many these have to be, and how many
 * they are at most. */
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "run_made.h"
#include "tap.h"

enum { STEPS = 60, MANY = 2500 };

/* What is told of a rank that is slow; "" where none is. Valid until the next call. */
static const char *slow_rank(const struct run *r)
{
    static char text[1024];
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };

    text[0] = '\0';
    if (judge_run(r, NULL, &v) < 0)
        abort();
    for (size_t i = 0; i < v.count; i++)
        if (v.items[i].cause == CAUSE_SLOW_RANK)
            snprintf(text, sizeof(text), "%s; %s", v.items[i].sentence, v.items[i].evidence);
    return text;
}

static void make(struct run *r, size_t steps)
{
    struct made m = made_like(CAUSE_SLOW_RANK, 1);

    m.ranks = 2;
    m.noise = 1e-6;
    m.slow_from = 0;
    m.level = 1;
    m.steps = steps;
    for (size_t i = 0; i < m.ranks; i++)
        m.slow[i] = i ? 1.5 : 1;
    made_build(&m, r);
}

/* The second rank's steps have other numbers: so many fewer are common. */
static void shift(struct run *r, uint64_t by)
{
    for (size_t i = 0; i < r->ranks[1].n_steps; i++)
        r->ranks[1].steps[i].number += by;
}

static void test_few(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    unsigned by = 0;
    char last[1024] = "";

    make(&r, STEPS);
    ok(strstr(slow_rank(&r), "rank 1 ") != NULL, "a rank that takes half as long again is slow");
    for (; *slow_rank(&r) && by <= STEPS; by++) {
        snprintf(last, sizeof(last), "%s", slow_rank(&r));
        shift(&r, 1);
    }
    ok(by > 1 && by < STEPS, "with too few common steps no rank is slow: %u apart", by);
    ok(strstr(last, " of 5 steps") != NULL, "five common steps are enough: %s", last);
    shift(&r, STEPS);
    is_str(slow_rank(&r), "", "ranks without a common step are not compared");
    shift(&r, (uint64_t)1 << 40);
    is_str(slow_rank(&r), "", "ranks that are far apart are not compared");
}

/* Steps that one of them lacks are left out. */
static void test_gaps(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    struct run_rank *k;
    size_t kept = 0;

    make(&r, STEPS);
    k = &r.ranks[1];
    for (size_t i = 0; i < k->n_steps; i += 2)
        k->steps[kept++] = k->steps[i];
    k->n_steps = kept;
    ok(strstr(slow_rank(&r), "rank 1 ") != NULL, "every second step is enough to compare ranks");
    for (size_t i = 0; i < k->n_steps; i++)
        k->steps[i].number = k->steps[i].number * 2 + 1;
    ok(!*slow_rank(&r) || !strstr(slow_rank(&r), " of 60 steps"),
       "steps that one rank lacks do not count");
}

static void test_many(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };

    make(&r, MANY);
    ok(strstr(slow_rank(&r), " of 2000 steps") != NULL, "the last 2,000 steps are compared: %s",
       slow_rank(&r));
}

int main(void)
{
    test_few();
    test_gaps();
    test_many();
    return done();
}
