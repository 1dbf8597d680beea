/* NVIDIA's GPUs sampled through the driver's library, which tests/fake/nvml plays. The build runs
 * this with its folder in LD_LIBRARY_PATH ("now", and "hangs", which leaves threads behind), with
 * that of an old driver's ("old"), and with none ("absent"). */
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

static void sleep_ms(long ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS };

    nanosleep(&t, NULL);
}

static void load_fake(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);

    if (!library)
        return;
    *(void **)&its.reload = dlsym(library, "fake_reload");
    *(void **)&its.calls = dlsym(library, "fake_calls");
    *(void **)&its.asked = dlsym(library, "fake_asked");
}

/* What two GPUs say, after a section [fake] with rules and [live] with values. */
static void play(const char *rules, const char *live)
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

static int open_with(const struct nvml_paces *paces, int64_t patience_ns)
{
    const struct sampler_env env = { .root = -1, .live = true, .patience_ns = patience_ns };
    struct err e = { "" };

    return sample_nvml_open(&its.state, &env, paces, &e);
}

static void end(void)
{
    if (its.state)
        sampler_nvml.close(its.state);
    its.state = NULL;
    tick_done(&its.tick);
}

static int sample(void)
{
    int rc;

    tick_begin(&its.tick, 7, 0);
    rc = sampler_nvml.sample(its.state, &its.tick);
    return rc < 0 ? rc : (int)its.tick.n_rows;
}

static double value(const struct signal_set *set, const char *thing, size_t i)
{
    const struct signal_row *row = tick_find(&its.tick, set, thing);

    return row ? row->values[i] : (double)NAN;
}

/* As text: "1234", "0.25", "absent", "no row". */
static const char *text(const struct signal_set *set, const char *thing, size_t i, char buf[32])
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
static bool until(const struct signal_set *set, const char *thing, size_t i, const char *want)
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

static const struct event *event_of(const char *kind)
{
    for (size_t i = 0; i < its.tick.n_events; i++)
        if (strcmp(its.tick.events[i].kind, kind) == 0)
            return &its.tick.events[i];
    return NULL;
}

/* Sample until there is an event of that kind; NULL when none comes. */
static const struct event *wait_for(const char *kind)
{
    for (int k = 0; k < 1000; k++) {
        if (sample() >= 0 && event_of(kind))
            return event_of(kind);
        sleep_ms(5);
    }
    return NULL;
}

/* Ask for n readings at least, and wait until the last of them has ended. */
static void readings(unsigned n)
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

/* ---- values ---- */

static void check_values(void)
{
    play("", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with two GPUs");
    is_int(sample(), 6, "two GPUs have a row of each set at once");
    for (size_t i = 0; i < 6; i++)
        ok(its.tick.rows[i].set == (i < 2   ? &gpu_set
                                    : i < 4 ? &gpu_throttle_set
                                            : &gpu_error_set),
           "row %zu stands with its set", i);
    is_str(signal_fact(&its.tick.rows[1], "uuid"), "GPU-1", "a row has the uuid of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "model"), "H100", "a row has the model of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "pci"), "0000:27:00.0",
           "a row has the address of its GPU");
    is_str(signal_fact(&its.tick.rows[1], "vendor"), "nvidia", "a row has the vendor nvidia");
    is_value(gpu_set, "1", GPU_BUSY, "0.93");
    is_value(gpu_set, "1", GPU_MEMORY_BUSY, "0.41");
    is_value(gpu_set, "1", GPU_ENCODER_BUSY, "0.03");
    is_value(gpu_set, "1", GPU_DECODER_BUSY, "0.12");
    is_value(gpu_set, "1", GPU_SM_CLOCK, "1755000000");
    is_value(gpu_set, "1", GPU_SM_CLOCK_MAX, "1980000000");
    is_value(gpu_set, "1", GPU_MEMORY_CLOCK, "2619000000");
    is_value(gpu_set, "1", GPU_POWER, "512.345");
    is_value(gpu_set, "1", GPU_POWER_LIMIT, "700");
    is_value(gpu_set, "1", GPU_ENERGY, "2.5");
    is_value(gpu_set, "1", GPU_TEMPERATURE, "61");
    is_value(gpu_set, "1", GPU_MEMORY_TEMPERATURE, "70");
    is_value(gpu_set, "1", GPU_TEMPERATURE_MARGIN, "24");
    is_value(gpu_set, "1", GPU_MEMORY_USED, "600");
    is_value(gpu_set, "1", GPU_MEMORY_FREE, "250");
    is_value(gpu_set, "1", GPU_MEMORY_RESERVED, "50");
    is_value(gpu_set, "1", GPU_MEMORY_TOTAL, "900");
    is_value(gpu_set, "1", GPU_PCIE_GEN, "4");
    is_value(gpu_set, "1", GPU_PCIE_GEN_MAX, "5");
    is_value(gpu_set, "1", GPU_PCIE_WIDTH, "8");
    is_value(gpu_set, "1", GPU_PCIE_WIDTH_MAX, "16");
    is_value(gpu_set, "1", GPU_PROCESSES, "0");
    is_value(gpu_set, "1", GPU_LOST, "0");
    is_value(gpu_set, "1", GPU_SM_ACTIVE, "absent");
    is_value(gpu_set, "1", GPU_PCIE_SENT, "absent");
    is_value(gpu_set, "1", GPU_LINK_SENT, "absent");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_POWER_SECONDS, "1.5");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_THERMAL_SECONDS, "1.5");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_BRAKE_SECONDS, "0");
    is_value(gpu_throttle_set, "0", GPU_THROTTLE_SYNC_SECONDS, "absent");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "5");
    is_value(gpu_error_set, "0", GPU_ECC_UNCORRECTED, "absent");
    is_value(gpu_error_set, "0", GPU_PAGES_RETIRED, "5");
    is_value(gpu_error_set, "0", GPU_REMAP_PENDING, "1");
    is_value(gpu_error_set, "0", GPU_RECOVERY_ACTION, "2");
    is_int(its.tick.n_events, 0, "two GPUs that work make no event");
    end();
}

