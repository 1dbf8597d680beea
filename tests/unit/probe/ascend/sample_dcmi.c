/* Ascend NPUs over time; Huawei's driver library is played by tests/fake/dcmi. The build runs this
 * with its folder in LD_LIBRARY_PATH ("now", and "hangs"), with one that lacks much ("bare") or
 * what none lacks ("damaged"), and with none ("absent"). */
#include <dlfcn.h>
#include <time.h>

#include "../../../fake/dcmi/fake_dcmi.h"
#include "fixture.h"
#include "probe/gpu/gpu_sample.h"
#include "sampled.h"

extern const struct sampler_ops sampler_dcmi;

enum { MS = 1000000, PATIENCE_NS = 2000000000 };

#define FAKE "FAKE_DCMI"

static const char chips[] = "[npu 0]\n"
                            "card = 0\n"
                            "device = 0\n"
                            "bdf = 0000:c1:00.0\n"
                            "type = Ascend\n"
                            "name = 910B1\n"
                            "memory_b = 68719476736\n"
                            "health = 0\n"
                            "[npu 1]\n"
                            "card = 4\n"
                            "device = 0\n"
                            "name = 910A\n"
                            "memory_b = 34359738368\n"
                            "health = 2\n"
                            "[npu 2]\n"
                            "card = 4\n"
                            "device = 1\n"
                            "lost = yes\n";

static void play(const char *lines)
{
    char script[2048];

    snprintf(script, sizeof(script), "[fake]\n%s%s", lines, chips);
    fixture_script(FAKE, script);
}

static int start(struct sampled *s, int64_t patience_ns, struct err *e)
{
    const struct sampler_env env = { .root = s->root, .live = true, .patience_ns = patience_ns };

    sampled_close(s);
    return sampler_dcmi.open(&s->state, &env, e);
}

static void sleep_ms(long ms)
{
    const struct timespec t = { .tv_nsec = ms * MS };

    nanosleep(&t, NULL);
}

static double error_of(const struct sampled *s, const char *thing, size_t i)
{
    const struct signal_row *row = tick_find(&s->tick, &gpu_error_set, thing);

    return row ? row->values[i] : -1;
}

static void test_values(struct sampled *s)
{
    const struct signal_row *row;
    struct err e = { "" };

    play("");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with three NPUs: %s", e.text);
    is_int(sampled_at(s, 0), 5, "three NPUs make three rows and two of errors");
    ok(s->tick.rows[2].set == &gpu_set && s->tick.rows[3].set == &gpu_error_set,
       "the rows of a set stand together");
    is_value(s, "ascend0", "busy_ratio", "0.85");
    is_value(s, "ascend0", "dram_active_ratio", "0.25");
    is_value(s, "ascend0", "sm_clock_hertz", "1650000000");
    is_value(s, "ascend0", "sm_clock_max_hertz", "1800000000");
    is_value(s, "ascend0", "memory_clock_hertz", "1600000000");
    is_value(s, "ascend0", "temperature_celsius", "40");
    is_value(s, "ascend1", "temperature_celsius", "41");
    is_value(s, "ascend0", "memory_temperature_celsius", "50");
    is_value(s, "ascend0", "power_watts", "312.5");
    is_value(s, "ascend0", "memory_used_bytes", "17179869184");
    is_value(s, "ascend0", "memory_free_bytes", "51539607552");
    is_value(s, "ascend1", "memory_total_bytes", "34359738368");
    is_value(s, "ascend0", "lost", "0");
    is_value(s, "ascend2", "lost", "1");
    is_value(s, "ascend2", "temperature_celsius", "absent");
    is_value(s, "ascend0", "energy_joules_total", "absent");
    ok(error_of(s, "ascend0", GPU_ECC_CORRECTED) == 3, "the row has the corrected errors");
    ok(error_of(s, "ascend0", GPU_ECC_UNCORRECTED) == 1, "the row has the uncorrected errors");
    ok(error_of(s, "ascend0", GPU_ECC_CORRECTED_EVER) == 30,
       "the row has the corrected errors of all times");
    ok(error_of(s, "ascend0", GPU_ECC_UNCORRECTED_EVER) == 10,
       "the row has the uncorrected errors of all times");
    ok(error_of(s, "ascend0", GPU_PAGES_RETIRED) == 6, "the row has the retired pages");
    row = tick_find(&s->tick, &gpu_set, "ascend0");
    is_str(signal_fact(row, "model"), "Ascend 910B1", "the row has the NPU's model");
    is_str(signal_fact(row, "pci"), "0000:c1:00.0", "the row has the NPU's address");
    is_str(signal_fact(row, "vendor"), "huawei", "the row has the vendor huawei");
    is_int(s->tick.n_events, 1, "one NPU of three has an alarm");
    is_str(s->tick.events[0].kind, "health", "an alarm is an event of kind health");
    is_str(s->tick.events[0].thing, "ascend1", "an alarm's event names the NPU");
    is_str(s->tick.events[0].text, "the driver reports a major alarm of NPU 1",
           "an alarm's event has its text");
    is_int(s->tick.events[0].severity, SEVERITY_CRITICAL, "a major alarm is critical");
    is_int(sampled_at(s, 1), 5, "the next tick has as many rows");
    is_int(s->tick.n_events, 0, "an alarm is told once");
}

