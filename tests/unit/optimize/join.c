/* The steps of ranks joined: what of each rank counts, which ranks count at all, and what is kept
 * of those that run ahead. */
#include "optimize/join.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tap.h"

#define NIL ((double)NAN) /* not known */

static struct join *new_join(void)
{
    struct join *j = malloc(sizeof(*j));

    if (!j)
        abort();
    join_init(j);
    return j;
}

static void delete_join(struct join *j)
{
    join_done(j);
    free(j);
}

static void push(struct join *j, size_t rank, const struct join_step *s)
{
    if (join_push(j, rank, s) < 0)
        abort();
}

static void push_number(struct join *j, size_t rank, uint64_t number)
{
    push(j, rank, &(const struct join_step){ .number = number, .seconds = 1 });
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-12;
}

/* What a step of two ranks is, by those of each. */
static void test_sums(void)
{
    static const struct {
        double seconds[2], samples[2], loss[2];
        int64_t begin_ns[2];
        uint64_t request[2];
        bool saves[2];
        struct join_step want;
    } cases[] = {
        { { 1, 2 },
          { 3, 4 },
          { 5, 8 },
          { 6, 7 },
          { 8, 9 },
          { false, false },
          { 0, 7, 2, 7, 6.5, 8, false } },
        { { 2, 1 },
          { 3, NIL },
          { 5, NIL },
          { 7, 6 },
          { 9, 8 },
          { true, false },
          { 0, 7, 2, 3, 5, 8, true } },
        { { 1, 1 },
          { NIL, 4 },
          { NIL, 6 },
          { 7, 7 },
          { 0, 8 },
          { false, true },
          { 0, 7, 1, 4, 6, 0, true } },
        { { 0, 0 },
          { NIL, NIL },
          { NIL, NIL },
          { 0, 0 },
          { 0, 0 },
          { true, true },
          { 0, 0, 0, NIL, NIL, 0, true } },
    };
    static const bool in[JOIN_RANKS] = { true, true };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct join *j = new_join();
        const struct join_step *want = &cases[i].want;
        struct join_step got;

        join_members(j, in);
        for (size_t r = 0; r < 2; r++) {
            join_switch(j, r, cases[i].request[r]);
            push(j, r,
                 &(const struct join_step){ .begin_ns = cases[i].begin_ns[r],
                                            .seconds = cases[i].seconds[r],
                                            .samples = cases[i].samples[r],
                                            .loss = cases[i].loss[r],
                                            .saves = cases[i].saves[r] });
        }
        ok(join_next(j, &got) && got.number == 0, "pair %zu of first steps is joined", i);
        ok(got.begin_ns == want->begin_ns && same(got.seconds, want->seconds),
           "pair %zu begins with its last step and takes as long as its slowest", i);
        ok(same(got.samples, want->samples), "pair %zu has the samples that were told: %g", i,
           got.samples);
        ok(same(got.loss, want->loss), "pair %zu has the mean of the losses told: %g", i, got.loss);
        ok(got.request == want->request, "pair %zu has the older request", i);
        ok(got.saves == want->saves, "pair %zu saves where one of its steps does", i);
        delete_join(j);
    }
}

static void test_members(void)
{
    static const bool both[JOIN_RANKS] = { true, [JOIN_RANKS - 1] = true };
    static const bool one[JOIN_RANKS] = { [1] = true };
    struct join *j = new_join();
    struct join_step s;

    push_number(j, JOIN_RANKS, 7);
    join_switch(j, JOIN_RANKS, 7);
    push_number(j, JOIN_RANKS - 1, 7);
    is_int((long long)j->ranks[0].seen, 0, "steps of a rank beyond the last are left out");
    is_int((long long)j->ranks[JOIN_RANKS - 1].seen, 1, "steps of the last rank are seen");
    push_number(j, 1, 7);
    is_int((long long)j->ranks[1].n, 1, "a step is kept while members are not known");
    is_int((long long)join_newest(j), 0, "without members no step is the newest");
    ok(join_newest_ns(j) == INT64_MAX, "without members no step has an end");
    j->apart = true;
    join_members(j, both);
    ok(j->members == 2 && !j->apart, "members that were found anew are not apart");
    push_number(j, 1, 8);
    is_int((long long)j->ranks[1].n, 1, "a step of a rank that is no member is not kept");
    is_int((long long)j->ranks[1].seen, 2, "a step of a rank that is no member is counted");
    push_number(j, 0, 7);
    ok(join_next(j, &s) && s.number == 7, "steps that were kept before are joined");
    join_members(j, one);
    is_int((long long)j->members, 1, "members that were found again are counted anew");
    ok(join_next(j, &s) && !join_next(j, &s), "each step of a single member is joined once");
    join_done(j);
    ok(!j->members && !j->ranks[1].steps && !j->ranks[1].seen,
       "join_done leaves nothing of the ranks");
    free(j);
}

