#include "render/node/metrics.h"

#include <errno.h>

#include "oom.h"
#include "tap.h"

static const struct signal_def disk_defs[] = {
    { "read_bytes_total", "bytes read", SIGNAL_COUNTER, NULL },
    { "io_now", "requests in flight", SIGNAL_GAUGE, NULL },
    { "seconds_total", "time spent", SIGNAL_COUNTER, "op=\"read\"" },
    { "seconds_total", "time spent", SIGNAL_COUNTER, "op=\"write\"" },
};
static const struct signal_set disk = { "disk", "device", disk_defs, ARRAY_SIZE(disk_defs) };

static const struct signal_def host_defs[] = { { "load1", "load", SIGNAL_GAUGE, NULL } };
static const struct signal_set host = { "host", NULL, host_defs, ARRAY_SIZE(host_defs) };

/* Two disks, a row of another set, and values of every sort. */
static void fill(struct tick *t)
{
    struct signal_row *row;

    tick_begin(t, 1000000000, 0);
    row = tick_add(t, &disk, "sda");
    row->values[0] = 9007199254740991.0;
    row->values[2] = 1.25;
    row->values[3] = 0;
    row = tick_add(t, &disk, "a\"b\\c\nd\x01\xff\xc3\xa9");
    row->values[0] = 7;
    row->values[1] = -1;
    row->values[3] = 1e300;
    row = tick_add(t, &host, "");
    row->values[0] = 0.33;
}

static const char prometheus[] =
    "# HELP brim_disk_read_bytes_total bytes read\n"
    "# TYPE brim_disk_read_bytes_total counter\n"
    "brim_disk_read_bytes_total{device=\"sda\"} 9007199254740991\n"
    "brim_disk_read_bytes_total{device=\"a\\\"b\\\\c\\nd??\xc3\xa9\"} 7\n"
    "# HELP brim_disk_io_now requests in flight\n"
    "# TYPE brim_disk_io_now gauge\n"
    "brim_disk_io_now{device=\"a\\\"b\\\\c\\nd??\xc3\xa9\"} -1\n"
    "# HELP brim_disk_seconds_total time spent\n"
    "# TYPE brim_disk_seconds_total counter\n"
    "brim_disk_seconds_total{device=\"sda\",op=\"read\"} 1.25\n"
    "brim_disk_seconds_total{device=\"sda\",op=\"write\"} 0\n"
    "brim_disk_seconds_total{device=\"a\\\"b\\\\c\\nd??\xc3\xa9\",op=\"write\"} 1e+300\n"
    "# HELP brim_host_load1 load\n"
    "# TYPE brim_host_load1 gauge\n"
    "brim_host_load1 0.33\n";

static void test_formats(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };

    fill(&t);
    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(str_text(&out), prometheus, "families stand together, what is absent is left out");
    str_reset(&out);
    metrics_render(&t, METRICS_OPENMETRICS, &out);
    ok(strstr(str_text(&out), "# TYPE brim_disk_read_bytes counter\n"),
       "OpenMetrics names a family without _total");
    ok(strstr(str_text(&out), "brim_disk_read_bytes_total{device=\"sda\"} "),
       "OpenMetrics names a sample with _total");
    ok(strstr(str_text(&out), "0.33\n# EOF\n"), "OpenMetrics ends with its end mark");
}

/* Samplers of two vendors fill one set each with rows of their own, with others between. */
static void test_runs(void)
{
    static const char *const facts[] = { "model", NULL };
    const struct signal_set gpu = { "gpu", "gpu", host.defs, 1, facts };
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };
    const struct signal_set *const sets[] = { &gpu, &host, &gpu, &gpu };
    static const char *const things[] = { "amd0", "", "intel0", "intel1" };

    tick_begin(&t, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
        tick_add(&t, sets[i], things[i])->values[0] = (double)i;
    tick_group(&t);
    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(str_text(&out),
           "# HELP brim_gpu_info what is known of each gpu\n# TYPE brim_gpu_info gauge\n"
           "brim_gpu_info{gpu=\"amd0\",model=\"\"} 1\n"
           "brim_gpu_info{gpu=\"intel0\",model=\"\"} 1\n"
           "brim_gpu_info{gpu=\"intel1\",model=\"\"} 1\n"
           "# HELP brim_gpu_load1 load\n# TYPE brim_gpu_load1 gauge\n"
           "brim_gpu_load1{gpu=\"amd0\"} 0\n"
           "brim_gpu_load1{gpu=\"intel0\"} 2\n"
           "brim_gpu_load1{gpu=\"intel1\"} 3\n"
           "# HELP brim_host_load1 load\n# TYPE brim_host_load1 gauge\n"
           "brim_host_load1 1\n",
           "a family is headed once");
}

