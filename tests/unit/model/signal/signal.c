/* Rows of a tick: absent at first, found by set and thing, used again for the next tick. */
#include "model/signal/signal.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static const struct signal_def disk_defs[] = {
    { "read_bytes_total", "read", SIGNAL_COUNTER },
    { "write_bytes_total", "written", SIGNAL_COUNTER },
};
static const struct signal_def host_defs[] = {
    { "load1", "load", SIGNAL_GAUGE },
    { "load5", "load", SIGNAL_GAUGE },
    { "load15", "load", SIGNAL_GAUGE },
};
static const struct signal_set disk = { "disk", "device", disk_defs, ARRAY_SIZE(disk_defs) };
static const struct signal_set host = { "host", NULL, host_defs, ARRAY_SIZE(host_defs) };

static void test_rows(void)
{
    struct tick t = { .n_rows = 0 };
    struct signal_row *row;
    char name[100];

    tick_begin(&t, 5, 7);
    ok(t.wall_ns == 5 && t.monotonic_ns == 7, "tick_begin keeps the two times");
    ok(!tick_find(&t, &host, ""), "nothing is found in an empty tick");
    row = tick_add(&t, &disk, "nvme0n1");
    ok(row && isnan(row->values[0]) && isnan(row->values[1]), "the values of a new row are absent");
    if (row)
        row->values[1] = 3;
    ok(tick_add(&t, &host, "") != NULL, "tick_add adds a row without a thing");
    ok(tick_find(&t, &disk, "nvme0n1") == &t.rows[0], "tick_find finds a row by set and thing");
    ok(tick_find(&t, &disk, "nvme0n1")->values[1] == 3, "tick_find finds a row with its value");
    ok(tick_find(&t, &host, "") == &t.rows[1], "tick_find finds a row without a thing");
    ok(!tick_find(&t, &host, "nvme0n1") && !tick_find(&t, &disk, ""),
       "tick_find needs both set and thing to agree");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    row = tick_add(&t, &disk, name);
    is_int(row ? (long long)strlen(row->thing) : -1, SIGNAL_THING - 1,
           "the long name of a thing is cut");
    tick_done(&t);
    is_int((long long)t.n_rows, 0, "tick_done leaves no rows");
}

static void test_again(void)
{
    struct tick t = { .n_rows = 0 };
    const struct signal_row *row;
    size_t total = 0;

    for (int64_t round = 0; round < 100; round++) {
        tick_begin(&t, round, round);
        for (int i = 0; i < 200; i++) {
            struct signal_row *added;
            char name[16];

            snprintf(name, sizeof(name), "sd%d", i);
            added = tick_add(&t, (i + round) % 2 ? &disk : &host, name);
            for (size_t j = 0; added && j < added->set->n_defs; j++)
                added->values[j] = isnan(added->values[j]) ? i : -1;
        }
        if (round == 0)
            total = t.arena.total;
    }
    is_int((long long)t.n_rows, 200, "a tick has the rows of the last round only");
    is_int((long long)t.arena.total, (long long)total, "99 more ticks take no more memory");
    row = tick_find(&t, &disk, "sd198");
    ok(row && row->values[0] == 198 && row->values[1] == 198,
       "values of a row that was of another set are absent at first");
    row = tick_find(&t, &host, "sd1");
    ok(row && row->values[2] == 1,
       "all values of a row that was of a smaller set are absent at first");
    tick_done(&t);
}

static void test_wider(void)
{
    struct signal_set wide = { "wide", NULL, disk_defs, 1000 };
    struct tick t = { .n_rows = 0 };
    const struct signal_row *row;

    for (int round = 0; round < 3; round++) {
        tick_begin(&t, 0, 0);
        row = tick_add(&t, round ? &wide : &disk, "");
        ok(row && row->values_room >= row->set->n_defs, "a row has room for a set of any width");
        ok(row && isnan(row->values[row->set->n_defs - 1]),
           "the last value of a wide row is absent");
    }
    tick_done(&t);
}

