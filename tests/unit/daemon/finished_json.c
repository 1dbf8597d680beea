/* Finished runs as JSON, whole: each field, and what is absent. */
#include "daemon/finished_json.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "model/verdict/live_run.h"
#include "tap.h"

enum { ROOM = 1 << 20, LONG = 1000 };

static struct verdict verdict_of(struct verdict_item *item, const char *sentence)
{
    return (struct verdict){ .sentence = sentence, .items = item, .count = 1 };
}

/* The one run of a list. */
static const char *told(const struct run *r, const struct verdict *v)
{
    static char text[8192];
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct finished_json list = FINISHED_JSON_INIT(&out);
    const char *begin;
    size_t len;

    finished_json_begin(&list, false);
    str_add(&list.accounts, "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/:/bin/sh\n");
    if (finished_json_run(&list, "0.k", r, 1000, v) < 0)
        return "(no run)";
    finished_json_end(&list, NULL);
    finished_json_done(&list);
    begin = strstr(str_text(&out), "[{");
    len = begin ? strcspn(begin, "]") : 0;
    snprintf(text, sizeof(text), "%.*s", (int)len, begin ? begin + 1 : "");
    if (len)
        text[len - 1] = 0;
    return text;
}

static void test_list(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct finished_json list = FINISHED_JSON_INIT(&out);

    finished_json_begin(&list, false);
    ok(!list.accounts.len, "accounts are not read where nothing is served");
    list.unreadable = 2;
    list.unread = 3;
    finished_json_end(&list, "1.x");
    is_str(str_text(&out),
           "{\"schema\":\"brim.finished.v1\",\"served\":false,\"runs\":[],\"next\":\"1.x\","
           "\"unreadable_runs\":2,\"unreadable_folders\":3}",
           "a list without runs has its counts and where it goes on");
    str_reset(&out);
    finished_json_begin(&list, true);
    ok(list.accounts.len || access("/etc/passwd", R_OK) < 0,
       "accounts are read for what is served");
    finished_json_end(&list, NULL);
    ok(strstr(str_text(&out), "\"served\":true") && strstr(str_text(&out), "\"next\":null"),
       "a list that is served whole says so");
    finished_json_done(&list);
}

static void test_bare(void)
{
    struct verdict_item item = { .cause = CAUSE_UNKNOWN, .share = (double)NAN };
    const struct verdict v = verdict_of(&item, "nothing is known");
    const struct run r = { .id = "k", .end = RUN_LOST };

    is_str(told(&r, &v),
           "{\"key\":\"0.k\",\"id\":\"k\",\"name\":null,\"user\":\"ann\",\"begin_ms\":null,"
           "\"end_ms\":null,\"end\":\"lost\",\"status\":null,\"duration_s\":null,\"steps\":null,"
           "\"steps_per_s\":null,\"samples_per_s\":null,\"severity\":\"note\","
           "\"cause\":\"unknown\",\"limited\":false,\"share\":null,"
           "\"sentence\":\"nothing is known\",\"action\":null}",
           "a run of which nothing is known has each field without a value");
}

static void test_whole(void)
{
    struct run_rank rank = { .total = { .number = 50, .end_ns = 10 * NS_PER_S, .samples = 1000 } };
    struct verdict_item items[] = { { .cause = CAUSE_FEW_WORKERS,
                                      .severity = SEVERITY_WARNING,
                                      .share = 0.43216,
                                      .action = "more workers" },
                                    { .cause = CAUSE_GC, .severity = SEVERITY_CRITICAL } };
    const struct verdict v = { .sentence = "few workers", .items = items, .count = 2 };
    struct run r = { .id = "id\n",
                     .name = "train.py",
                     .user = "somebody",
                     .begin_ns = 1000 * NS_PER_S,
                     .end_ns = 1123456789 * INT64_C(1000),
                     .end = RUN_EXITED,
                     .status = 3,
                     .ranks = &rank,
                     .n_ranks = 1 };

    is_str(told(&r, &v),
           "{\"key\":\"0.k\",\"id\":\"id?\",\"name\":\"train.py\",\"user\":\"ann\","
           "\"begin_ms\":1000000,\"end_ms\":1123456,\"end\":\"exited\",\"status\":3,"
           "\"duration_s\":123.457,\"steps\":50,\"steps_per_s\":5,\"samples_per_s\":100,"
           "\"severity\":\"warning\",\"cause\":\"few-workers\",\"limited\":true,"
           "\"share\":0.4322,\"sentence\":\"few workers\",\"action\":\"more workers\"}",
           "a run of which all is known has each field, by the worst cause alone");
    rank.total.end_ns = 3 * NS_PER_S;
    r.end = RUN_KILLED;
    r.status = 9;
    r.end_ns = r.begin_ns + 123456789 * INT64_C(1000);
    items[0].cause = CAUSE_NONE;
    items[0].severity = SEVERITY_CRITICAL;
    ok(strstr(told(&r, &v), "\"end\":\"killed\",\"status\":9,\"duration_s\":123.457,\"steps\":50,"
                            "\"steps_per_s\":16.67,\"samples_per_s\":333.3,"
                            "\"severity\":\"critical\",\"cause\":\"none\",\"limited\":false"),
       "numbers are rounded, and a run that nothing limits is told so");
    r.end = RUN_RUNNING;
    ok(strstr(told(&r, &v), "\"end\":\"running\",\"status\":9"), "a run that goes on is told so");
}

/* Its owner's choice: what is too long is cut. */
static void test_long(void)
{
    struct verdict_item item = { .cause = CAUSE_UNKNOWN };
    const struct verdict v = verdict_of(&item, "x");
    char text[LONG + 1], want[LONG];
    const struct run r = { .id = text };

    memset(text, 'i', LONG);
    text[LONG] = 0;
    snprintf(want, sizeof(want), "\"id\":\"%.*s\"", LIVE_RUN_SENTENCE - 1, text);
    ok(strstr(told(&r, &v), want), "a text that is too long is cut");
}

/* Names of accounts that /etc/passwd does not have. */
static void test_owner(void)
{
    static const struct {
        const char *said, *want;
        int64_t uid;
    } cases[] = {
        { "bob", "\"user\":\"bob (7)\"", 7 },
        { "root", "\"user\":\"7\"", 7 },
        { NULL, "\"user\":\"7\"", 7 },
        { "bob", "\"user\":\"root\"", 0 },
    };
    struct verdict_item item = { .cause = CAUSE_UNKNOWN };
    const struct verdict v = verdict_of(&item, "x");

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM);
        struct finished_json list = FINISHED_JSON_INIT(&out);
        const struct run r = { .id = "k", .user = cases[i].said };

        finished_json_begin(&list, false);
        str_add(&list.accounts, "root:x:0:0:root:/root:/bin/sh\n");
        is_int(finished_json_run(&list, "0.k", &r, cases[i].uid, &v), 0, "run %zu is added", i);
        finished_json_end(&list, NULL);
        ok(strstr(str_text(&out), cases[i].want), "the owner of run %zu has a name or a number", i);
        finished_json_done(&list);
    }
}

int main(void)
{
    test_list();
    test_bare();
    test_whole();
    test_long();
    test_owner();
    return done();
}
