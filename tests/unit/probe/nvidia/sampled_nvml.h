/* NVIDIA's GPUs sampled through the driver's library, which tests/fake/nvml plays: its script, and
 * what the sampler makes of it. */
#ifndef BRIM_TESTS_SAMPLED_NVML_H
#define BRIM_TESTS_SAMPLED_NVML_H
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../fake/nvml/fake_nvml.h"
#include "base/clock.h"
#include "fixture.h"
#include "oom.h"
#include "probe/nvidia/sample_nvml.h"
#include "tap.h"

extern const struct sampler_ops sampler_nvml;

#define FAKE "FAKE_NVML"
#define MS 1000000LL

static struct {
    void *state;
    struct tick tick;
    /* of the fake; the library stays loaded for as long as the test runs */
    fake_reload_fn *reload;
    fake_calls_fn *calls;
    fake_asked_fn *asked;
} its;

/* Longer than any test, but for what a test is about. */
static const struct nvml_paces seldom = { 3600000 * MS, 3600000 * MS, 3600000 * MS, 3600000 * MS,
                                          3600000 * MS };
static const struct nvml_paces often = { 1, 1, 1, 1, 1 };

static inline void sleep_ms(long ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS };

    nanosleep(&t, NULL);
}

static inline void load_fake(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);

    if (!library)
        return;
    *(void **)&its.reload = dlsym(library, "fake_reload");
    *(void **)&its.calls = dlsym(library, "fake_calls");
    *(void **)&its.asked = dlsym(library, "fake_asked");
}

/* What two GPUs say, after a section [fake] with rules and [live] with values. */
static inline void play(const char *rules, const char *live)
{
    CLEANUP(str_done) struct str script = STR_INIT(64 << 10);

    str_addf(&script, "[fake]\n%s[live]\n%s", rules, live);
    for (int i = 0; i < 2; i++)
        str_addf(&script,
                 "[gpu %d]\nbdf = 0000:%d7:00.0\nname = H100\nuuid = GPU-%d\nmemory_b = 1000\n"
                 "pcie_gen = 4\npcie_width = 8\npcie_gen_max = 5\npcie_width_max = 16\n"
                 "sm_clock_mhz = 1755\nsm_clock_max_mhz = 1980\n",
                 i, i + 1, i);
    fixture_script(FAKE, str_text(&script));
}

static inline int open_with(const struct nvml_paces *paces, int64_t patience_ns)
{
    const struct sampler_env env = { .root = -1, .live = true, .patience_ns = patience_ns };
    struct err e = { "" };

    return sample_nvml_open(&its.state, &env, paces, &e);
}

static inline void end(void)
{
    if (its.state)
        sampler_nvml.close(its.state);
    its.state = NULL;
    tick_done(&its.tick);
}

static inline int sample(void)
{
    int rc;

    tick_begin(&its.tick, 7, 0);
    rc = sampler_nvml.sample(its.state, &its.tick);
    if (rc > 0)
        ok(false, "the sampler of GPUs returns 0 or a code below 0: %d", rc);
    return rc < 0 ? rc : (int)its.tick.n_rows;
}

static inline double value(const struct signal_set *set, const char *thing, size_t i)
{
    const struct signal_row *row = tick_find(&its.tick, set, thing);

    return row ? row->values[i] : (double)NAN;
}

/* As text: "1234", "0.25", "absent", "no row". */
static inline const char *text(const struct signal_set *set, const char *thing, size_t i,
                               char buf[32])
{
    if (!tick_find(&its.tick, set, thing))
        return "no row";
    if (isnan(value(set, thing, i)))
        return "absent";
    snprintf(buf, 32, "%.15g", value(set, thing, i));
    return buf;
}

#define is_value(set, thing, i, want) \
    is_str(text(&(set), (thing), (i), (char[32]){ "" }), (want), "thing %s has %s at %s", (thing), \
           #i, (want))

/* Sample until a value is that; the readings that are asked for come in their own time. */
static inline bool until(const struct signal_set *set, const char *thing, size_t i,
                         const char *want)
{
    for (int k = 0; k < 1000; k++) {
        if (sample() >= 0 && strcmp(text(set, thing, i, (char[32]){ "" }), want) == 0)
            return true;
        sleep_ms(5);
    }
    return false;
}

#define becomes(set, thing, i, want) \
    ok(until(&(set), (thing), (i), (want)), "the value of %s in %s becomes %s", (thing), #i, (want))

static inline const struct event *event_of(const char *kind)
{
    for (size_t i = 0; i < its.tick.n_events; i++)
        if (strcmp(its.tick.events[i].kind, kind) == 0)
            return &its.tick.events[i];
    return NULL;
}

/* Sample until there is an event of that kind; NULL when none comes. */
static inline const struct event *wait_for(const char *kind)
{
    for (int k = 0; k < 1000; k++) {
        if (sample() >= 0 && event_of(kind))
            return event_of(kind);
        sleep_ms(5);
    }
    return NULL;
}

/* Ask for n readings at least, and wait until the last of them has ended. */
static inline void readings(unsigned n)
{
    unsigned end = its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1) + n;
    unsigned before = 0;

    for (int k = 0; k < 5000 && its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1) < end; k++) {
        (void)!sample();
        sleep_ms(1);
    }
    for (int k = 0; k < 100 && before != its.calls(NULL, 0) + its.calls(NULL, 1); k++) {
        before = its.calls(NULL, 0) + its.calls(NULL, 1);
        sleep_ms(50);
    }
}

#define USUAL \
    "utilization = 93\nmemory_utilization = 41\ntemperature = 61\nslowdown = 90\nmargin = 24\n" \
    "memory_clock_mhz = 2619\npower_mw = 1000\nenforced_limit_mw = 700000\nencoder = 3\n" \
    "decoder = 12\nreasons = 4\nmemory_total_b = 900\nmemory_used_b = 600\n" \
    "memory_reserved_b = 50\nfield 186 = 512345\nfield 83 = 2500\nfield 82 = 70\n" \
    "field 74 = 1500000000\nfield 251 = 1000000000\nfield 252 = 500000000\nfield 75 = 7\n" \
    "field 253 = 0\nfield 3 = 5\nfield 29 = 2\nfield 30 = 3\nfield 144 = 1\nfield 230 = 2\n"

#endif
