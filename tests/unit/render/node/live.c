/* The live view as JSON and as text, and both with every allocation failing once. */
#include <errno.h>

#include "diagnose/node/live.h"
#include "live_ticks.h"
#include "oom.h"
#include "render/node/live_json.h"
#include "render/node/live_text.h"
#include "tap.h"

static const struct given lines[] = {
    CPU(0.2, 0.3),
    CORE("0", 0.25),
    DISK("vda", 0.98, 100, 0.084, 412),
    ONE("filesystem", "/", "size_bytes", 100),
    NFS("/data", 100, 0.01, 0.03),
    NET("eth0", 1e6, 2e6, 1.25e9),
    GPU("0", 0.38, 1),
    ONE("gpu", "0", "power_watts", 300),
    { "gpu_throttle", "0", "active", "reason=\"power\"", 1, 1 },
    PROCESS("17", 0.5, 200e6),
    ONE("memory", "", "total_bytes", 64e9),
    END,
};

static struct live live;
static struct tick ticks[2];
static const struct live_alert alerts[] = { { "disk-full", "critical", "/", "it is full", NULL, 5,
                                              -1 } };
static struct event events[] = { { .wall_ns = 3000000, .kind = "xid", .code = 79 } };
static const struct live_run runs[] = { {
    .id = "20261125-1",
    .name = "train.py",
    .user = "alice",
    .since_ms = 7,
    .ranks = 8,
    .steps = 400,
    .steps_per_s = 31.25,
    .samples_per_s = (double)NAN,
    .split = { [BRIM_STAGE_WAIT] = 0.93, [BRIM_STAGE_FORWARD] = 0.07 },
    .severity = SEVERITY_CRITICAL,
    .cause = "few-workers",
    .limited = true,
    .share = 0.93,
    .sentence = "one worker loads",
    .trying = "loader.workers=4",
} };
static const struct live_extra extra = { "n1", alerts, 1, events, 1, runs, 1 };

static void fill(void)
{
    live = (struct live){ .n_gpus = 0 };
    made_ticks(lines, 1, ticks);
    tick_fact(made_row(&ticks[1], &lines[ARRAY_SIZE(lines) - 3]), 0, "a\033[31m\n\xff\"b");
    live_update(&live, &ticks[0], &ticks[1]);
}

static bool has(const struct str *out, const char *text)
{
    return strstr(str_text(out), text) != NULL;
}

/* The job of a process: its run, or that of the queue which its group is of. */
static void test_jobs(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    static const struct live_run named = {
        .id = "20261125-2", .name = "train.py", .uid = 1000, .pids = { 40, 41 }, .n_pids = 2
    };
    static const struct live_extra x = { .host = "n1", .runs = &named, .n_runs = 1 };
    static const struct {
        const char *pid, *uid, *cgroup, *job;
    } cases[] = {
        { "40", "1000", "/", "\"train.py\"" },
        { "41", "1000", "brim-job-7.12", "\"train.py\"" },
        { "41", "1001", "/", "null" },
        { "42", "1000", "/", "null" },
        { "40", NULL, NULL, "null" },
        { "42", "1000", "brim-job-7.12", "\"job 7\"" },
        { "42", "1000", "system.slice/brim-job-123.9", "\"job 123\"" },
        { "42", "1000", "brim-job-x", "null" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char wanted[64];

        live = (struct live){ .n_processes = 1 };
        live.processes[0] = (struct live_process){ .pid = cases[i].pid,
                                                   .uid = cases[i].uid,
                                                   .cgroup = cases[i].cgroup };
        str_reset(&out);
        live_json(&live, &x, &out);
        snprintf(wanted, sizeof(wanted), "\"job\":%s,\"cpu\"", cases[i].job);
        ok(has(&out, wanted), "process %s of user %s in group %s has the job %s", cases[i].pid,
           cases[i].uid ? cases[i].uid : "?", cases[i].cgroup ? cases[i].cgroup : "?",
           cases[i].job);
    }
}

/* A process is told by its number; what is none, or no process may have, stays a text. */
static void test_pids(void)
{
    static const struct {
        const char *pid, *json;
    } cases[] = {
        { "2147483647", "{\"pid\":2147483647," },
        { "2147483648", "{\"pid\":\"2147483648\"," },
        { "1x", "{\"pid\":\"1x\"," },
        { "", "{\"pid\":\"\"," },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);

        live = (struct live){ .n_processes = 1, .verdict.bottleneck = LIVE_NONE };
        live.processes[0] = (struct live_process){ .pid = cases[i].pid };
        live_json(&live, &extra, &out);
        ok(has(&out, "\"bottleneck\":null,"), "a node that nothing limits has no stage");
        ok(has(&out, cases[i].json), "the process '%s' is written as %s", cases[i].pid,
           cases[i].json);
    }
}

