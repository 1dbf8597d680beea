/* Which of a program's loops makes its steps, and how many: programs that are made up, looked at
 * ten times a second. */
#include "run/watch/rounds.h"

#include "base/clock.h"
#include "tap.h"

#define LOOK_NS (NS_PER_S / 10)

/* Loops in loops. */
struct program {
    struct rounds r;
    int64_t now_ns;
    uint64_t told; /* rounds */
    int64_t from_ns, to_ns;
    unsigned looks; /* that told any */
    bool gap;       /* between two that were told */
};

/* A look at n loops, the outermost one first. */
static void look(struct program *p, const struct rounds_seen *seen, size_t n)
{
    struct rounds_made made;

    p->now_ns += LOOK_NS;
    if (!rounds_look(&p->r, seen, n, p->now_ns, &made))
        return;
    p->gap = p->gap || (p->looks && made.from_ns != p->to_ns);
    p->from_ns = p->looks ? p->from_ns : made.from_ns;
    p->to_ns = made.to_ns;
    p->told += made.n;
    p->looks++;
}

static struct rounds_seen loop_at(unsigned depth, uint64_t iterator, int64_t at, int64_t left)
{
    return (struct rounds_seen){ 1000 + depth, depth, true, iterator, at, left };
}

static void test_plain(void)
{
    struct program p = { .now_ns = 5 * NS_PER_S };

    for (int64_t i = 0; i < 19; i++) {
        const struct rounds_seen seen = loop_at(0, 1, 3 * i, 1000 - 3 * i);

        look(&p, &seen, 1);
    }
    is_int(p.looks, 0, "no loop is known after 19 looks");
    for (int64_t i = 19; i < 100; i++) {
        const struct rounds_seen seen = loop_at(0, 1, 3 * i, 1000 - 3 * i);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 297, "all rounds since the first look are told");
    is_int(p.from_ns, 5 * NS_PER_S + LOOK_NS, "rounds are told from the first look on");
    is_int(p.to_ns, p.now_ns, "rounds are told up to the last look");
    ok(!p.gap, "what is told leaves no time out");
}

/* Rounds of a few looks each. */
static void test_slow(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 25; i++) {
        const struct rounds_seen seen = loop_at(0, 1, i / 10, -1);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 0, "no loop is known after two rounds");
    for (int64_t i = 25; i < 75; i++) {
        const struct rounds_seen seen = loop_at(0, 1, i / 10, -1);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 7, "rounds that take many looks are told one by one");
    is_int(p.looks, 5, "looks without a round tell none");
    is_int(p.to_ns, 71 * LOOK_NS, "a round ends at the look that has seen it");
}

/* Epochs of 60 batches, 10 of them a look: the counts of range() and of others. */
static void test_epochs(int64_t left_known, const char *what)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i <= 600; i++) {
        int64_t epoch = i / 6, batch = i % 6 * 10;
        const struct rounds_seen seen[] = {
            loop_at(0, 1, epoch, 100 - epoch),
            loop_at(1, 2 + (uint64_t)epoch, batch, left_known ? 60 - batch : -1),
            loop_at(2, 7, i * 7919 % 5, -1),
        };

        look(&p, seen, 3);
    }
    if (left_known)
        is_int((long long)p.told, 6000, "rounds are counted over epochs %s", what);
    else
        ok(p.told == 5000, "rounds behind the last look of an epoch are not known %s", what);
}

/* A new iterator may lie where the one before lay. */
static void test_same_place(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i <= 600; i++) {
        const struct rounds_seen seen = loop_at(0, 1, i % 6 * 10 - 60, 60 - i % 6 * 10);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 6000, "a count that goes back has begun anew");
}

/* Of loops that last for less than a few looks nothing is known. */
static void test_short_ones(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 100; i++) {
        const struct rounds_seen seen[] = {
            loop_at(0, 1, i * 2, -1),
            loop_at(1, 2 + (uint64_t)i / 4, i % 4 * 5, 20 - i % 4 * 5),
        };

        look(&p, seen, 2);
    }
    is_int((long long)p.told, 198, "the loop around short loops makes the steps");
}

/* Looks come in step with what they look at: each sees a new iterator where the last one was, and
 * hardly further. */
static void test_in_step(bool entered, uint64_t want, const char *what)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 100; i++) {
        struct rounds_seen seen[] = {
            loop_at(0, 1, i * 5, -1),
            loop_at(1, 2, i % 24 / 3 - 8, 8 - i % 24 / 3),
        };

        seen[0].entered = entered;
        look(&p, seen, 2);
    }
    is_int((long long)p.told, (long long)want, "%s", what);
}

/* While a first round takes long, as one that compiles does, all loops last. */
static void test_standstill(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 100; i++) {
        int64_t round = i < 40 ? 0 : i - 40;
        const struct rounds_seen seen[] = {
            loop_at(0, 1, round, -1),
            loop_at(1, 2 + (uint64_t)round, i < 40 ? 0 : i % 3 * 2, -1),
        };

        look(&p, seen, 2);
        if (i == 50)
            is_int((long long)p.told, 10, "a loop is known ten looks after its first round");
    }
    is_int((long long)p.told, 59, "a loop within it that lasted as long is not told");
}

