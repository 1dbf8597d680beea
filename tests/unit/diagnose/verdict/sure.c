/* What a share is at least, and that what happened once, or what is little, is not said to limit a
 * run that is healthy. */
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "diagnose/verdict/sure.h"
#include "run_made.h"
#include "tap.h"

enum { RUNS = 300 };

static double least_of(size_t n, double (*share)(size_t i))
{
    struct judge_parts p = { .n = n };

    for (size_t i = 0; i < n; i++)
        judge_parts_add(&p, i, share(i), 1);
    return judge_parts_least(&p);
}

static double steady(size_t i)
{
    return i % 2 ? 0.25 : 0.15;
}

static double once(size_t i)
{
    return i >= 20 && i < 28 ? 0.9 : 0.02;
}

static double half(size_t i)
{
    return i < 50 ? 0.6 : 0;
}

static double first(size_t i)
{
    return i ? 0 : 1;
}

static void test_parts(void)
{
    struct judge_parts p = { .n = 20 };

    ok(least_of(100, steady) > 0.19, "what is always there: %.3f", least_of(100, steady));
    ok(least_of(100, once) < 0.05, "what was there once: %.3f", least_of(100, once));
    ok(least_of(100, half) > 0.1, "what was there for half of the time: %.3f", least_of(100, half));
    ok(isnan(least_of(3, steady)), "three steps tell nothing");
    ok(least_of(4, steady) > 0.19, "four do: %.3f", least_of(4, steady));
    for (size_t i = 0; i < p.n; i++)
        judge_parts_add(&p, i, 0.2 * first(i), first(i));
    ok(isnan(judge_parts_least(&p)), "one part that has time tells nothing");
    judge_parts_add(&p, 2, 0.2, 1);
    ok(judge_parts_least(&p) > 0.19, "two parts that have time tell: %.3f", judge_parts_least(&p));
}

/* A step beyond those that are counted is nobody's. */
static void test_beyond(void)
{
    struct judge_parts p = { .n = 100 };

    for (size_t i = 0; i < 100; i++)
        judge_parts_add(&p, i, steady(i), 1);
    judge_parts_add(&p, 100, 1e6, 1);
    judge_parts_add(&p, SIZE_MAX, 1e6, 1);
    ok(judge_parts_least(&p) == least_of(100, steady), "what is added beyond the end is left out");
    p = (struct judge_parts){ .n = 0 };
    judge_parts_add(&p, 0, 1, 1);
    ok(isnan(judge_parts_least(&p)), "nothing can be added to no steps");
}

/* How often a share of 0.2 with that noise is above its lower end: 19 of 20. */
static void test_coverage(void)
{
    uint64_t seed = 3;
    int above = 0, all = 4000;

    for (int k = 0; k < all; k++) {
        struct judge_parts p = { .n = 60 };

        for (size_t i = 0; i < p.n; i++)
            judge_parts_add(&p, i, 0.2 * (1 + 0.3 * made_normal(&seed)), 1);
        above += judge_parts_least(&p) <= 0.2;
    }
    ok(above > all * 94 / 100 && above < all * 96 / 100, "%.1f %% of lower ends hold",
       100.0 * above / all);
}

/* More of a stage in a step of one rank, at the end of it: others wait for that. */
static void add(struct run *r, size_t rank, size_t step, int stage, double seconds)
{
    for (size_t k = 0; k < r->n_ranks; k++)
        for (size_t i = step; i < r->ranks[k].n_steps; i++) {
            r->ranks[k].steps[i].begin_ns += i > step ? (int64_t)(seconds * 1e9) : 0;
            r->ranks[k].steps[i].end_ns += (int64_t)(seconds * 1e9);
            if (i == step)
                r->ranks[k].steps[i].host_s[k == rank ? stage : BRIM_STAGE_COMMUNICATION] +=
                    seconds;
        }
}

/* A job on two CPUs of a virtual machine beside others: steps vary, one in fifty takes three times
 * as long, and once it stands still for a while. */