static void test_json(void)
{
    static const char *const parts[] = {
        "{\"schema\":\"brim.live.v1\",\"time\":\"1970-01-01T00:00:00Z\",\"time_ms\":0,\"host\":"
        "\"n1\","
        "\"interval_s\":1,\"verdict\":{\"state\":\"limit\",\"severity\":\"critical\",",
        "\"bottleneck\":\"storage\",\"run\":null}",
        "{\"id\":\"storage\",\"title\":\"Storage\",\"load\":0.98,\"state\":\"limit\",",
        "\"thing\":\"vda\"}",
        "{\"id\":\"pcie\",\"title\":\"PCIe\",\"load\":null,\"state\":\"unknown\",",
        "\"gpus\":[{\"gpu\":\"0\",\"model\":null,",
        "\"throttle\":[\"power\"],\"processes\":1,\"lost\":false}]",
        "\"cpu\":{\"busy\":0.2,\"busy_mean\":0.2,\"iowait\":0.3,\"steal\":null,\"cores\":1,"
        "\"busiest\":0.25,"
        "\"load1\":null,\"run_wait\":null}",
        "{\"device\":\"vda\",\"read\":412000000,\"write\":0,\"iops\":100,\"await\":0.084,",
        "{\"mount\":\"/\",\"size\":100,\"used\":null,\"free\":null}",
        "{\"mount\":\"/data\",\"ops\":100,\"read\":10000000,\"write\":null,\"rtt\":0.03,"
        "\"queue\":0.01,\"execute\":0.04}",
        "\"speed\":1250000000,\"errors\":null,",
        "\"processes\":[{\"pid\":17,\"comm\":\"a\\u001b[31m\\n\xef\xbf\xbd\\\"b\",",
        "\"runs\":[{\"id\":\"20261125-1\",\"name\":\"train.py\",\"user\":\"alice\","
        "\"since_ms\":7,\"ranks\":8,\"steps\":400,\"steps_per_s\":31.25,\"samples_per_s\":null,"
        "\"split\":{\"other\":0,\"wait\":0.93,\"copy\":0,\"forward\":0.07,",
        "\"severity\":\"critical\",\"cause\":\"few-workers\",\"limited\":true,\"share\":0.93,"
        "\"sentence\":\"one worker loads\",\"action\":null,\"trying\":\"loader.workers=4\"}]",
        "\"alerts\":[{\"name\":\"disk-full\",\"severity\":\"critical\",\"thing\":\"/\","
        "\"text\":\"it is full\",\"action\":null,\"code\":null,\"since_ms\":5}]",
        "\"events\":[{\"time_ms\":3,\"kind\":\"xid\",\"severity\":\"not checked\",\"code\":79,",
    };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);

    live_json(&live, &extra, &out);
    is_int(str_error(&out), 0, "live_json writes without an error");
    ok(!strchr(str_text(&out), '\n'), "the JSON is one line");
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        ok(has(&out, parts[i]), "live_json writes %s", parts[i]);
}

/* The longest line, in bytes without those of UTF-8's tails; the count of lines. */
static size_t widest(const char *text, size_t *n)
{
    size_t most = 0, columns = 0;

    for (*n = 0; *text; text++) {
        if (*text == '\n') {
            most = MAX(most, columns);
            columns = 0;
            ++*n;
        } else {
            columns += ((unsigned char)*text & 0xc0) != 0x80;
        }
    }
    return most;
}

