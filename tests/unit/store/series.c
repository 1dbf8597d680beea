/* Series, and what is read beside them. */
#include <errno.h>
#include <math.h>

#include "stored.h"

static char *series(struct stored *s, const struct store_query *q)
{
    struct str out = STR_INIT(3000);
    double values[64];
    struct err e = { "" };
    int rc;

    if (!s->reader)
        stored_reader(s);
    rc = store_series(s->reader, q, values, &e);
    if (rc < 0)
        str_addf(&out, "%d %s", rc, e.text);
    for (size_t i = 0; i < store_points(q) && rc == 0; i++)
        str_addf(&out, isnan(values[i]) ? "%s-" : "%s%.6g", i ? " " : "", values[i]);
    snprintf(s->answer, sizeof(s->answer), "%s", str_text(&out));
    str_done(&out);
    return s->answer;
}

#define GAUGE(from, to, step) \
    &(struct store_query) \
    { \
        "disk", "vda", "busy", NULL, (from)*1000LL, (to)*1000LL, (step)*1000LL, false \
    }
#define RATE(from, to, step) \
    &(struct store_query) \
    { \
        "disk", "vda", "read_bytes_total", NULL, (from)*1000LL, (to)*1000LL, (step)*1000LL, true \
    }

static void test_steps(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i < 8; i++)
        put(&s, 1001 + i, i, 100 * i);
    is_str(series(&s, GAUGE(1000, 1010, 1)), "0 1 2 3 4 5 6 7 - -",
           "a gauge has a value for each second");
    is_str(series(&s, GAUGE(1000, 1010, 4)), "1.5 5.5 -", "means of longer steps");
    is_str(series(&s, RATE(1000, 1010, 2)), "100 100 100 100 -",
           "a rate is the growth of a counter per second");
    is_str(series(&s, GAUGE(900, 904, 2)), "- -", "a gauge has no value before its first row");
    put(&s, 1009, 9, 50); /* it was started anew */
    put(&s, 1010, 9, 60);
    is_str(series(&s, RATE(1006, 1010, 1)), "100 100 - 10", "a counter that went back is a gap");
    stored_remove(&s);
}

static void test_gaps(void)
{
    struct stored s;

    stored_make(&s);
    put(&s, 1000, 5, 0);
    for (int i = 1; i < 30; i++)
        put(&s, 1000 + i, 5, 0);
    put(&s, 1030, 8, 600);
    is_str(series(&s, GAUGE(1000, 1030, 10)), "5 5 5", "what did not change goes on");
    is_str(series(&s, RATE(1000, 1031, 1)),
           "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 600 -",
           "a burst is not smeared over the rest");
    put(&s, 1031, 8, 600);
    for (int i = 32; i < 40; i++) {
        tick_begin(&s.tick, (1000 + i) * S_NS, (1000 + i) * S_NS);
        stored_row(&s, "vda", 8, 600);
        stored_row(&s, "vdb", i, i); /* it shows that somebody looked */
        ok(store_tick(s.store, &s.tick, NULL) == 0, "store_tick stores second %d", 1000 + i);
    }
    is_str(series(&s, GAUGE(1030, 1042, 2)), "8 8 8 8 8 -",
           "a gauge goes on up to the newest row of any thing");
    put_other(&s, 1040);
    put_other(&s, 1041);
    is_str(series(&s, GAUGE(1036, 1042, 1)), "8 8 8 - - -", "a gauge ends when its thing has gone");
    put(&s, 1100, 1, 700); /* nobody looked for a minute */
    is_str(series(&s, GAUGE(1097, 1100, 1)), "- - 1", "a gap of the agent is a gap");
    is_str(series(&s, RATE(1097, 1100, 1)), "- - -", "a gap of the agent is a gap in rates");
    stored_remove(&s);
}

static void test_tiers(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i <= 200; i++)
        put(&s, 1200 + i, i, 10 * i);
    is_str(series(&s, GAUGE(1200, 1400, 60)), "29.5 89.5 149.5 189.5",
           "minutes, and finer rows at the end");
    is_str(series(&s, RATE(1200, 1400, 60)), "- 10 10 10",
           "rates of minutes begin with the second one");
    ask(&s, "DELETE FROM disk_1s WHERE t < 1350000");
    ask(&s, "DELETE FROM disk_10s WHERE t < 1290000");
    is_str(series(&s, GAUGE(1260, 1360, 5)),
           "89.5 89.5 89.5 89.5 89.5 89.5 94.5 94.5 104.5 104.5 114.5 114.5"
           " 124.5 124.5 134.5 134.5 144.5 144.5 153 158",
           "coarser rows where finer ones are gone");
    stored_remove(&s);
}

static int see_text(void *arg, const char *a, const char *b)
{
    str_addf(arg, "%s %s;", a, b);
    return 0;
}

static int stop(void *arg, const char *a, const char *b)
{
    (void)arg;
    (void)a;
    (void)b;
    return 7;
}

static void test_lists(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct stored s;
    struct err e = { "" };

    stored_make(&s);
    put(&s, 1000, 1, 1);
    put_other(&s, 1001);
    stored_reader(&s);
    is_int(store_things(s.reader, "disk", see_text, &out, &e), 0,
           "store_things lists the things of a set");
    is_str(str_text(&out), "vda {\"serial\":\"S\"};",
           "store_things gives each thing with its facts");
    is_int(store_things(s.reader, "disk", stop, &out, &e), 7, "a callback ends the listing");
    is_str(series(&s, &(struct store_query){ "disk", "vdx", "busy", NULL, 0, 1000, 1000 }),
           "-2 nothing is stored of signal busy of disk 'vdx'",
           "store_series names the thing of which nothing is stored");
    is_int((long long)store_points(GAUGE(5, 5, 1)), 0, "a query of no time has no points");
    is_int((long long)store_points(GAUGE(5, 6, 1)), 1, "a query of one step has one point");
    is_int((long long)store_points(GAUGE(5, 6, 60)), 1, "a query of half a step has one point");
    is_int((long long)store_points(GAUGE(0, STORE_POINTS_MAX, 1)), STORE_POINTS_MAX,
           "a query may have %d steps", STORE_POINTS_MAX);
    is_int((long long)store_points(GAUGE(0, STORE_POINTS_MAX + 1, 1)), 0,
           "a query of one step more has no points");
    is_int((long long)store_points(GAUGE(0, 2 * STORE_POINTS_MAX - 1, 2)), STORE_POINTS_MAX,
           "the last of %d steps may be cut", STORE_POINTS_MAX);
    is_int((long long)store_points(GAUGE(0, 2 * STORE_POINTS_MAX + 1, 2)), 0,
           "a query of a part of a step more has no points");
    is_int((long long)store_points(GAUGE(-1, 5, 1)), 0,
           "a query from before 1970 on has no points");
    is_int((long long)store_points(GAUGE(0, 1, 0)), 0, "a query of steps of no time has no points");
    is_int(store_series(s.reader, GAUGE(5, 5, 1), NULL, &e), -EINVAL,
           "store_series refuses a query of no time");
    stored_remove(&s);
    is_int(store_reader_open(&s.reader, "/nowhere/at/all", &e), -ENOENT,
           "store_reader_open finds no file: %s", e.text);
}

int main(void)
{
    test_steps();
    test_gaps();
    test_tiers();
    test_lists();
    return done();
}