static void test_info(void)
{
    static const char *const facts[] = { "model", "uuid", NULL };
    const struct signal_set gpu = { "gpu", "gpu", host.defs, 1, facts };
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };
    struct signal_row *row;

    tick_begin(&t, 0, 0);
    row = tick_add(&t, &gpu, "0");
    tick_fact(row, 0, "a \"quoted\" name");
    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(str_text(&out),
           "# HELP brim_gpu_info what is known of each gpu\n# TYPE brim_gpu_info gauge\n"
           "brim_gpu_info{gpu=\"0\",model=\"a \\\"quoted\\\" name\",uuid=\"\"} 1\n",
           "facts are labels of an info metric");
}

static void test_json(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };

    fill(&t);
    metrics_render_json(&t, &out);
    ok(strstr(str_text(&out), "\"schema\": \"brim.sample.v1\""), "JSON has a schema");
    ok(strstr(str_text(&out), "\"time\": \"1970-01-01T00:00:01Z\""), "JSON has a time");
    ok(strstr(str_text(&out), "\"seconds_total:op=\\\"read\\\"\": 1.25"), "labels tell keys apart");
    ok(!strstr(str_text(&out), "nan"), "absent values are left out");
}

/* A time that there was no memory for is none that is blank. */
static void test_json_without_memory(void)
{
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };
    bool failed = true;

    fill(&t);
    for (oom_restart(); failed;) {
        CLEANUP(str_done) struct str out = STR_INIT(64 << 10);

        oom_next();
        metrics_render_json(&t, &out);
        failed = oom_end();
        is_int(str_error(&out), failed ? -ENOMEM : 0,
               "JSON with allocation %d failing says that memory lacks", oom_at);
    }
}

/* Values are written as printf's %.15g would, in the forms that have a way of their own too. */
static void test_values(void)
{
    static const double values[] = { 0,         0.5,     1.25,     123456.789, 0.000001,
                                     0.0001,    0.1,     0.000123, 0.999999,   1e9 + 0.5,
                                     0.1234567, 1.0 / 3, 1e300,    -1,         -0.25,
                                     100,       10.01,   4096.5,   1e-9,       99999999.000001 };

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        CLEANUP(tick_done) struct tick t = { .n_rows = 0 };
        char want[64];

        tick_begin(&t, 0, 0);
        tick_add(&t, &host, "")->values[0] = values[i];
        metrics_render(&t, METRICS_PROMETHEUS, &out);
        snprintf(want, sizeof(want), "\nbrim_host_load1 %.15g\n", values[i]);
        ok(strstr(str_text(&out), want), "the value '%s' stands in %s", want, str_text(&out));
    }
}

static void test_nothing(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10), small = STR_INIT(10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };

    metrics_render(&t, METRICS_PROMETHEUS, &out);
    is_str(str_text(&out), "", "a tick without rows makes no text");
    fill(&t);
    metrics_render(&t, METRICS_PROMETHEUS, &small);
    ok(str_error(&small) != 0, "a ceiling is told");
}

/* Fractions that are written without printf() look as those that are. */
static void test_fractions(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    CLEANUP(tick_done) struct tick t = { .n_rows = 0 };
    uint64_t seed = 1;
    int wrong = 0;

    for (int i = 0; i < 200000; i++) {
        static const double units[] = { 1e-9, 1e-6, 0.01, 1.0 / 3, 1e-3, 1e-11 };
        char want[64];
        struct signal_row *row;

        seed = seed * 6364136223846793005U + 1442695040888963407U;
        tick_begin(&t, 0, 0);
        row = tick_add(&t, &host, "");
        row->values[0] = (double)(seed >> (14 + i % 48)) * units[i % 6];
        snprintf(want, sizeof(want), "brim_host_load1 %.15g\n", row->values[0]);
        if (row->values[0] == (double)(uint64_t)row->values[0])
            continue;
        str_reset(&out);
        metrics_render(&t, METRICS_PROMETHEUS, &out);
        wrong += !strstr(str_text(&out), want);
    }
    is_int(wrong, 0, "fractions of every size are written exactly");
}

int main(void)
{
    test_formats();
    test_runs();
    test_info();
    test_json();
    test_json_without_memory();
    test_nothing();
    test_fractions();
    test_values();
    return done();
}