static void test_text(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    struct live_look look = { .columns = 100, .unicode = true };
    struct live_extra umlaut = extra;

    live_text(&live, &extra, &look, &out);
    ok(!strncmp(str_text(&out), "storage limits this node: disk vda is 98 % busy", 40),
       "the sentence comes first");
    ok(has(&out, "\nwaste: 0.6 of 1 GPU idle\n"), "the page counts the idle GPUs as waste");
    ok(has(&out, "\ndo: look at process 17 (a?[31m ?\"b): it writes 200 MB/s\n"),
       "what to do, made harmless");
    ok(has(&out, "▶storage █████▉ 98% → cpu █▎     20% → pcie - "), "the bottleneck is marked");
    ok(has(&out, "\n17       a?[31m??\"b "), "a hostile name");
    ok(!strchr(str_text(&out), '\033'), "the page has no escapes without colour");
    ok(has(&out, "critical: it is full"), "the page shows the alerts");
    ok(has(&out, "\nrun                     user          steps/s  waits      most time\n"
                 "train.py                alice              31   93 %           wait\n"
                 "  tries loader.workers=4; one worker loads\n"),
       "a run has a row, and a line that says what limits it");
    str_reset(&out);
    look.unicode = false;
    umlaut.host = "n\xc3\xb6";
    live_text(&live, &umlaut, &look, &out);
    ok(has(&out, "\nn?: 1 CPU 20 % busy"), "a name that is not ASCII");
    for (const char *c = str_text(&out); *c; c++)
        if ((unsigned char)*c >= 0x80 || (*c < ' ' && *c != '\n')) {
            ok(false, "byte %d is not ASCII", (unsigned char)*c);
            break;
        }
    ok(has(&out, "*storage ###### 98% > cpu "),
       "the page without Unicode marks the bottleneck in ASCII");
    str_reset(&out);
    look.colour = true;
    live_text(&live, &extra, &look, &out);
    ok(has(&out, "\033[1;31mstorage ###### 98%\033[0m"),
       "the page in colour has the bottleneck in red");
    ok(!has(&out, "a\033[31m"), "the page has no escapes of others");
}

/* Names of GPUs are "0" with NVIDIA's driver, "intel0" or "ascend15" with others. */
static void test_names_of_gpus(void)
{
    static const char *const names[] = { "0", "amd7", "ascend15" };
    static struct live three;
    const struct live_look look = { .columns = 100, .unicode = true };

    three = live;
    three.n_gpus = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
        char want[32];

        three.gpus[three.n_gpus] = live.gpus[0];
        three.gpus[three.n_gpus].model = "H100-SXM5-80GB";
        three.gpus[three.n_gpus++].gpu = names[i];
        live_text(&three, &extra, &look, &out);
        snprintf(want, sizeof(want), "\n%s ", names[i]);
        ok(has(&out, want), "a table of %zu GPUs has '%s' whole", three.n_gpus, names[i]);
        ok(has(&out, " H100-SXM5-80GB "), "the model stands behind '%s'", names[i]);
    }
}

static void test_sizes(void)
{
    for (unsigned columns = 1; columns < 140; columns += 13)
        for (unsigned rows = 1; rows < 60; rows += 7) {
            CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
            struct live_look look = { columns, rows, false, true, "footer" };
            size_t n, most;

            live_text(&live, &extra, &look, &out);
            most = widest(str_text(&out), &n);
            ok(n <= rows && (most <= columns || columns < 20),
               "a page of %ux%u takes %zu lines of %zu columns at most", columns, rows, n, most);
        }
}

static int render(void)
{
    CLEANUP(str_done) struct str json = STR_INIT(1 << 20), text = STR_INIT(1 << 20);
    struct live_look look = { .columns = 80, .unicode = true, .footer = "q" };

    live_json(&live, &extra, &json);
    live_text(&live, &extra, &look, &text);
    return str_error(&json) ? str_error(&json) : str_error(&text);
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        int rc;

        oom_next();
        rc = render();
        failed = oom_end();
        if (failed ? rc != -ENOMEM : rc != 0)
            ok(false, "the live view with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
    ok(oom_at > 10, "%d allocations failed once each", oom_at - 1);
}

int main(void)
{
    fill();
    test_json();
    test_text();
    test_names_of_gpus();
    test_sizes();
    test_oom();
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    test_jobs();
    test_pids();
    return done();
}