static struct made rough(uint64_t seed, struct run *r, int stage, double share)
{
    static const int stages[] = { BRIM_STAGE_WAIT, BRIM_STAGE_FORWARD, BRIM_STAGE_OTHER };
    struct made m = { .seed = seed };
    size_t at;

    made_healthy(&m, false);
    m.ranks = 1 + seed % 2;
    m.step_s = made_uniform(&m.seed, 0.02, 0.2);
    m.noise = made_uniform(&m.seed, 0.02, 0.12);
    m.steps = (size_t)(6 / m.step_s) + 2;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, m.ranks > 1 ? 0.06 : 0);
    made_stage(&m, stage, share);
    made_build(&m, r);
    for (at = 2; at < m.steps; at++)
        if (made_bits(&m.seed) % 50 == 0)
            add(r, made_bits(&m.seed) % m.ranks, at, stages[made_bits(&m.seed) % 3], 2 * m.step_s);
    at = 2 + made_bits(&m.seed) % (m.steps - 2);
    add(r, made_bits(&m.seed) % m.ranks, at, stages[made_bits(&m.seed) % 3],
        made_uniform(&m.seed, 0, 1.2));
    return m;
}

static enum cause judge_rough(uint64_t seed, int stage, double share)
{
    struct run r;
    struct verdict v = { .count = 0 };
    enum cause found;

    rough(seed, &r, stage, share);
    if (judge_run(&r, NULL, &v) != 0)
        abort();
    found = v.items[0].cause;
    if ((share > 0.13) == (found == CAUSE_NONE))
        printf("# seed %d: %s\n", (int)seed, v.sentence);
    verdict_done(&v);
    run_done(&r);
    return found;
}

static void test_rough(void)
{
    int wrong = 0, found = 0;

    for (uint64_t seed = 0; seed < RUNS; seed++) {
        wrong += judge_rough(seed, BRIM_STAGE_WAIT, 0.09) != CAUSE_NONE;
        found += judge_rough(seed, BRIM_STAGE_WAIT, 0.28) != CAUSE_NONE;
    }
    ok(wrong <= RUNS / 100, "%d of %d rough runs that are healthy have a cause", wrong, RUNS);
    ok(found >= RUNS * 98 / 100, "%d of %d that wait have one", found, RUNS);
}

/* What stands first in a run of which something waits so long in so many steps. */
static enum cause judge_waits(double share, size_t from, size_t to, double seconds, char *sentence)
{
    struct made m = { .seed = 8 };
    struct verdict v = { .count = 0 };
    struct run r;
    enum cause found;

    made_healthy(&m, false);
    m.ranks = 1;
    m.steps = 200;
    m.step_s = 0.05;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, 0);
    made_stage(&m, BRIM_STAGE_WAIT, share);
    made_build(&m, &r);
    for (size_t i = from; i < to; i++)
        add(&r, 0, i, BRIM_STAGE_WAIT, seconds);
    if (judge_run(&r, NULL, &v) != 0)
        abort();
    found = v.items[0].cause;
    snprintf(sentence, 256, "%s", v.sentence);
    verdict_done(&v);
    run_done(&r);
    return found;
}

static void test_first(void)
{
    char said[256];

    is_int(judge_waits(0.109, 0, 0, 0, said), CAUSE_NONE,
           "a wait of 11 %% of the step is no limit");
    ok(strstr(said, "nothing limits it much"), "waits for 11 %% of the step limit nothing much: %s",
       said);
    ok(judge_waits(0.16, 0, 0, 0, said) != CAUSE_NONE, "a wait of 16 %% of the step is a limit: %s",
       said);
    is_int(judge_waits(0.02, 150, 158, 0.4, said), CAUSE_NONE,
           "a wait of a quarter of the time that came once is no limit");
    ok(strstr(said, "now and then"), "waits for a quarter of the time come now and then: %s", said);
    ok(judge_waits(0.02, 20, 120, 0.05, said) != CAUSE_NONE, "for half of the run: %s", said);
}

int main(void)
{
    test_parts();
    test_beyond();
    test_coverage();
    test_rough();
    test_first();
    return done();
}
