/* What happens to nodes, step by step: failures and windows that overlap, spares that stand in,
 * and failures by rate. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/outages.h"
#include "tap.h"

enum { MOST = 4, F = OUTAGE_FAILURE, C = OUTAGE_CLOSES, W = OUTAGE_WINDOW };

static void check(int rc)
{
    if (rc < 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
}

/* A step as text: when, what (up U, fails F, closes C, its window begins W), which node; + where
 * jobs may be on it, o where it opens, > who stands in, @ until when. */
static void say(struct str *out, int64_t now_ms, const struct outage_step *x)
{
    str_addf(out, "%s%lld:%c%u%s%s", out->len ? " " : "", (long long)now_ms,
             x->up ? 'U' : "FCW"[x->kind], x -> node, x -> used ? "+" : "", x->opens ? "o" : "");
    if (x->other != UINT32_MAX)
        str_addf(out, ">%u", x->other);
    if (!x->up && x->until_ms == INT64_MAX)
        str_add(out, "@never");
    else if (!x->up)
        str_addf(out, "@%lld", (long long)x->until_ms);
}

static void run(const char *nodes, const struct outage_options *o, struct str *out)
{
    struct pool pool = { .n_nodes = 0 };
    struct outage_step x;
    struct outages f;
    int64_t now_ms;
    int rc;

    check(pool_parse(&pool, nodes, NULL));
    check(outages_open(&f, o, &pool, NULL));
    while ((now_ms = outages_next(&f)) != INT64_MAX) {
        while ((rc = outages_step(&f, now_ms, &x)) > 0)
            say(out, now_ms, &x);
        check(rc);
    }
    outages_done(&f);
    pool_done(&pool);
}

static const struct {
    const char *what, *nodes;
    unsigned spares;
    struct outage list[MOST];
    const char *want;
} cases[] = {
    { "one failure", "3x4", 0, { { 1000, 500, 1, F } }, "1000:F1+@1500 1500:U1+" },
    { "a failure of no time", "3x4", 0, { { 1000, 0, 1, F } }, "1000:F1+@1001 1001:U1+" },
    { "a failure for ever", "3x4", 0, { { 1000, INT64_MAX / 4, 1, F } }, "1000:F1+@never" },
    { "a failure of two nodes",
      "3x4",
      0,
      { { 1000, 500, 0, F }, { 1000, 300, 2, F } },
      "1000:F0+@1500 1000:F2+@1300 1300:U2+ 1500:U0+" },
    { "a failure that goes on",
      "3x4",
      0,
      { { 1000, 500, 1, F }, { 1200, 1000, 1, F } },
      "1000:F1+@1500 2200:U1+" },
    { "a failure inside of another one",
      "3x4",
      0,
      { { 1000, 1000, 1, F }, { 1200, 100, 1, F } },
      "1000:F1+@2000 2000:U1+" },
    { "two failures that end at once",
      "3x4",
      0,
      { { 1000, 500, 1, F }, { 1200, 300, 1, F } },
      "1000:F1+@1500 1500:U1+" },
    { "a failure at the end of another one",
      "3x4",
      0,
      { { 1000, 500, 1, F }, { 1500, 100, 1, F } },
      "1000:F1+@1500 1500:U1+ 1500:F1+@1600 1600:U1+" },
    { "a spare, and the failure of that",
      "3x4",
      1,
      { { 1000, 500, 0, F }, { 2000, 500, 2, F } },
      "1000:F0+>2@1500 1500:U0 2000:F2+>0@2500 2500:U2" },
    { "a spare that is down",
      "3x4",
      1,
      { { 1000, 1000, 2, F }, { 1200, 500, 0, F } },
      "1000:F2@2000 1200:F0+@1700 1700:U0+ 2000:U2" },
    { "one spare for two failures",
      "3x4",
      1,
      { { 1000, 500, 0, F }, { 1100, 500, 1, F } },
      "1000:F0+>2@1500 1100:F1+@1600 1500:U0 1600:U1+" },
    { "two spares, the first of which goes first",
      "4x4",
      2,
      { { 1000, 500, 0, F }, { 1100, 500, 1, F } },
      "1000:F0+>2@1500 1100:F1+>3@1600 1500:U0 1600:U1" },
    { "a spare with more devices",
      "2x4,1x8",
      1,
      { { 1000, 500, 0, F } },
      "1000:F0+@1500 1500:U0+" },
    { "a spare of another kind",
      "2x4:A,1x4:B",
      1,
      { { 1000, 500, 0, F } },
      "1000:F0+@1500 1500:U0+" },
    { "a window",
      "3x4",
      0,
      { { 500, 500, 1, C }, { 1000, 300, 1, W } },
      "500:C1+@1000 1000:W1+@1300 1300:U1+o" },
    { "a window of a node that is down",
      "3x4",
      0,
      { { 800, 1000, 1, F }, { 900, 100, 1, C }, { 1000, 300, 1, W } },
      "800:F1+@1800 900:C1@1000 1800:U1+o" },
    { "a failure before a window",
      "3x4",
      0,
      { { 500, 500, 1, C }, { 600, 100, 1, F }, { 1000, 300, 1, W } },
      "500:C1+@1000 600:F1+@700 700:U1+ 1000:W1+@1300 1300:U1+o" },
    { "a failure inside of a window",
      "3x4",
      0,
      { { 500, 500, 1, C }, { 1000, 300, 1, W }, { 1100, 500, 1, F } },
      "500:C1+@1000 1000:W1+@1300 1600:U1+o" },
    { "a failure behind a window",
      "3x4",
      0,
      { { 500, 500, 1, C }, { 1000, 300, 1, W }, { 1400, 100, 1, F } },
      "500:C1+@1000 1000:W1+@1300 1300:U1+o 1400:F1+@1500 1500:U1+" },
};