static void test_unsupported(struct sampled *s)
{
    struct err e = { "" };

    play("dcmi_get_device_utilization_rate = not_supported\n"
         "dcmi_get_device_power_info.0 = no_permission\n"
         "dcmi_get_device_hbm_info.1 = not_supported\n"
         "dcmi_get_device_ecc_info = not_supported\n"
         "dcmi_get_device_temperature.1 = lost\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens where values are not supported: %s",
           e.text);
    is_int(sampled_at(s, 0), 3, "NPUs without ECC have no rows of errors");
    is_value(s, "ascend0", "busy_ratio", "absent");
    is_value(s, "ascend0", "power_watts", "absent");
    is_value(s, "ascend0", "temperature_celsius", "40");
    is_value(s, "ascend1", "memory_used_bytes", "absent");
    is_value(s, "ascend1", "lost", "1");
    is_value(s, "ascend1", "sm_clock_hertz", "absent");
    play("dcmi_get_device_hbm_info.0 = not_supported\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens where memory is not supported");
    is_int(sampled_at(s, 0), 5, "NPUs whose memory is not known have their rows");
    is_value(s, "ascend0", "memory_used_bytes", "absent");
    is_value(s, "ascend0", "memory_total_bytes", "absent");
    is_value(s, "ascend0", "memory_free_bytes", "absent");
    is_value(s, "ascend0", "memory_temperature_celsius", "absent");
    is_value(s, "ascend1", "memory_temperature_celsius", "50");
    is_value(s, "ascend0", "power_watts", "312.5");
    play("dcmi_init = -8005\n");
    is_int(start(s, PATIENCE_NS, &e), -ENOENT, "the sampler does not open without a driver");
    fixture_script(FAKE, "[fake]\n");
    is_int(start(s, PATIENCE_NS, &e), -ENOENT, "the sampler does not open without an NPU");
}

/* Numbers at the limits of what they can be. */
static void test_limits(struct sampled *s)
{
    static const struct {
        const char *lines, *signal, *want;
    } cases[] = {
        { "value.percent = 100\n", "busy_ratio", "1" },
        { "value.percent = 101\n", "busy_ratio", "absent" },
        { "value.percent = 101\n", "dram_active_ratio", "absent" },
        { "value.mhz = 1\n", "sm_clock_hertz", "1000000" },
        { "value.mhz = 0\n", "sm_clock_hertz", "absent" },
        { "value.mhz = 0\n", "sm_clock_max_hertz", "absent" },
        { "value.tenths = 0\n", "power_watts", "0" },
        { "value.tenths = -1\n", "power_watts", "absent" },
        { "value.memory_mhz = 1\n", "memory_clock_hertz", "1000000" },
        { "value.memory_mhz = 0\n", "memory_clock_hertz", "absent" },
        { "value.memory_quarters = 4\n", "memory_free_bytes", "0" },
        { "value.memory_quarters = 5\n", "memory_used_bytes", "absent" },
        { "value.memory_quarters = 5\n", "memory_total_bytes", "absent" },
        { "value.memory_quarters = 5\n", "memory_temperature_celsius", "absent" },
    };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        play(cases[i].lines);
        is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with any number: %s", e.text);
        is_int(sampled_at(s, 0), 5, "any number leaves three rows and two of errors");
        is_value(s, "ascend0", cases[i].signal, cases[i].want);
    }
    play("value.ecc = 0\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens where errors are not corrected");
    is_int(sampled_at(s, 0), 3, "an NPU that corrects no errors has no row of them");
}

/* Functions of the fake driver. */
static void *fake_function(const char *name)
{
    void *library = dlopen("libdcmi.so", RTLD_LAZY);
    void *function = library ? dlsym(library, name) : NULL;

    ok(function != NULL, "the driver has %s", name);
    return function; /* the library stays open */
}

