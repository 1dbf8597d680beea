/* What is made of ticks: stages, alerts, the served texts; the same while the wall clock steps;
 * with every allocation failing once. */
#include "daemon/feed.h"

#include <errno.h>
#include <math.h>

#include "model/signal/rate.h"
#include "oom.h"
#include "stored.h"

enum { HOUR = 3600, DAY = 24 * HOUR, TICKS = 12, BYTES = 1000, START = 999960 /* a full minute */ };

static const char rules_text[] = "[high]\nset = disk\nby = device\nwhen = busy > 5\nfor = 0s\n"
                                 "severity = warning\nsay = disk {thing} is \"high\"\n"
                                 "action = look\n";

struct fed {
    struct rules rules;
    struct feed *feed;
    struct tick *before, *now;
};

static int fed_open(struct fed *f)
{
    int rc = rules_load(&f->rules, "f", rules_text, strlen(rules_text), NULL);

    return rc < 0 ? rc : feed_open(&f->feed, "node1", &f->rules, NULL);
}

static void fed_close(struct fed *f)
{
    feed_close(f->feed);
    rules_done(&f->rules);
    *f = (struct fed){ .feed = NULL };
}

/* One second more, with one disk; the rules' host rows are the agent's concern. */
static int fed_tick(struct fed *f, int64_t wall, int second, double busy)
{
    struct signal_row *row;

    f->before = f->now;
    f->now = feed_next(f->feed, wall * S_NS, second * S_NS);
    row = tick_add(f->now, &disk_set, "vda");
    if (!row)
        return -ENOMEM;
    row->values[0] = busy;
    row->values[1] = second * (double)BYTES;
    return feed_judge(f->feed);
}

static void test_rows(void)
{
    struct fed f = { .feed = NULL };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    const struct signal_row *stage;
    size_t n = 0;

    is_int(fed_open(&f), 0, "feed_open makes a feed");
    is_int(fed_tick(&f, START, 1, 1), 0, "feed_judge takes a tick of a disk");
    stage = tick_set(feed_tick(f.feed), "stage", &n);
    is_int((long long)n, 5, "each of the five stages has a row");
    ok(stage && !strcmp(stage->thing, "storage"), "storage is the first stage");
    ok(!tick_set(feed_tick(f.feed), "alert", &n), "a disk that is not busy raises no alert");
    is_int(fed_tick(&f, START + 1, 2, 9), 0, "feed_judge takes a tick of a busy disk");
    ok(tick_set(feed_tick(f.feed), "alert", &n) && n == 1, "a busy disk's alert has a row");
    is_int((long long)feed_tick(f.feed)->n_events, 1, "a busy disk's alert has an event");
    feed_metrics(f.feed, METRICS_PROMETHEUS, &out);
    ok(strstr(str_text(&out), "\nbrim_stage_limiting{stage=\"storage\"} "),
       "feed_metrics writes stages");
    str_reset(&out);
    feed_live(f.feed, &out);
    is_int(str_error(&out), 0, "feed_live writes a text that fits");
    ok(strstr(str_text(&out), "\"schema\":\"brim.live.v1\""), "feed_live names its schema");
    ok(strstr(str_text(&out), "disk vda is \\\"high\\\""),
       "feed_live writes the alert with its quotes escaped");
    ok(!strchr(str_text(&out), '\n'), "feed_live writes one line");
    fed_close(&f);
}

/* More events than are kept: the oldest go. */
static void test_events(void)
{
    struct fed f = { .feed = NULL };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    char name[16];

    is_int(fed_open(&f), 0, "feed_open makes a feed for 50 events");
    for (int i = 0; i < 50; i++) {
        struct event *event;

        f.now = feed_next(f.feed, (START + i) * S_NS, i * S_NS);
        event = tick_event(f.now, "xid", SEVERITY_WARNING, i);
        snprintf(event->thing, sizeof(event->thing), "gpu-%d.", i);
        is_int(feed_judge(f.feed), 0, "feed_judge succeeds with event %d", i);
    }
    feed_live(f.feed, &out);
    for (int i = 16; i < 20; i++) {
        snprintf(name, sizeof(name), "gpu-%d.", i);
        ok(!strstr(str_text(&out), name) == (i < 18),
           "feed_live has event %d exactly if it is one of the last 32", i);
    }
    fed_close(&f);
}