static void test_facts(void)
{
    static const char *const facts[] = { "uuid", "model", NULL };
    const struct signal_set gpu = { "gpu", "gpu", disk_defs, 2, facts };
    struct tick t = { .n_rows = 0 };
    struct signal_row *row;
    size_t n;

    tick_begin(&t, 0, 0);
    ok(tick_add(&t, &disk, "sda") != NULL, "tick_add adds a row without facts");
    is_str(signal_fact(&t.rows[0], "uuid"), "", "a row without facts has an empty fact");
    row = tick_add(&t, &gpu, "0");
    if (row)
        tick_fact(row, 1, "H100");
    is_str(signal_fact(row, "uuid"), "", "a fact that was not told is empty");
    is_str(signal_fact(row, "model"), "H100", "a fact that was told is found");
    is_str(signal_fact(row, "colour"), "", "a fact that the set lacks is empty");
    ok(tick_add(&t, &gpu, "1") != NULL, "tick_add adds a second row with facts");
    ok(tick_set(&t, "gpu", &n) == &t.rows[1] && n == 2, "tick_set finds the rows of a set");
    ok(!tick_set(&t, "net", &n) && n == 0, "tick_set is NULL for a set without rows");
    tick_begin(&t, 0, 0);
    row = tick_add(&t, &gpu, "0");
    row = row ? tick_add(&t, &gpu, "1") : NULL;
    is_str(row ? signal_fact(row, "model") : "?", "", "facts of the tick before are forgotten");
    tick_done(&t);
}

static void test_group(void)
{
    static const struct signal_set *const sets[] = { &disk, &host, &disk, &host, &disk };
    struct tick t = { .n_rows = 0 };
    char order[8] = "";

    tick_begin(&t, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        char name[2] = { (char)('a' + i), 0 };

        ok(tick_add(&t, sets[i], name) != NULL, "tick_add adds row %s", name);
    }
    tick_group(&t);
    for (size_t i = 0; i < t.n_rows; i++)
        order[i] = t.rows[i].thing[0];
    is_str(order, "acebd", "tick_group brings rows of a set together, each in its order");
    tick_group(&t);
    is_int(t.rows[2].thing[0], 'e', "tick_group leaves grouped rows as they are");
    tick_done(&t);
}

static void test_index(void)
{
    static const struct signal_def defs[] = {
        { "seconds_total", "time", SIGNAL_COUNTER, "mode=\"user\"" },
        { "seconds_total", "time", SIGNAL_COUNTER, "mode=\"idle\"" },
        { "load", "load", SIGNAL_GAUGE },
    };
    const struct signal_set set = { "cpu", NULL, defs, 3 };

    is_int((long long)signal_index(&set, "seconds_total", "mode=\"idle\""), 1,
           "signal_index finds a signal by its label");
    is_int((long long)signal_index(&set, "load", NULL), 2,
           "signal_index finds a signal without a label");
    is_int((long long)signal_index(&set, "seconds_total", NULL), 3,
           "signal_index finds no signal where the label is missing");
    is_int((long long)signal_index(&set, "load", "mode=\"idle\""), 3,
           "signal_index finds no signal with another label");
}

static void test_events(void)
{
    struct tick t = { .n_rows = 0 };
    const struct event *event;

    tick_begin(&t, 42, 0);
    event = tick_event(&t, "xid", SEVERITY_CRITICAL, 79);
    ok(event && event->wall_ns == 42 && event->code == 79 && !event->text[0],
       "an event has time and code and no text");
    for (int i = 1; i < EVENTS_MAX; i++)
        event = tick_event(&t, "xid", SEVERITY_CRITICAL, 79);
    ok(event != NULL, "a tick takes the maximum of events");
    ok(!tick_event(&t, "xid", SEVERITY_CRITICAL, 79), "a tick refuses an event above the maximum");
    is_int((long long)t.n_events, EVENTS_MAX, "a tick has the maximum of events");
    tick_begin(&t, 43, 0);
    is_int((long long)t.n_events, 0, "events are gone with the next tick");
    tick_done(&t);
}

int main(void)
{
    test_rows();
    test_again();
    test_wider();
    test_facts();
    test_group();
    test_index();
    test_events();
    return done();
}