static void test_lists(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct outage_options o = { .list = cases[i].list, .spares = cases[i].spares };
        CLEANUP(str_done) struct str out = STR_INIT(1000);

        while (o.n_list < MOST && cases[i].list[o.n_list].at_ms)
            o.n_list++;
        run(cases[i].nodes, &o, &out);
        is_str(str_text(&out), cases[i].want, "the steps of %s are told", cases[i].what);
    }
}

static void test_open(void)
{
    struct outage_options o = { .spares = 3 };
    struct pool pool = { .n_nodes = 0 };
    struct outages f;
    struct err e = { "" };

    check(pool_parse(&pool, "3x4", NULL));
    is_int(outages_open(&f, &o, &pool, &e), -EINVAL, "as many spares as nodes are refused");
    is_str(e.text, "3 spare nodes of 3 leave none to work on", "the error counts spares and nodes");
    o.spares = 2;
    is_int(outages_open(&f, &o, &pool, &e), 0, "one node less may be a spare");
    ok(f.state[0] == OUTAGE_UP && f.state[1] == OUTAGE_SPARE && f.state[2] == OUTAGE_SPARE,
       "the last nodes are spares");
    is_int(outages_next(&f), INT64_MAX, "where nothing fails nothing happens");
    outages_done(&f);
    pool_done(&pool);
}

/* Failures by rate: one of four devices is on the first node. Each is so short that it is over
 * before the next one, nearly always. */
static void test_rate(void)
{
    struct outage_options o = { .per_device_day = 6, .seed = 5, .repair_ms = 7 };
    int failures = 0, first = 0, wrong = 0;
    struct pool pool = { .n_nodes = 0 };
    double day_ms = 86400e3, mean_ms;
    struct outage_step x;
    struct outages f;
    int64_t now_ms = 0;

    check(pool_parse(&pool, "1x1,1x3", NULL));
    check(outages_open(&f, &o, &pool, NULL));
    while (failures < 4000) {
        now_ms = outages_next(&f);
        while (outages_step(&f, now_ms, &x) > 0) {
            failures += !x.up;
            first += !x.up && x.node == 0;
            wrong += x.up ? !x.used : x.until_ms != now_ms + 7 || x.kind != OUTAGE_FAILURE;
        }
    }
    mean_ms = (double)now_ms / failures;
    is_int(wrong, 0, "each failure by rate lasts as long as a repair");
    ok(fabs((double)first / failures - 0.25) < 0.03, "nodes fail by their devices (%d of %d)",
       first, failures);
    ok(fabs(mean_ms / (day_ms / 24) - 1) < 0.05, "devices fail as often as the rate says (%.0f ms)",
       mean_ms);
    outages_done(&f);
    pool_done(&pool);
}

/* ---- tables of windows ---- */

static void test_windows(void)
{
    static const char text[] = "time_s,node,duration_s,drain_s\n100,n1,60,50\n30,n0,5,50\n";
    static const struct outage failures[] = { { 30000, 1, 0, F }, { 30000, 2, 1, F } };
    static const struct outage want[] = {
        { 0, 30000, 0, C }, { 30000, 1, 0, F },     { 30000, 5000, 0, W },
        { 30000, 2, 1, F }, { 50000, 50000, 1, C }, { 100000, 60000, 1, W },
    };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct outage_text from = { "w.csv", text, strlen(text) };
    struct pool pool = { .n_nodes = 0 };
    struct outage *list = NULL;
    size_t n = 0;

    check(pool_parse(&pool, "2x1", NULL));
    is_int(outages_read_windows(&a, &pool, &from, &list, &n, NULL), 0, "two windows are read");
    is_int((int)n, 4, "each window is two of a list");
    check(outages_join(&a, &list, &n, failures, ARRAY_SIZE(failures)));
    is_int((int)n, ARRAY_SIZE(want), "windows and failures are one list");
    for (size_t i = 0; i < ARRAY_SIZE(want) && i < n; i++)
        ok(list[i].at_ms == want[i].at_ms && list[i].lasts_ms == want[i].lasts_ms &&
               list[i].node == want[i].node && list[i].kind == want[i].kind,
           "number %zu of the list is there, by time, by node, failures first", i);
    pool_done(&pool);
}

static void test_bad_windows(void)
{
    static const char form[] = "w.csv:2: a window is time_s,node,duration_s,drain_s, in seconds";
    static const struct {
        const char *row, *why;
    } bad[] = {
        { "1,n0,5", form },
        { "1,n0,5,-1", form },
        { "1,n0,5,x", form },
        { "1,n0,5,1,1", form },
        { "1,n0,,1", form },
        { "3153600001,n0,5,1", form },
        { "1,n2,5,1", "w.csv:2: there is no node n2" },
        { "\"1,n0,5,1", "w.csv:2: not a row of a table" },
    };
    struct pool pool = { .n_nodes = 0 };

    check(pool_parse(&pool, "2x1", NULL));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct outage_text from = { .file = "w.csv" };
        struct outage *list = NULL;
        struct err e = { "" };
        char text[128];
        size_t n = 0;

        snprintf(text, sizeof(text), "time_s,node,duration_s,drain_s\n%s\n", bad[i].row);
        from.text = text;
        from.len = strlen(text);
        is_int(outages_read_windows(&a, &pool, &from, &list, &n, &e), -EINVAL,
               "the window '%s' is refused", bad[i].row);
        is_str(e.text, bad[i].why, "the error says what is wrong with '%s'", bad[i].row);
    }
    pool_done(&pool);
}

int main(void)
{
    test_lists();
    test_open();
    test_rate();
    test_windows();
    test_bad_windows();
    return done();
}