/* More alerts than are shown. */
static void test_many(void)
{
    struct fed f = { .feed = NULL };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    int shown = 0;

    is_int(fed_open(&f), 0, "feed_open makes a feed of 70 disks");
    for (int second = 0; second < 2; second++) {
        f.now = feed_next(f.feed, (START + second) * S_NS, second * S_NS);
        for (int i = 0; i < 70; i++) {
            struct signal_row *row;
            char name[16];

            snprintf(name, sizeof(name), "d%d", i);
            row = tick_add(f.now, &disk_set, name);
            if (row)
                row->values[0] = 9;
        }
        is_int(feed_judge(f.feed), 0, "feed_judge takes a tick of 70 disks");
    }
    feed_live(f.feed, &out);
    for (const char *at = str_text(&out); (at = strstr(at, "\"name\":\"high\"")); at++)
        shown++;
    is_int(shown, 64, "as many alerts are shown as have room");
    is_int((long long)feed_dropped(f.feed), 6, "alerts that have no room are counted");
    fed_close(&f);
}

static int64_t wall_at(int second)
{
    return START + second - (second >= 4 ? HOUR + 4 : 0) + (second >= 8 ? DAY : 0);
}

static void check_stored(struct stored *s, int64_t from, int64_t seconds, int positive_min)
{
    CLEANUP(freep) double *values = NULL;
    struct store_query q = { .set = "disk",
                             .thing = "vda",
                             .signal = "read_bytes_total",
                             .from_ms = from * 1000,
                             .to_ms = (from + seconds) * 1000,
                             .step_ms = 1000,
                             .rate = true };
    size_t n = store_points(&q);
    int positive = 0, wrong = 0;

    values = calloc(n, sizeof(*values));
    is_int(store_series(s->reader, &q, values, NULL), 0, "store_series reads the rates of a disk");
    for (size_t i = 0; i < n; i++) {
        positive += values[i] > 0;
        wrong += values[i] < 0 || values[i] > BYTES + 1;
    }
    is_int(wrong, 0, "no rate is negative or above the real one");
    ok(positive >= positive_min, "enough rates are known: %d", positive);
}

/* An hour back, to the start of a bucket (of one that begins before the first row its rate is
 * told), then a day ahead, while monotonic time goes on. */
static void test_clock_steps(void)
{
    struct fed f = { .feed = NULL };
    struct stored s;

    stored_make(&s);
    is_int(fed_open(&f), 0, "feed_open makes a feed for a clock that steps");
    for (int i = 0; i < TICKS; i++) {
        const struct signal_row *row;

        is_int(fed_tick(&f, wall_at(i), i, 1), 0, "feed_judge succeeds in second %d", i);
        is_int(store_tick(s.store, f.now, NULL), 0, "store_tick stores second %d", i);
        row = tick_find(f.now, &disk_set, "vda");
        if (f.before)
            is_int((long long)signal_rate(f.before, f.now, row, 1), BYTES,
                   "the rate is the real one in second %d", i);
    }
    stored_reader(&s);
    check_stored(&s, START - 10, 30, 3);
    check_stored(&s, START - HOUR - 10, 30, 3);
    check_stored(&s, START - HOUR + DAY - 10, 30, 3);
    is_str(ask(&s, "SELECT count(*) FROM disk_1s"), "12",
           "every tick of a clock that steps has its row");
    is_str(ask(&s, "PRAGMA integrity_check"), "ok", "the store's file passes its integrity check");
    fed_close(&f);
    stored_remove(&s);
}

static int walk(struct fed *f, struct str *out)
{
    int rc = fed_open(f);

    if (rc == 0)
        rc = fed_tick(f, START, 1, 9);
    if (rc == 0)
        rc = fed_tick(f, START + 1, 2, 9);
    if (rc < 0)
        return rc;
    feed_live(f->feed, out);
    feed_metrics(f->feed, METRICS_OPENMETRICS, out);
    return str_error(out);
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
        struct fed f = { .feed = NULL };
        int rc;

        oom_next();
        rc = walk(&f, &out);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "a feed's walk returns -ENOMEM where allocation %d fails",
               oom_at);
        fed_close(&f);
    } while (failed);
}

/* A tick that failed is followed by one that works. */
static void test_after_failure(void)
{
    struct fed f = { .feed = NULL };
    size_t n;

    is_int(fed_open(&f), 0, "feed_open makes a feed whose tick will fail");
    is_int(fed_tick(&f, START, 1, 1), 0, "feed_judge takes the tick before the failure");
    oom_restart();
    oom_next();
    (void)fed_tick(&f, START + 1, 2, 1);
    (void)oom_end();
    is_int(fed_tick(&f, START + 2, 3, 1), 0, "feed_judge takes the tick after the failure");
    ok(tick_set(feed_tick(f.feed), "stage", &n) && n == 5,
       "the tick after a failure has its five stages");
    fed_close(&f);
}

int main(void)
{
    test_rows();
    test_events();
    test_many();
    test_clock_steps();
    test_oom();
    test_after_failure();
    return done();
}
