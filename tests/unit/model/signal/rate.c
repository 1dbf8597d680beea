/* Rates over two ticks: by monotonic time, absent when they cannot be told. */
#include "model/signal/rate.h"

#include "tap.h"

static const struct signal_def defs[] = { { "bytes_total", "bytes", SIGNAL_COUNTER } };
static const struct signal_set disk = { "disk", "device", defs, ARRAY_SIZE(defs) };

static void add(struct tick *t, const char *thing, double value)
{
    struct signal_row *row = tick_add(t, &disk, thing);

    if (row)
        row->values[0] = value;
}

static double rate(const struct tick *before, const struct tick *now, const char *thing)
{
    const struct signal_row *row = tick_find(now, &disk, thing);

    return row ? signal_rate(before, now, row, 0) : -1;
}

int main(void)
{
    struct tick before = { .n_rows = 0 }, now = { .n_rows = 0 };

    /* the wall clock goes back by an hour meanwhile */
    tick_begin(&before, 7200000000000, 1000000000);
    add(&before, "gone", 1);
    add(&before, "sda", 1000);
    add(&before, "reset", 1000);
    add(&before, "absent", (double)NAN);
    tick_begin(&now, 3600000000000, 3000000000);
    add(&now, "new", 1);
    add(&now, "sda", 5000);
    add(&now, "reset", 999);
    add(&now, "absent", 4);
    ok(rate(&before, &now, "sda") == 2000, "a rate is the growth over two seconds");
    ok(isnan(rate(&before, &now, "reset")), "a counter that went back has no rate");
    ok(isnan(rate(&before, &now, "absent")), "a value that was absent before has no rate");
    ok(isnan(rate(&before, &now, "new")), "a thing that was not there before has no rate");
    ok(signal_growth(&before, &now, tick_find(&now, &disk, "sda"), 0) == 4000,
       "signal_growth is the growth itself");
    now.monotonic_ns = before.monotonic_ns;
    ok(isnan(rate(&before, &now, "sda")), "two ticks at one time have no rate");
    tick_done(&before);
    tick_done(&now);
    return done();
}
