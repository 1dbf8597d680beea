#include "run/meet/clock_offset.h"

#include "tap.h"

enum { MS = 1000000 };

static const int64_t day_ns = INT64_C(86400000000000);

int main(void)
{
    struct clock_offset c = { .n = 0 };

    is_int(clock_offset_ours(&c, 17), 17, "a clock that was never asked stays as it is");
    is_int(clock_offset_trip_ns(&c), 0, "a clock that was never asked is as near as can be");
    ok(!clock_offset_add(&c, -1, 5, 5), "a time before 0 is not taken");
    ok(!clock_offset_add(&c, 10, 5, 9), "an answer before its question is not taken");
    ok(!clock_offset_add(&c, 10, -5, 11), "another clock's time before 0 is not taken");
    ok(clock_offset_add(&c, 100 * MS, day_ns + 130 * MS, 140 * MS), "an answer is taken");
    is_int(clock_offset_ours(&c, day_ns + 130 * MS), 120 * MS,
           "the answer is taken to be from the middle of its way");
    ok(clock_offset_add(&c, 200 * MS, day_ns + 211 * MS, 220 * MS), "a second answer is taken");
    is_int(clock_offset_ours(&c, day_ns + 211 * MS), 210 * MS,
           "the answer that was there soonest counts");
    is_int(clock_offset_trip_ns(&c), 40 * MS, "the longest way is that of the slowest answer");
    for (int i = 0; i < CLOCK_OFFSET_LAST; i++)
        (void)clock_offset_add(&c, 300 * MS, 310 * MS, 330 * MS);
    is_int(clock_offset_ours(&c, 310 * MS), 315 * MS, "old answers do not count any more");
    is_int(clock_offset_trip_ns(&c), 30 * MS, "old ways do not count any more");
    is_int(clock_offset_ours(&c, INT64_MAX), INT64_MAX,
           "a time that would be beyond all stays as it is");
    return done();
}