/* What a driver does not have is left out, and what is not as exact stands in for it. */
static void check_substitutes(void)
{
    play("nvmlDeviceGetMemoryInfo_v2 = not_supported\nnvmlDeviceGetUtilizationRates.1 = 999\n",
         "temperature = 61\nslowdown = 90\npower_mw = 1500\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens where calls are not supported");
    sample();
    is_value(gpu_set, "0", GPU_POWER, "1.5");
    is_value(gpu_set, "0", GPU_TEMPERATURE_MARGIN, "29");
    is_value(gpu_set, "0", GPU_MEMORY_USED, "250");
    is_value(gpu_set, "0", GPU_MEMORY_RESERVED, "absent");
    is_value(gpu_set, "0", GPU_MEMORY_TOTAL, "1000");
    is_value(gpu_set, "1", GPU_BUSY, "absent");
    is_value(gpu_set, "0", GPU_MEMORY_CLOCK, "absent");
    is_value(gpu_throttle_set, "0", GPU_THROTTLED_POWER, "absent");
    end();
}

static void check_reasons(void)
{
    static const struct {
        unsigned bits;
        const char *want; /* power, thermal, brake, sync, other */
    } cases[] = { { 0, "00000" },        { 0x1, "00000" },  { 0x4, "10000" },
                  { 0x8, "00001" },      { 0x48, "01000" }, { 0x88, "00100" },
                  { 0x20 | 8, "01001" }, { 0x10, "00010" }, { 0x104, "10000" } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char live[64], got[6] = "";

        snprintf(live, sizeof(live), "reasons = %u\n", cases[i].bits);
        play("", live);
        is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with reasons 0x%x",
               cases[i].bits);
        sample();
        for (size_t k = 0; k < 5; k++)
            got[k] = value(&gpu_throttle_set, "0", GPU_THROTTLED_POWER + k) > 0 ? '1' : '0';
        is_str(got, cases[i].want, "reasons 0x%x are told as what throttles", cases[i].bits);
        end();
    }
}

/* ---- fields ---- */

static void check_links(void)
{
    play("", "field 138 = 3\nfield 139 = 4\nfield 202 = 1000\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with sums of links");
    sample();
    is_value(gpu_set, "0", GPU_LINK_SENT, "3072");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "4096");
    end();

    play("", "field 202.0 = 1000\nfield 202.17 = 10\nfield 204.2 = 7\nfield 163.1 = 2\n"
             "field 163.5 = 1\nfield 38 = 100\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with single links");
    sample();
    is_value(gpu_set, "0", GPU_LINK_SENT, "1010");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "7");
    is_value(gpu_error_set, "0", GPU_LINK_CRC, "3");
    play("", "field 202.0 = 1001\nfield 204.2 = 8\n");
    its.reload();
    becomes(gpu_set, "0", GPU_LINK_RECEIVED, "8");
    is_value(gpu_set, "0", GPU_LINK_SENT, "absent");
    end();
}

