#include "base/clock.h"

#include "tap.h"

static const int64_t S = 1000000000;

static int64_t read_arg(void *arg)
{
    return *(int64_t *)arg;
}

static int64_t read_arg_doubled(void *arg)
{
    return 2 * *(int64_t *)arg;
}

static void is_iso(int64_t wall_ns, const char *want)
{
    CLEANUP(str_done) struct str s = STR_INIT(64);

    clock_add_iso(&s, wall_ns);
    is_str(str_text(&s), want, "clock_add_iso writes %lld ns since 1970", (long long)wall_ns);
}

static void test_iso(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(64);

    is_iso(0, "1970-01-01T00:00:00Z");
    is_iso(S - 1, "1970-01-01T00:00:00Z");
    is_iso(S, "1970-01-01T00:00:01Z");
    is_iso(-1, "1969-12-31T23:59:59Z");
    is_iso(-S, "1969-12-31T23:59:59Z");
    is_iso(-S - 1, "1969-12-31T23:59:58Z");
    is_iso(951782400 * S, "2000-02-29T00:00:00Z");
    is_iso(1795219199 * S, "2026-11-20T23:59:59Z");
    is_iso(4107542400 * S, "2100-03-01T00:00:00Z");
    is_iso(INT64_MAX, "2262-04-11T23:47:16Z");
    is_iso(INT64_MIN, "1677-09-21T00:12:43Z");

    str_add(&s, "at ");
    clock_add_iso(&s, 0);
    is_str(str_text(&s), "at 1970-01-01T00:00:00Z", "the time is added to what is there");
}

static void test_clocks(void)
{
    int64_t now = 21, first, second;
    struct clock fake = { read_arg, read_arg_doubled, &now };

    is_int(clock_monotonic_ns(&fake), 21,
           "clock_monotonic_ns asks the clock given, with its argument");
    is_int(clock_wall_ns(&fake), 42, "clock_wall_ns asks the clock given, with its argument");

    first = clock_monotonic_ns(&clock_system);
    second = clock_monotonic_ns(&clock_system);
    ok(first > 0 && second >= first, "the system's monotonic clock does not go back");
    ok(clock_wall_ns(&clock_system) > 1700000000 * S, "the system's wall clock is after 2023");
}

int main(void)
{
    test_iso();
    test_clocks();
    return done();
}