/* How often NPU 0 is asked until a call says that it is lost: four times for what does not change,
 * then for each value. */
static void test_lost_calls(struct sampled *s)
{
    static const struct {
        const char *call;
        unsigned calls;
    } cases[] = {
        { "dcmi_get_device_health", 5 },      { "dcmi_get_device_utilization_rate", 6 },
        { "dcmi_get_device_frequency", 8 },   { "dcmi_get_device_temperature", 10 },
        { "dcmi_get_device_power_info", 11 }, { "dcmi_get_device_hbm_info", 11 },
        { "dcmi_get_device_ecc_info", 13 },   { "dcmi_get_device_nothing", 13 },
    };
    fake_dcmi_calls_fn *calls = (fake_dcmi_calls_fn *)fake_function("fake_calls");
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char lines[80];

        snprintf(lines, sizeof(lines), "%s.0 = lost\n", cases[i].call);
        play(lines);
        is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with a lost NPU: %s", e.text);
        is_int(calls(0), cases[i].calls, "an NPU is not asked after %s of a lost one",
               cases[i].call);
        sampled_at(s, 0);
        is_value(s, "ascend0", "lost", i + 1 < ARRAY_SIZE(cases) ? "1" : "0");
        is_value(s, "ascend0", "temperature_celsius", i + 1 < ARRAY_SIZE(cases) ? "absent" : "40");
    }
}

/* Sample until an alarm of NPU 0 is told. */
static const struct event *next_alarm(struct sampled *s)
{
    for (int i = 0; i < 2000; i++) {
        sampled_at(s, i);
        for (size_t k = 0; k < s->tick.n_events; k++)
            if (strcmp(s->tick.events[k].thing, "ascend0") == 0)
                return &s->tick.events[k];
        sleep_ms(1);
    }
    return NULL;
}

/* An alarm that begins, changes and ends. */
static void test_alarms(struct sampled *s)
{
    static const struct {
        const char *lines, *text;
        enum severity severity;
        bool over;
    } cases[] = {
        { "value.health = 1\n", "the driver reports a minor alarm of NPU 0", SEVERITY_WARNING,
          false },
        { "value.health = 3\n", "the driver reports a critical alarm of NPU 0", SEVERITY_CRITICAL,
          false },
        { "value.health = 2\n", "the driver reports a major alarm of NPU 0", SEVERITY_CRITICAL,
          false },
        { "value.health = 0\n", "the driver reports no alarm of NPU 0", SEVERITY_WARNING, true },
    };
    fake_dcmi_reload_fn *reload = (fake_dcmi_reload_fn *)fake_function("fake_reload");
    struct err e = { "" };

    play("value.health = 4\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with an unknown alarm: %s", e.text);
    sampled_at(s, 0);
    is_int(s->tick.n_events, 0, "an alarm of a kind that is not known is not told");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct event *event;

        play(cases[i].lines);
        reload();
        event = next_alarm(s);
        if (!ok(event != NULL, "an alarm that changes is told: %s", cases[i].text))
            continue;
        is_str(event->text, cases[i].text, "the event has its text: %s", cases[i].text);
        is_int(event->severity, cases[i].severity, "the event has its severity: %s", cases[i].text);
        is_int(event->over, cases[i].over, "the event begins or ends: %s", cases[i].text);
        is_str(event->action, cases[i].over ? "" : "npu-smi info -t health -i 0",
               "the event has the way out, or needs none: %s", cases[i].text);
    }
    play("value.health = 1\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with an alarm for a full tick");
    tick_begin(&s->tick, 0, 0);
    while (s->tick.n_events < EVENTS_MAX)
        ok(tick_event(&s->tick, "other", SEVERITY_NOTE, -1) != NULL, "a tick takes an event");
    is_int(s->ops->sample(s->state, &s->tick), 0, "a tick full of events takes no alarm");
    is_int(s->tick.n_rows, 5, "a tick full of events has its rows");
    ok(next_alarm(s) != NULL, "an alarm that a full tick did not take is told in the next one");
}

static void test_bare(struct sampled *s)
{
    static const char *const signals[] = {
        "busy_ratio",        "dram_active_ratio", "sm_clock_hertz",      "sm_clock_max_hertz",
        "memory_used_bytes", "power_watts",       "temperature_celsius",
    };
    struct err e = { "" };

    play("");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens with a driver that lacks much: %s",
           e.text);
    is_int(sampled_at(s, 0), 3, "a driver that lacks much has a row for each NPU");
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        is_value(s, "ascend0", signals[i], "absent");
    is_value(s, "ascend0", "lost", "0");
    is_int(s->tick.n_events, 0, "a driver that lacks much tells no alarm");
}