/* One call for all fields, and each other question once. */
static void check_calls(void)
{
    static const unsigned absent[] = { 76, 77, 138, 139, 197, 198, 202, 204, 31, 161, 219 };
    unsigned all, fields, reasons, before;

    play("", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens to count its calls");
    readings(2);
    all = its.calls(NULL, 1);
    fields = its.calls("nvmlDeviceGetFieldValues", 1);
    before = its.asked(253);
    reasons = its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1);
    readings(10);
    reasons = its.calls("nvmlDeviceGetCurrentClocksEventReasons", 1) - reasons;
    ok(reasons >= 10, "ten readings have been made or more");
    is_int(its.calls("nvmlDeviceGetFieldValues", 1) - fields, reasons,
           "a reading takes one call for fields");
    is_int(its.calls(NULL, 1) - all, 8 * reasons, "a reading takes eight calls in all");
    is_int(its.asked(253) - before, 2 * reasons,
           "a field is asked for once of each GPU that has it");
    before = its.asked(144);
    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        all = i == 0 ? its.asked(absent[i]) : all + its.asked(absent[i]);
    readings(5);
    is_int(its.asked(144) - before, 0, "a slow field is not asked for before it is due");
    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        all -= its.asked(absent[i]);
    is_int(all, 0, "fields that GPUs lack are not asked for");
    end();
}

/* After the back-off what is there now is found. */
static void check_again(void)
{
    unsigned before;

    play("", "temperature = 1\nreasons = 0\n");
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens where fields are missing");
    sample();
    is_value(gpu_set, "0", GPU_ENERGY, "absent");
    before = its.asked(76);
    readings(2);
    ok(its.asked(76) > before, "a field that was missing is asked for again");
    play("", USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_ENERGY, "2.5");
    becomes(gpu_set, "1", GPU_POWER_LIMIT, "700");
    becomes(gpu_error_set, "1", GPU_PAGES_RETIRED, "5");
    play("", USUAL "[live 1]\nfield 3 = 6\n");
    its.reload();
    becomes(gpu_error_set, "1", GPU_ECC_CORRECTED, "6");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "5");
    end();
}

/* What is asked slowly is asked all the same when readings come fast. */
static void check_slow_fields(void)
{
    struct nvml_paces paces = seldom;

    paces.slow_ns = 200 * MS;
    play("", USUAL);
    is_int(open_with(&paces, 10000 * MS), 0, "the sampler opens with slow fields");
    play("", USUAL "[live 1]\nfield 3 = 6\n");
    its.reload();
    becomes(gpu_error_set, "1", GPU_ECC_CORRECTED, "6");
    end();
}

/* A driver says of each field of which type its value is. */
static void check_types(void)
{
    play("", "real = 186\nfield 186 = 312500.5\nsigned = 82\nfield 82 = -5\n"
             "signed_wide = 83\nfield 83 = 5000000000000\nnarrow = 4\nfield 4 = 4000000000\n"
             "field 3 = 9000000000\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with fields of all types");
    sample();
    becomes(gpu_set, "0", GPU_POWER, "312.5005");
    is_value(gpu_set, "0", GPU_MEMORY_TEMPERATURE, "-5");
    is_value(gpu_set, "0", GPU_ENERGY, "5000000000");
    is_value(gpu_error_set, "0", GPU_ECC_UNCORRECTED, "4000000000");
    is_value(gpu_error_set, "0", GPU_ECC_CORRECTED, "9000000000");
    end();
}

