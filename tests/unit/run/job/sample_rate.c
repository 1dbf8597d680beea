#include "run/job/sample_rate.h"

#include "brim/ring.h"
#include "tap.h"

#define SECOND_NS ((int64_t)1000 * 1000 * 1000)

/* A job of two ranks at the sample of each second. */
struct job {
    struct sample_rate pace;
    struct sample_rate_look look;
};

static void start(struct job *j)
{
    *j = (struct job){ .look = { .now_ns = SECOND_NS, .ranks = 2, .next_s = 1 } };
}

/* So many seconds, in each of which it waits and marks so much: whether it is calm then. */
static bool pass(struct job *j, int seconds, double waited_s, uint64_t marks)
{
    bool calm = false;

    for (int i = 0; i < seconds; i++) {
        calm = sample_rate_is_calm(&j->pace, &j->look);
        j->look.now_ns += SECOND_NS;
        j->look.waited_s += waited_s;
        j->look.marks += marks;
    }
    return calm;
}

static void test_computing(void)
{
    struct job j;

    start(&j);
    ok(!pass(&j, 10, 0.01, 1000), "computing is not believed at once");
    ok(pass(&j, 1, 0.01, 1000), "ten seconds of computing are believed");
    ok(pass(&j, 100, 0.01, 1000), "a rank that goes on computing stays calm");
}

static void test_waiting(void)
{
    struct job j;

    start(&j);
    ok(!pass(&j, 60, 0.05, 1000), "ranks that wait for data");
    ok(!pass(&j, 10, 0, 1000), "ranks that have just ended to wait are not calm");
    ok(pass(&j, 1, 0, 1000), "ranks that ended to wait ten seconds ago are calm");
    j.look.blocked = 0.1;
    ok(!pass(&j, 1, 0, 1000), "a process waits for a disk");
    j.look.blocked = 0;
    ok(!pass(&j, 9, 0, 1000), "a process that waited for a disk may do so again");
    ok(pass(&j, 1, 0, 1000), "a process that did not wait again is calm");
}

static void test_unmarked(void)
{
    struct job j;

    start(&j);
    j.look.ranks = 0;
    ok(!pass(&j, 60, 0, 0), "without marks there is a rhythm to be found");
    j.look.ranks = 1;
    ok(!pass(&j, 9, 0, 10), "the first marks are not believed at once");
    ok(pass(&j, 1, 0, 10), "ten seconds with marks are enough");
}

static void test_ring(void)
{
    struct job j;

    start(&j);
    ok(pass(&j, 60, 0, BRIM_RING_CAPACITY / 4), "a ring that is read in time");
    ok(!pass(&j, 60, 0, BRIM_RING_CAPACITY / 4 + 1), "a ring that fills is read sooner");
    start(&j);
    j.look.next_s = 10;
    ok(!pass(&j, 60, 0, BRIM_RING_CAPACITY / 8),
       "a ring that would fill until the next sample is read sooner");
}

int main(void)
{
    test_computing();
    test_waiting();
    test_unmarked();
    test_ring();
    return done();
}
