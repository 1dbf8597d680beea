/* Clocks of a GPU while it is measured: which GPU it is, how fast it was, and what held it down.
 * The build runs this with the folder of tests/fake/nvml in LD_LIBRARY_PATH. */
#include "bench/clocks.h"

#include <math.h>

#include "base/str.h"
#include "fixture.h"
#include "tap.h"

#define FIRST "[gpu 0]\nbdf = 0000:a1:00.0\nsm_clock_mhz = 1410\n"
#define SECOND "[gpu 1]\nbdf = 0001:a0:1f.0\nsm_clock_mhz = 1980\n"

static void play(const char *rules, unsigned reasons)
{
    char script[512];

    snprintf(script, sizeof(script),
             "[fake]\n%s[driver]\nversion = 580.1\n" FIRST SECOND "[live]\nreasons = %u\n", rules,
             reasons);
    fixture_script("FAKE_NVML", script);
}

/* What so many samples show of the GPU there. */
static struct clock_seen look(const char *bus, int samples)
{
    struct clock_seen seen;
    struct clocks c;

    clocks_open(&c, bus);
    clocks_begin(&c);
    for (int i = 0; i < samples; i++)
        clocks_sample(&c);
    clocks_seen(&c, &seen);
    clocks_close(&c);
    return seen;
}

static void test_places(void)
{
    static const struct {
        const char *bus;
        double mhz; /* 0: not known */
    } places[] = {
        { "0000:A1:00.0", 1410 }, { "0000:a1:00.0", 1410 }, { "0001:A0:1F.0", 1980 },
        { "0001:A1:00.0", 0 },    { "0000:A0:00.0", 0 },    { "0000:A1:01.0", 0 },
        { "0000:A0:1F.0", 0 },    { "nowhere", 0 },
    };

    play("", 0);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        struct clock_seen seen = look(places[i].bus, 3);

        ok(places[i].mhz > 0 ? seen.mhz == places[i].mhz : isnan(seen.mhz),
           "the clock of the GPU at %s is that of no other one: %g", places[i].bus, seen.mhz);
        ok(places[i].mhz > 0 ? seen.held == 0 : isnan(seen.held),
           "the GPU at %s is not held down, or not known", places[i].bus);
        is_str(seen.why, "", "nothing holds down the GPU at %s", places[i].bus);
    }
    ok(isnan(look("0000:A1:00.0", 0).mhz), "a GPU without a sample has no clock");
}

static void test_reasons(void)
{
    static const struct {
        unsigned bits;
        const char *why;
    } reasons[] = {
        { 0x4, "power" },    { 0x8, "hardware" },
        { 0x10, "sync" },    { 0x20, "thermal" },
        { 0x40, "thermal" }, { 0x80, "power brake" },
        { 0x48, "thermal" }, { 0x88, "power brake" },
        { 0x24, "power" },   { 0x1, "" },
        { 0x2, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        struct clock_seen seen;

        play("", reasons[i].bits);
        seen = look("0000:A1:00.0", 4);
        is_str(seen.why, reasons[i].why, "reasons of bits 0x%x hold the clock down by '%s'",
               reasons[i].bits, reasons[i].why);
        ok(seen.held == (*reasons[i].why ? 1 : 0), "reasons of bits 0x%x are held for %g",
           reasons[i].bits, seen.held);
    }
}

static void test_refusals(void)
{
    static const struct {
        const char *rules;
        bool clock, reasons; /* whether they are known */
    } refusals[] = {
        { "nvmlDeviceGetClockInfo = not_supported\n", false, true },
        { "nvmlDeviceGetCurrentClocksEventReasons = not_supported\n", true, false },
        { "nvmlDeviceGetHandleByIndex_v2.1 = no_permission\n", true, true },
        { "nvmlDeviceGetHandleByIndex_v2.0 = no_permission\n", false, false },
        { "nvmlDeviceGetPciInfo_v3.0 = not_supported\n", false, false },
        { "nvmlInit_v2 = no_permission\n", false, false },
        { "nvmlDeviceGetCount_v2 = no_permission\n", false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        struct clock_seen seen;

        play(refusals[i].rules, 4);
        seen = look("0000:A1:00.0", 2);
        ok(!isnan(seen.mhz) == refusals[i].clock && !isnan(seen.held) == refusals[i].reasons,
           "what is not refused is known after: %s", refusals[i].rules);
        is_str(seen.why, refusals[i].reasons ? "power" : "", "a reason is known or not after: %s",
               refusals[i].rules);
    }
}

/* The most frequent of several reasons, and the mean. */
static void test_samples(void)
{
    struct clocks c = { .n_mhz = 4, .mhz = 6000, .n_asked = 8, .n_held = 6 };
    struct clock_seen seen;

    c.why[0] = 1;
    c.why[1] = 2;
    c.why[2] = 1;
    c.why[3] = 2;
    clocks_seen(&c, &seen);
    is_str(seen.why, "thermal", "the first of the most frequent reasons is told");
    ok(seen.mhz == 1500, "the clock is the mean of all samples: %g", seen.mhz);
    ok(seen.held == 0.75, "a clock is held down for the share of samples that say so: %g",
       seen.held);
    clocks_begin(&c);
    clocks_seen(&c, &seen);
    ok(isnan(seen.mhz) && isnan(seen.held) && !*seen.why && !c.why[1] && c.mhz == 0,
       "nothing is seen at the beginning of a figure");
}

int main(void)
{
    test_places();
    test_reasons();
    test_refusals();
    test_samples();
    fixture_done();
    return done();
}