/* Three courses of 12 looks, then one of each look. */
static void test_given_up(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 100; i++) {
        int64_t round = i < 36 ? i / 12 : i - 33;
        const struct rounds_seen seen[] = {
            loop_at(0, 1, round, -1),
            loop_at(1, 2 + (uint64_t)round, i < 36 ? i % 12 : 0, -1),
        };

        look(&p, seen, 2);
        if (i == 35)
            is_int((long long)p.told, 33, "of two loops that last the inner one is told");
    }
    is_int((long long)p.told, 33 + 59, "one that does not last any more is given up");
}

static void test_fast_ones(void)
{
    static const struct {
        int64_t a_look;
        bool told;
    } cases[] = { { 50, true }, { 51, false } };

    for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
        struct program p = { .now_ns = 0 };

        for (int64_t i = 0; i < 40; i++) {
            const struct rounds_seen seen = loop_at(0, 1, i * cases[k].a_look, -1);

            look(&p, &seen, 1);
        }
        ok((p.told > 0) == cases[k].told, "a loop of %ld rounds a second %s",
           (long)cases[k].a_look * 10, cases[k].told ? "may train" : "does not train");
    }
}

/* A loop that has ended, and one of another call behind it. */
static void test_another(void)
{
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 30; i++) {
        const struct rounds_seen seen = loop_at(0, 1, i, -1);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 29, "the rounds of a first loop are told");
    for (int64_t i = 0; i < 49; i++) {
        const struct rounds_seen seen = loop_at(3, 1, 2 * i, -1);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 29, "a loop that was not seen for 49 looks may come back");
    for (int64_t i = 49; i < 60; i++) {
        const struct rounds_seen seen = loop_at(3, 1, 2 * i, -1);

        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 29 + 118, "another loop makes the steps when the first one is gone");
    ok(p.gap, "rounds of the second loop are told from when that was first seen");
}

/* What is read of a process may be anything. */
static void test_wild(void)
{
    struct program p = { .now_ns = 0 };
    struct rounds_seen seen = loop_at(0, 1, 0, -1);

    for (int64_t i = 0; i < 30; i++) {
        seen.at = i;
        look(&p, &seen, 1);
    }
    seen.at = INT64_C(1) << 60;
    look(&p, &seen, 1);
    is_int((long long)p.told, 29, "rounds that nobody makes are not told");
    for (int64_t i = 0; i < 30; i++) {
        seen.at = 100 + i;
        look(&p, &seen, 1);
    }
    is_int((long long)p.told, 29 + 29, "a loop that was lost is found again");
}

static void test_many(void)
{
    struct rounds_seen seen[ROUNDS_LOOPS + 10];
    struct program p = { .now_ns = 0 };

    for (int64_t i = 0; i < 30; i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(seen); k++)
            seen[k] = loop_at(k, 1, k == ROUNDS_LOOPS - 1 ? i : 0, -1);
        look(&p, seen, ARRAY_SIZE(seen));
    }
    is_int((long long)p.told, 29, "of more loops than there is room for the first ones count");
    seen[1] = seen[0];
    seen[0].at = 5;
    seen[1].at = 99;
    p = (struct program){ .now_ns = 0 };
    for (int64_t i = 0; i < 30; i++) {
        seen[0].at = i;
        look(&p, seen, 2);
    }
    is_int((long long)p.told, 29, "a loop that is seen twice in a look counts once");
}

/* When a loop is first known: the look, 0: it never is. */
static void test_first_known(void)
{
    static const struct {
        int64_t from, to, step; /* looks in which it makes rounds, and how many of them */
        int64_t course;         /* looks after which it begins anew; 0: it does not */
        unsigned known;
    } cases[] = {
        { 2, 99, 1, 0, 20 },  { 16, 99, 1, 0, 25 }, { 17, 99, 1, 0, 26 }, { 2, 3, 1, 0, 0 },
        { 2, 4, 1, 0, 20 },   { 22, 24, 1, 0, 31 }, { 2, 2, 1, 0, 0 },    { 2, 2, 3, 0, 20 },
        { 2, 99, 50, 0, 20 }, { 2, 99, 51, 0, 0 },  { 2, 99, 49, 0, 20 }, { 2, 99, 1, 4, 0 },
        { 2, 99, 1, 5, 20 },  { 2, 99, 1, 10, 20 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct program p = { .now_ns = 0 };
        unsigned known = 0;
        int64_t at = 0;

        for (int64_t k = 1; k <= 99; k++) {
            const int64_t course = cases[i].course ? (k - 1) / cases[i].course : 0;
            struct rounds_seen seen;

            if (k >= cases[i].from && k <= cases[i].to)
                at += cases[i].step;
            seen = loop_at(0, 1 + (uint64_t)course, at, -1);
            look(&p, &seen, 1);
            known = p.looks && !known ? (unsigned)k : known;
        }
        is_int(known, cases[i].known, "loop %zu is known when it has been seen enough", i);
    }
}

int main(void)
{
    test_plain();
    test_slow();
    test_epochs(1, "where it is known how many are left");
    test_epochs(0, "where it is not known how many are left");
    test_same_place();
    test_short_ones();
    test_in_step(true, 495, "a loop begins anew with each round of the one around it");
    test_in_step(false, 33, "a count that is no loop has no other within it");
    test_standstill();
    test_given_up();
    test_fast_ones();
    test_another();
    test_wild();
    test_many();
    test_first_known();
    return done();
}