/* The newest step, and the end of the one that ended first. */
static void test_newest(void)
{
    static const bool in[JOIN_RANKS] = { true, true, true };
    struct join *j = new_join();

    join_members(j, in);
    push(j, 0, &(const struct join_step){ .number = 1, .begin_ns = 5, .seconds = 2 });
    is_int((long long)join_newest(j), 1, "the first member's step is the newest of all");
    ok(join_newest_ns(j) == 5 + 2 * NS_PER_S, "a step ends so long after its begin");
    push(j, 1, &(const struct join_step){ .number = 4, .begin_ns = 6, .seconds = 1 });
    push(j, 3, &(const struct join_step){ .number = 9, .begin_ns = 0, .seconds = 0 });
    is_int((long long)join_newest(j), 4, "the newest step is that of the member ahead");
    ok(join_newest_ns(j) == 6 + NS_PER_S, "the member that ended first tells the end");
    delete_join(j);
}

/* Rings of steps grow with what they have, wherever that begins, up to their room. */
static void test_room(void)
{
    static const bool in[JOIN_RANKS] = { true, true };
    struct join *j = new_join();
    struct join_step s;
    uint64_t number = 0, wrong = 0, at = 0;

    join_members(j, in);
    for (; number < 64; number++)
        push_number(j, 0, number);
    for (uint64_t i = 0; i < 40; i++) {
        push_number(j, 1, i);
        wrong += !join_next(j, &s) || s.number != at++;
    }
    for (; number < 40 + JOIN_ROOM; number++)
        push_number(j, 0, number);
    ok(!j->apart && j->ranks[0].n == JOIN_ROOM, "members may be as far apart as there is room");
    for (uint64_t i = 40; i < number; i++) {
        push_number(j, 1, i);
        wrong += !join_next(j, &s) || s.number != at++;
    }
    is_int((long long)wrong, 0, "steps are joined in their order while rings grow");
    for (uint64_t i = 0; i <= JOIN_ROOM; i++)
        push_number(j, 0, number + i);
    ok(j->apart && j->ranks[0].n == JOIN_ROOM, "one step more drops the oldest one");
    delete_join(j);

    j = new_join();
    for (uint64_t i = 0; i <= JOIN_ROOM; i++)
        push_number(j, 0, i);
    ok(!j->apart && j->ranks[0].n == JOIN_ROOM, "before members are known nobody is apart");
    delete_join(j);
}

/* Of members at different steps those are dropped that not all have. */
static void test_aligned(void)
{
    static const bool in[JOIN_RANKS] = { true, true, true };
    static const uint64_t steps[3][4] = { { 0, 1, 2, 5 }, { 2, 4, 5, 6 }, { 1, 3, 5, 7 } };
    struct join *j = new_join();
    struct join_step s;

    join_members(j, in);
    for (size_t r = 0; r < 3; r++) {
        ok(!join_next(j, &s), "with steps of %zu members of 3 none is joined", r);
        for (size_t i = 0; i < 4; i++)
            push_number(j, r, steps[r][i]);
    }
    for (int i = 0; i < 4 && !join_next(j, &s); i++)
        ;
    is_int((long long)s.number, 5, "the only step that three members have is joined");
    ok(!join_next(j, &s), "steps after the common one are not joined");
    delete_join(j);
}

int main(void)
{
    test_sums();
    test_members();
    test_newest();
    test_room();
    test_aligned();
    return done();
}