static void test_damaged(struct sampled *s)
{
    struct err e = { "" };

    play("");
    is_int(start(s, PATIENCE_NS, &e), -ENOENT, "the sampler does not open a damaged library");
    is_str(e.text, "libdcmi.so has no dcmi_get_card_list: it is not Huawei's, or damaged",
           "the error names the function that is missing");
}

/* A call that is late by more than the patience, and answers in the end. */
static void test_recovery(struct sampled *s)
{
    struct err e = { "" };
    int begins = 0, ends = 0;
    bool hidden = false;

    play("dcmi_get_device_power_info.0 = 60ms\n");
    is_int(start(s, PATIENCE_NS, &e), 0, "the sampler opens within its patience: %s", e.text);
    sampled_close(s);
    is_int(start(s, 20 * MS, &e), 0, "the sampler opens though nothing was read in time: %s",
           e.text);
    for (int i = 0; i < 400 && ends < 2; i++) {
        int rows = sampled_at(s, i);

        for (size_t k = 0; k < s->tick.n_events; k++) {
            const struct event *event = &s->tick.events[k];

            if (strcmp(event->kind, "probe") != 0)
                continue;
            begins += !event->over;
            ends += event->over;
            ok(!strcmp(event->thing, "ascend0"), "the event is about NPU 0: %s", event->text);
        }
        if (begins > ends && rows > 0) {
            is_value(s, "ascend0", "temperature_celsius", "absent");
            hidden = true;
        }
        sleep_ms(5);
    }
    is_int(begins, 2, "a late call begins two events");
    is_int(ends, 2, "a call that answers again ends both events");
    ok(hidden, "a call that hangs hides what was read before");
}

static void test_oom(struct sampled *s)
{
    const struct sampler_env env = { .root = s->root, .live = true, .patience_ns = PATIENCE_NS };
    bool failed;

    play("");
    oom_restart();
    do {
        struct err e = { "" };
        int rc;

        sampled_close(s);
        tick_done(&s->tick);
        oom_next();
        rc = sampler_dcmi.open(&s->state, &env, &e);
        if (rc == 0)
            rc = sampled_at(s, 0);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc > 0, "the sampler with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
}

/* The thread stays behind. */
static void test_hang(struct sampled *s)
{
    struct err e = { "" };
    int events = 0;

    play("dcmi_get_device_temperature.1 = hang\n");
    is_int(start(s, 50 * MS, &e), 0, "the sampler opens though a call hangs: %s", e.text);
    for (int i = 0; i < 100; i++) {
        is_int(sampled_at(s, i), 0, "nothing was read of a driver that hangs");
        for (size_t k = 0; k < s->tick.n_events; k++, events++) {
            is_str(s->tick.events[k].thing, "ascend1", "the event names the NPU whose call hangs");
            ok(strstr(s->tick.events[k].text, "dcmi_get_device_temperature of NPU 1 has not "
                                              "answered for 0.0") != NULL,
               "the event names the call that hangs: %s", s->tick.events[k].text);
            ok(strstr(s->tick.events[k].action, "npu-smi") != NULL,
               "the event of a call that hangs has a way out");
        }
        sleep_ms(2);
    }
    is_int(events, 1, "a call that hangs makes one event");
    sampled_close(s);
    ok(true, "the sampler closes without waiting for the call");
}

static void test_absent(struct sampled *s)
{
    void *library = dlopen("libdcmi.so", RTLD_LAZY);
    struct err e = { "" };

    is_int(sampled_open(s), -ENOENT, "the sampler does not open on a copy of a machine");
    if (library) {
        dlclose(library);
        ok(true, "the driver library is absent # SKIP this machine has one");
        return;
    }
    is_int(start(s, PATIENCE_NS, &e), -ENOENT, "the sampler does not open without a library");
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "absent";
    struct sampled s;

    sampled_make(&s, &sampler_dcmi);
    if (strcmp(driver, "now") == 0) {
        test_values(&s);
        test_unsupported(&s);
        test_limits(&s);
        test_lost_calls(&s);
        test_alarms(&s);
        test_recovery(&s);
        test_oom(&s);
    } else if (strcmp(driver, "hangs") == 0) {
        test_hang(&s);
    } else if (strcmp(driver, "bare") == 0) {
        test_bare(&s);
    } else if (strcmp(driver, "damaged") == 0) {
        test_damaged(&s);
    } else {
        test_absent(&s);
    }
    fixture_done();
    sampled_remove(&s);
    return done();
}