/* Each field is asked of the GPU itself (scope 0), and goes to its own value in its own unit. */
static void check_all_fields(void)
{
    static const struct {
        size_t value;
        const char *want;
    } errors[] = {
        { GPU_ECC_CORRECTED, "3" },       { GPU_ECC_UNCORRECTED, "4" },
        { GPU_ECC_CORRECTED_EVER, "5" },  { GPU_ECC_UNCORRECTED_EVER, "6" },
        { GPU_ROWS_CORRECTED, "142" },    { GPU_ROWS_UNCORRECTED, "143" },
        { GPU_REMAP_PENDING, "144" },     { GPU_REMAP_FAILED, "145" },
        { GPU_PAGES_RETIRED, "59" },      { GPU_PAGES_PENDING, "31" },
        { GPU_PCIE_REPLAYS, "94" },       { GPU_LINK_CRC, "83" },
        { GPU_LINK_REPLAYS, "52" },       { GPU_LINK_RECOVERIES, "59" },
        { GPU_RECOVERY_ACTION, "230" },
    }, seconds[] = {
        { GPU_THROTTLE_POWER_SECONDS, "74" }, { GPU_THROTTLE_THERMAL_SECONDS, "503" },
        { GPU_THROTTLE_BRAKE_SECONDS, "253" }, { GPU_THROTTLE_SYNC_SECONDS, "76" },
        { GPU_THROTTLE_OTHER_SECONDS, "77" },
    };
    static const int counts[] = { 3,  4,  5,  6,  142, 143, 144, 145, 29,
                                  30, 31, 94, 38, 45,  52,  59,  230 };
    static const int times[] = { 74, 251, 252, 253, 76, 77 };
    CLEANUP(str_done) struct str live = STR_INIT(8 << 10);

    str_add(&live, "field 186.0 = 186000\nfield 83.0 = 83000\nfield 82.0 = 82\n"
                   "field 197.0 = 197\nfield 198.0 = 198\n");
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        str_addf(&live, "field %d.0 = %d\n", counts[i], counts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        str_addf(&live, "field %d.0 = %d000000000\n", times[i], times[i]);
    play("", str_text(&live));
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with all fields");
    sample();
    becomes(gpu_set, "0", GPU_POWER, "186");
    is_value(gpu_set, "0", GPU_ENERGY, "83");
    is_value(gpu_set, "0", GPU_MEMORY_TEMPERATURE, "82");
    is_value(gpu_set, "0", GPU_PCIE_SENT, "197");
    is_value(gpu_set, "0", GPU_PCIE_RECEIVED, "198");
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
        is_value(gpu_error_set, "0", errors[i].value, errors[i].want);
    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
        is_value(gpu_throttle_set, "0", seconds[i].value, seconds[i].want);
    end();
}

/* ---- the counters of a GPU's units ---- */

#define GPM \
    "gpm = 1\ngpm 2 = 80\ngpm 3 = 40\ngpm 5 = 55\ngpm 10 = 30\ngpm 12 = 10\ngpm 20 = 100\n" \
    "gpm 21 = 200\ngpm 60 = 10\n"

static void check_gpm(void)
{
    double first;

    play("", GPM "field 139 = 9\nnarrow = 197\nfield 197 = 77\nfield 198 = 123\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with counters of units");
    sample();
    is_value(gpu_set, "0", GPU_SM_ACTIVE, "absent");
    becomes(gpu_set, "0", GPU_SM_ACTIVE, "0.8");
    is_value(gpu_set, "0", GPU_SM_OCCUPANCY, "0.4");
    is_value(gpu_set, "0", GPU_TENSOR_ACTIVE, "0.55");
    is_value(gpu_set, "0", GPU_DRAM_ACTIVE, "0.3");
    is_value(gpu_set, "0", GPU_FP32_ACTIVE, "0.1");
    is_value(gpu_set, "0", GPU_FP64_ACTIVE, "absent");
    is_value(gpu_set, "0", GPU_PCIE_RECEIVED, "123");
    is_value(gpu_set, "0", GPU_LINK_RECEIVED, "9216");
    is_value(gpu_set, "0", GPU_LINK_SENT, "absent");
    first = value(&gpu_set, "0", GPU_PCIE_SENT);
    ok(first >= 100 * 1048576 * 0.09 && first < 100 * 1048576 * 5.0,
       "a rate of PCIe is added up: %g", first);
    for (int k = 0; k < 200 && value(&gpu_set, "0", GPU_PCIE_SENT) <= first; k++) {
        sleep_ms(20);
        sample();
    }
    ok(value(&gpu_set, "0", GPU_PCIE_SENT) > first, "a rate of PCIe is added up further");
    play("nvmlGpmMetricsGet = 999\n", GPM);
    its.reload();
    becomes(gpu_set, "0", GPU_SM_ACTIVE, "absent");
    end();
}

/* ---- processes ---- */

static void check_processes(void)
{
    play("", "process 12 = 1000 0.5\nprocess 7 = -1 0\n[live 1]\nprocesses = 600\n");
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with processes");
    is_int(sample(), 8, "two processes make two rows more");
    ok(its.tick.rows[6].set == &gpu_process_set, "rows of processes come last");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_MEMORY, "1000");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_BUSY, "0.5");
    is_value(gpu_process_set, "0:7", GPU_PROCESS_MEMORY, "absent");
    is_value(gpu_process_set, "0:7", GPU_PROCESS_BUSY, "0");
    is_value(gpu_set, "0", GPU_PROCESSES, "2");
    is_value(gpu_set, "1", GPU_PROCESSES, "600");
    play("nvmlDeviceGetProcessUtilization = not_supported\n", "process 13 = 5 1\n");
    its.reload();
    becomes(gpu_process_set, "1:13", GPU_PROCESS_MEMORY, "5");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_BUSY, "absent");
    play("", "process 14 = 5 0\n");
    its.reload();
    becomes(gpu_process_set, "1:14", GPU_PROCESS_BUSY, "0");
    is_value(gpu_process_set, "0:12", GPU_PROCESS_BUSY, "no row");
    end();
}

