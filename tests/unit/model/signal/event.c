/* Which event of its kind an event is, by its code or by its words. */
#include "model/signal/event.h"

#include <stdio.h>

#include "model/signal/rate.h"
#include "tap.h"

static struct event event(int code, unsigned words, const char *text)
{
    struct event e = { .code = code, .words = (uint16_t)words };

    snprintf(e.text, sizeof(e.text), "%s", text);
    return e;
}

static bool same(struct event a, struct event b)
{
    return event_what(&a) == event_what(&b);
}

static void test_what(void)
{
    const struct event coded = event(0, 0, "a"), plain = event(-1, 0, "a");

    is_int((long long)event_what(&coded), 0, "an event with a code is told by that alone");
    ok(event_what(&plain) != 0, "an event without a code has a number of its words");
    ok(same(event(79, 0, "a"), event(31, 0, "b")), "words do not matter beside a code");
    ok(!same(plain, event(-1, 0, "b")), "other words are another event");
    ok(!same(plain, event(-1, 0, "ab")), "more words are another event");
    ok(same(event(-1, 3, "oom of 12"), event(-1, 3, "oom of 13")),
       "words behind the first count not");
    ok(!same(event(-1, 9, "oom of 12"), event(-1, 9, "oom of 13")), "all of the first words count");
    ok(same(event(-1, 100, "oom"), event(-1, 0, "oom")), "a text may be shorter than its words");
    ok(!same(event(-1, 1, "ab"), event(-1, 0, "ab")), "a part of the words is another event");
}

/* A counter that stays has a rate of nothing, and the shortest time has a rate. */
static void test_rates(void)
{
    static const struct signal_def defs[] = { { "n", "n", SIGNAL_COUNTER } };
    static const struct signal_set set = { "disk", "device", defs, 1 };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    struct signal_row *row = NULL;

    for (int i = 0; i < 2; i++) {
        tick_begin(&ticks[i], 0, i);
        row = tick_add(&ticks[i], &set, "vda");
        if (!row)
            return;
        row->values[0] = 5;
    }
    ok(signal_growth(&ticks[0], &ticks[1], row, 0) >= 0, "a counter that stays has grown by none");
    row->values[0] = 7;
    ok(signal_rate(&ticks[0], &ticks[1], row, 0) > 1.9e9, "a nanosecond is time enough for a rate");
    ticks[1].monotonic_ns = -1;
    ok(isnan(signal_rate(&ticks[0], &ticks[1], row, 0)), "time that runs back has no rate");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

/* Rows of three sets, of which the first stands together, and one comes last. */
static void test_groups(void)
{
    static const struct signal_def defs[] = { { "n", "n", SIGNAL_GAUGE } };
    static const struct signal_set sets[] = { { "a", "x", defs, 1 },
                                              { "b", "x", defs, 1 },
                                              { "c", "x", defs, 1 } };
    static const int order[] = { 0, 0, 1, 2, 1, 0, 2, 2 };
    struct tick t = { .n_rows = 0 };
    char got[ARRAY_SIZE(order) + 1] = "", name[4];
    size_t n;

    tick_begin(&t, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        snprintf(name, sizeof(name), "%zu", i);
        ok(tick_add(&t, &sets[order[i]], name) != NULL, "row %s is added", name);
    }
    tick_group(&t);
    for (size_t i = 0; i < t.n_rows; i++)
        got[i] = t.rows[i].thing[0];
    is_str(got, "01524367", "rows of three sets stand together, each in its order");
    ok(tick_set(&t, "c", &n) == &t.rows[5] && n == 3, "the last set has its three rows");
    ok(tick_set(&t, "a", &n) == &t.rows[0] && n == 3, "the first set has its three rows");
    tick_done(&t);
}

int main(void)
{
    test_what();
    test_rates();
    test_groups();
    return done();
}