/* ---- what goes wrong ---- */

static void check_lost(void)
{
    const struct event *event;

    play("", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with a GPU to be lost");
    play("any.1 = lost\n", USUAL);
    its.reload();
    event = wait_for("gpu-lost");
    ok(event != NULL, "a GPU that is lost makes an event");
    if (event) {
        is_int(event->severity, SEVERITY_CRITICAL, "the event of a lost GPU is critical");
        is_str(event->thing, "0000:27:00.0", "the event of a lost GPU has its address");
        is_str(event->text, "GPU 1 is lost: the driver does not reach it",
               "the event of a lost GPU has its text");
        is_str(event->action, "reboot the node, then inspect the GPU: XID 79 in dmesg tells more",
               "the event of a lost GPU has the way out");
        ok(!event->over, "the event of a lost GPU begins");
    }
    is_value(gpu_set, "1", GPU_LOST, "1");
    is_value(gpu_set, "1", GPU_TEMPERATURE, "absent");
    is_value(gpu_throttle_set, "1", GPU_THROTTLED_POWER, "no row");
    is_value(gpu_error_set, "1", GPU_ECC_CORRECTED, "no row");
    is_value(gpu_set, "0", GPU_TEMPERATURE, "61");
    is_value(gpu_set, "0", GPU_LOST, "0");
    for (int i = 0; i < 20; i++) {
        sleep_ms(5);
        sample();
        if (its.tick.n_events)
            break;
    }
    is_int(its.tick.n_events, 0, "a lost GPU is told once");
    play("", USUAL);
    its.reload();
    event = wait_for("gpu-lost");
    ok(event && event->over, "a GPU that is back ends the event");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A lost GPU is left alone. */
static void check_lost_calls(void)
{
    unsigned before;

    play("nvmlDeviceGetTemperature.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that is lost soon");
    ok(wait_for("gpu-lost") != NULL, "a GPU that is lost soon makes an event");
    before = its.calls(NULL, 1);
    for (int i = 0; i < 10; i++) {
        sample();
        sleep_ms(5);
    }
    is_int(its.calls(NULL, 1) - before, 0, "a lost GPU is not called");
    end();
}

static void check_reload(void)
{
    play("", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens with a driver to be unloaded");
    play("any = not_loaded\nnvmlInit_v2 = not_loaded\n", USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_TEMPERATURE, "no row");
    is_int(its.tick.n_rows, 0, "there are no rows while the driver is away");
    play("", USUAL);
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A driver that is loaded after the agent was started. */
static void check_late_driver(void)
{
    play("any = not_loaded\nnvmlInit_v2 = not_loaded\n", USUAL);
    is_int(open_with(&often, 10000 * MS), 0, "the sampler opens before its driver");
    is_int(sample(), 0, "there are no rows before the driver");
    play("", USUAL);
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* A driver that is away is not tried all the time. */
static void check_reload_pace(const char *rules)
{
    struct nvml_paces paces = seldom;
    unsigned before;

    paces.reload_ns = 200 * MS;
    play("", USUAL);
    is_int(open_with(&paces, 10000 * MS), 0, "the sampler opens with a driver that goes away");
    play(rules, USUAL);
    its.reload();
    becomes(gpu_set, "0", GPU_TEMPERATURE, "no row");
    before = its.calls("nvmlInit_v2", 0);
    for (int i = 0; i < 50; i++) {
        sleep_ms(10);
        sample();
    }
    ok(its.calls("nvmlInit_v2", 0) - before <= 10,
       "a driver that is away is tried 10 times at most: %u times",
       its.calls("nvmlInit_v2", 0) - before);
    ok(its.calls("nvmlInit_v2", 0) > before, "a driver that is away is tried now and then");
    end();
}

/* A call that is late for longer than the patience. */
static void check_late(void)
{
    const struct event *event;

    play("", USUAL);
    is_int(open_with(&seldom, 150 * MS), 0, "the sampler opens with a GPU that will be late");
    play("nvmlDeviceGetTemperature.1 = 1s\n", USUAL);
    its.reload();
    sample();
    is_value(gpu_set, "1", GPU_TEMPERATURE, "61");
    event = wait_for("probe");
    ok(event != NULL, "a call that is late makes an event");
    if (event) {
        is_int(event->severity, SEVERITY_WARNING, "the event of a late call is a warning");
        is_str(event->thing, "0000:27:00.0", "the event of a late call has the GPU's address");
        is_str(event->text, "nvmlDeviceGetTemperature of GPU 1 has not answered for 0.15 s",
               "the event of a late call names it");
        is_str(event->action,
               "look at dmesg for lines with NVRM; the GPU may have fallen off the bus",
               "the event of a late call has the way out");
        ok(!event->over, "the event of a late call begins");
    }
    is_value(gpu_set, "0", GPU_TEMPERATURE, "absent");
    is_int(its.tick.n_rows, 2, "only the rows of what the GPUs are stay");
    is_str(signal_fact(&its.tick.rows[0], "model"), "H100",
           "a row without values has the GPU's model");
    sample();
    is_int(its.tick.n_events, 0, "a late call is told once");
    play("", USUAL);
    its.reload();
    event = wait_for("probe");
    ok(event && event->over, "a call that answers ends the event");
    if (event)
        is_str(event->text, "nvmlDeviceGetTemperature of GPU 1 answers again",
               "the event's end says that the call answers again");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    end();
}

/* Calls that are each in time, but of which one after the other takes too long. */
static void check_slow(void)
{
    unsigned events = 0;

    play("", USUAL);
    is_int(open_with(&seldom, 300 * MS), 0, "the sampler opens with calls that will be slow");
    play("any = 40ms\n", USUAL);
    its.reload();
    for (int k = 0; k < 1000; k++) {
        sleep_ms(5);
        sample();
        events += its.tick.n_events != 0;
        if (isnan(value(&gpu_set, "1", GPU_TEMPERATURE)))
            break;
    }
    is_value(gpu_set, "1", GPU_TEMPERATURE, "absent");
    becomes(gpu_set, "1", GPU_TEMPERATURE, "61");
    is_int(events, 0, "slow calls that are each in time make no event");
    end();
}

/* When a tick has no room for more events the rows come all the same. */
static void check_full(void)
{
    play("any.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0,
           "the sampler opens with a GPU that is lost from the start");
    tick_begin(&its.tick, 7, 0);
    while (its.tick.n_events < EVENTS_MAX)
        ok(tick_event(&its.tick, "other", SEVERITY_NOTE, -1) != NULL, "a tick takes an event");
    is_int(sampler_nvml.sample(its.state, &its.tick), 0,
           "the sampler succeeds in a tick full of events");
    is_value(gpu_set, "1", GPU_LOST, "1");
    end();
}

static void check_oom(void)
{
    bool failed;

    play("any.1 = lost\n", USUAL "process 12 = 1000 0.5\n");
    oom_restart();
    do {
        int rc;

        end();
        oom_next();
        rc = open_with(&seldom, 10000 * MS);
        if (rc == 0)
            rc = sample();
        if (rc >= 0)
            rc = sample();
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc > 0, "the sampler with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
    end();
}

static void check_nothing(void)
{
    const struct sampler_env copy = { .root = -1, .live = false, .patience_ns = 10000 * MS };
    struct err e = { "" };

    play("", USUAL);
    is_int(sampler_nvml.open(&its.state, &copy, &e), -ENOENT,
           "the sampler does not open on another machine");
    fixture_script(FAKE, "[nvml]\ncount = 0\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens without a GPU");
    is_int(sample(), 0, "a driver without GPUs makes no rows");
    end();
    play("nvmlDeviceGetHandleByIndex_v2.1 = no_permission\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that is not ours");
    is_int(sample(), 3, "a GPU that is not ours has no rows");
    end();
    play("nvmlDeviceGetHandleByIndex_v2.1 = lost\n", USUAL);
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with a GPU that was lost before");
    sample();
    is_value(gpu_set, "1", GPU_LOST, "1");
    is_str(signal_fact(&its.tick.rows[1], "pci"), "", "a GPU that was lost before has no address");
    end();
}

static void check_now(void)
{
    check_values();
    check_substitutes();
    check_reasons();
    check_links();
    check_calls();
    check_again();
    check_slow_fields();
    check_types();
    check_all_fields();
    check_gpm();
    check_processes();
    check_lost();
    check_lost_calls();
    check_reload();
    check_late_driver();
    check_reload_pace("any = mismatch\n");
    check_reload_pace("any = not_loaded\nnvmlInit_v2 = not_loaded\n");
    check_late();
    check_slow();
    check_full();
    check_oom();
    check_nothing();
}

/* Each leaves a thread behind. */
static void check_hangs(void)
{
    int64_t begin = clock_monotonic_ns(&clock_system);
    const struct event *event;

    play("nvmlInit_v2 = hang\n", USUAL);
    is_int(open_with(&seldom, 200 * MS), 0, "the sampler opens though the driver hangs");
    ok(clock_monotonic_ns(&clock_system) - begin < 1500 * MS,
       "the sampler opens within its patience, and a bit");
    event = wait_for("probe"); /* it may come with the first sample */
    is_int(its.tick.n_rows, 0, "a driver that hangs makes no rows");
    ok(event && strcmp(event->text, "nvmlInit_v2 has not answered for 0.2 s") == 0,
       "the event names the call that hangs");
    ok(event && !event->thing[0], "the event of a driver that hangs is of no GPU");
    begin = clock_monotonic_ns(&clock_system);
    end();
    ok(clock_monotonic_ns(&clock_system) - begin < 500 * MS,
       "the sampler closes without waiting for the driver");

    play("nvmlDeviceGetUtilizationRates.0 = hang\n", USUAL);
    is_int(open_with(&seldom, 60000 * MS), 0,
           "the sampler opens though a GPU hangs, with more patience");
    begin = clock_monotonic_ns(&clock_system);
    end();
    ok(clock_monotonic_ns(&clock_system) - begin < 2500 * MS,
       "the sampler closes after a second at most, and a bit");
}

static void check_old(void)
{
    play("", USUAL "process 12 = 1000 0.5\nprocess 13 = 2000 0.5\n");
    is_int(open_with(&seldom, 10000 * MS), 0, "the sampler opens with an old driver");
    is_int(sample(), 10, "an old driver has ten rows");
    is_value(gpu_set, "1", GPU_BUSY, "0.93");
    is_value(gpu_set, "1", GPU_POWER, "1");
    is_value(gpu_set, "1", GPU_MEMORY_USED, "250");
    is_value(gpu_set, "1", GPU_TEMPERATURE_MARGIN, "29");
    is_value(gpu_set, "1", GPU_ENERGY, "absent");
    is_value(gpu_throttle_set, "1", GPU_THROTTLED_POWER, "1");
    is_value(gpu_process_set, "1:12", GPU_PROCESS_MEMORY, "1000");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_MEMORY, "2000");
    is_value(gpu_process_set, "1:13", GPU_PROCESS_BUSY, "absent");
    end();
}

static void check_absent(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);

    if (library) {
        dlclose(library);
        ok(true, "the driver library is absent # SKIP this machine has one");
        return;
    }
    is_int(open_with(&seldom, 10000 * MS), -ENOENT, "the sampler does not open without a library");
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "absent";

    if (strcmp(driver, "absent") != 0)
        load_fake();
    if (strcmp(driver, "now") == 0)
        check_now();
    else if (strcmp(driver, "hangs") == 0)
        check_hangs();
    else if (strcmp(driver, "old") == 0)
        check_old();
    else
        check_absent();
    fixture_done();
    return done();
}
