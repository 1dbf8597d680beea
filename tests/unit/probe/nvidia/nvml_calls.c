/* Which calls of NVIDIA's driver library are made, and what is made of odd answers. The build runs
 * this with the folder of tests/fake/nvml in LD_LIBRARY_PATH ("now"), with that of a driver that
 * answers what none should ("odd"), that lacks what a driver may lack ("bare"), and that lacks what
 * none does ("damaged"). */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "../../../fake/nvml/fake_nvml.h"
#include "fixture.h"
#include "oom.h"
#include "probe/nvidia/nvml.h"
#include "probe/nvidia/nvml_abi.h"
#include "probe/nvidia/nvml_power.h"
#include "probe/sample/sampler.h"
#include "tap.h"

extern const struct sampler_ops sampler_nvml;

enum { PATIENCE_NS = 2000000000 };

#define FAKE "FAKE_NVML"

static struct nvml_reading reading;

static void play(const char *lines)
{
    CLEANUP(str_done) struct str script = STR_INIT(NVML_TEXT_MAX);

    str_addf(&script, "[fake]\n%s[live]\nlimit_least_mw = 100000\nlimit_most_mw = 700000\n", lines);
    for (int i = 0; i < 2; i++)
        str_addf(&script,
                 "[gpu %d]\nbdf = 0000:ff:1f.0\nname = H100\nuuid = U%d\nminor = %d\n"
                 "capability = 9.0\nmemory_b = 1000\npower_limit_mw = 500000\nfabric = 3\n"
                 "sm_clock_mhz = 1500\nsm_clock_max_mhz = 1980\nc2c_links = 1\nlink0 = up 6 gpu "
                 "0000:01:00.0\n"
                 "peers = %s\n",
                 i, i, i, i ? "ok x" : "x ok");
    fixture_script(FAKE, str_text(&script));
}

static fake_calls_fn *calls_of_fake(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    fake_calls_fn *calls = NULL;

    if (library)
        *(void **)(void *)&calls = dlsym(library, "fake_calls");
    return calls; /* the library stays open */
}

/* Every call about a GPU that is counted, in their order: the one that says that the GPU is lost is
 * the last. */
static void check_lost(void)
{
    static const char *const order[] = {
        "nvmlDeviceGetName",
        "nvmlDeviceGetUUID",
        "nvmlDeviceGetVbiosVersion",
        "nvmlDeviceGetMinorNumber",
        "nvmlDeviceGetCurrPcieLinkGeneration",
        "nvmlDeviceGetCurrPcieLinkWidth",
        "nvmlDeviceGetMaxPcieLinkGeneration",
        "nvmlDeviceGetMaxPcieLinkWidth",
        "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        "nvmlDeviceGetPersistenceMode",
        "nvmlDeviceGetPowerManagementLimit",
        "nvmlDeviceGetPowerManagementDefaultLimit",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetMaxClockInfo",
        "nvmlDeviceGetApplicationsClock",
        "nvmlDeviceGetDefaultApplicationsClock",
        "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetMemoryInfo",
        "nvmlDeviceGetEccMode",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetGpuFabricInfoV",
        "nvmlDeviceGetNvLinkState",
        "nvmlDeviceGetNvLinkVersion",
        "nvmlDeviceGetNvLinkRemoteDeviceType",
        "nvmlDeviceGetNvLinkRemotePciInfo_v2",
        "nvmlDeviceGetFieldValues",
    };
    static const char *const first[] = { "nvmlDeviceGetHandleByIndex_v2",
                                         "nvmlDeviceGetPciInfo_v3" };
    fake_calls_fn *calls = calls_of_fake();

    if (!ok(calls != NULL, "the driver counts calls"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        unsigned before[2] = { calls(NULL, 1), calls(order[i], 1) };
        char lines[80];

        snprintf(lines, sizeof(lines), "%s.1 = lost\n", order[i]);
        play(lines);
        is_int(nvml_lib_read(&reading, NULL, NULL), 0, "nvml_lib_read goes on after %s", order[i]);
        ok(reading.gpus[1].lost, "%s tells that a GPU is lost", order[i]);
        ok(!reading.gpus[0].lost, "%s tells nothing of the other GPU", order[i]);
        is_int(calls(order[i], 1) - before[1], 1, "%s is called once of a lost GPU", order[i]);
        is_int(calls(NULL, 1) - before[0], (long long)i + 1,
               "a GPU is not asked after %s tells that it is lost", order[i]);
        is_int(reading.gpus[0].peers[1], NVML_PEER_ABSENT,
               "no GPU is a peer of one that is lost at %s", order[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
        unsigned before = calls(NULL, 1);
        char lines[80];

        snprintf(lines, sizeof(lines), "%s.1 = lost\n", first[i]);
        play(lines);
        is_int(nvml_lib_read(&reading, NULL, NULL), 0, "nvml_lib_read goes on after %s", first[i]);
        ok(reading.gpus[1].lost, "%s tells that a GPU is lost", first[i]);
        is_int(calls(NULL, 1) - before, 0, "nothing is asked after %s", first[i]);
    }
    play("");
    is_int(nvml_lib_read(&reading, NULL, NULL), 0, "nvml_lib_read reads two GPUs");
    is_str(reading.gpus[1].bdf, "0000:ff:1f.0", "the largest address is one");
    is_int(reading.gpus[1].c2c_links, 1, "a GPU has its link to the CPU");
}

/* ---- what is set ---- */

static void remove_set(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s.limits", getenv(FAKE));
    unlink(path);
    snprintf(path, sizeof(path), "%s.clocks", getenv(FAKE));
    unlink(path);
}

/* What the driver was told last of locked clocks: a GPU, and its clock. */
static const char *last_lock(char text[32])
{
    char path[PATH_MAX], line[32];
    FILE *f;

    snprintf(path, sizeof(path), "%s.clocks", getenv(FAKE));
    f = fopen(path, "re");
    text[0] = 0;
    while (f && fgets(line, sizeof(line), f))
        snprintf(text, 32, "%.*s", (int)strcspn(line, "\n"), line);
    if (f)
        fclose(f);
    return text;
}

static void check_power(void)
{
    char text[32];
    CLEANUP(nvml_power_closep) struct nvml_power *p = NULL;
    struct err e = { "" };
    unsigned number = 0;

    play("");
    is_int(nvml_power_open(&p, &e), 0, "the driver opens to set power: %s", e.text);
    if (!p)
        return;
    is_int(nvml_power_count(p), 2, "power is that of two GPUs");
    is_int(nvml_power_get(p, 1, &number, &e), 0, "a limit of power is read");
    is_int(number, 500000, "a limit of power is in milliwatts");
    is_int(nvml_power_set(p, 1, 99999, &e), -ERANGE, "a limit below the least is refused");
    is_str(e.text, "GPU 1 takes limits of power from 100 to 700 W", "the error has both limits");
    is_int(nvml_power_set(p, 1, 700001, &e), -ERANGE, "a limit above the most is refused");
    is_int(nvml_power_set(p, 1, 100000, &e), 0, "the least limit is set");
    is_int(nvml_power_set(p, 1, 700000, &e), 0, "the most limit is set");
    is_int(nvml_power_get(p, 1, &number, &e), 0, "a limit that was set is read");
    is_int(number, 700000, "a limit that was set is the limit");
    is_int(nvml_clock_highest(p, 0, &number, &e), 0, "the highest clock is read");
    is_int(number, 1980, "the highest clock is in megahertz");
    is_int(nvml_clock_now(p, 0, &number, &e), 0, "the clock of now is read");
    is_int(number, 1500, "the clock of now is in megahertz");
    is_int(nvml_clock_lock(p, 0, 990, &e), 0, "a clock is locked at half of the highest");
    is_int(nvml_clock_now(p, 0, &number, &e), 0, "the clock that is locked is read");
    is_int(number, 750, "a clock that is locked at half of the highest is half of what it was");
    is_str(last_lock(text), "0 990", "the driver is told of the lock");
    is_int(nvml_clock_lock(p, 0, 1979, &e), 0, "a clock is locked below the highest");
    is_str(last_lock(text), "0 1979", "a clock just below the highest is a lock");
    is_int(nvml_clock_lock(p, 0, 1980, &e), 0, "a clock is locked at the highest");
    is_str(last_lock(text), "0 0", "a lock at the highest clock is lifted");
    remove_set();
}

static void check_refused(void)
{
    static const struct {
        const char *lines;
        int rc;
        const char *sentence;
    } cases[] = {
        { "nvmlDeviceSetPowerManagementLimit = no_permission\n", -EACCES,
          "the limit of power of GPU 0 can be set by root alone" },
        { "nvmlDeviceSetPowerManagementLimit = not_supported\n", -ENOTSUP,
          "GPU 0 has no limit of power that could be set" },
        { "nvmlDeviceSetPowerManagementLimit = 999\n", -EIO,
          "the limit of power of GPU 0: the driver answers error 999" },
        { "nvmlDeviceGetHandleByIndex_v2 = lost\n", -EIO,
          "the limit of power of GPU 0: the driver answers error 15" },
    };
    static const struct {
        const char *lines, *sentence;
        int rc;
    } closed[] = {
        { "nvmlInit_v2 = 999\n", "the NVIDIA driver answers error 999", -EIO },
        { "nvmlDeviceGetCount_v2 = 9\n", "the NVIDIA driver answers error 9", -EIO },
    };
    static const struct {
        const char *lines, *sentence;
        int rc;
    } locked[] = {
        { "nvmlDeviceSetGpuLockedClocks = no_permission\n",
          "the locked clock of GPU 1 can be set by root alone", -EACCES },
        { "nvmlDeviceGetMaxClockInfo = not_supported\n",
          "GPU 1 has no locked clock that could be set", -ENOTSUP },
        { "nvmlDeviceGetHandleByIndex_v2 = 999\n",
          "the locked clock of GPU 1: the driver answers error 999", -EIO },
    };
    struct nvml_power *none = NULL;
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(nvml_power_closep) struct nvml_power *p = NULL;

        play(cases[i].lines);
        is_int(nvml_power_open(&p, &e), 0, "the driver opens that refuses: %s", cases[i].sentence);
        is_int(nvml_power_set(p, 0, 200000, &e), cases[i].rc, "power is refused: %s",
               cases[i].sentence);
        is_str(e.text, cases[i].sentence, "the error says: %s", cases[i].sentence);
    }
    for (size_t i = 0; i < ARRAY_SIZE(locked); i++) {
        CLEANUP(nvml_power_closep) struct nvml_power *p = NULL;

        play(locked[i].lines);
        is_int(nvml_power_open(&p, &e), 0, "the driver opens that refuses: %s", locked[i].sentence);
        is_int(nvml_clock_lock(p, 1, 990, &e), locked[i].rc, "a lock is refused: %s",
               locked[i].sentence);
        is_str(e.text, locked[i].sentence, "the error says: %s", locked[i].sentence);
    }
    for (size_t i = 0; i < ARRAY_SIZE(closed); i++) {
        play(closed[i].lines);
        is_int(nvml_power_open(&none, &e), closed[i].rc, "no driver opens: %s", closed[i].sentence);
        is_str(e.text, closed[i].sentence, "the error is: %s", closed[i].sentence);
    }
    fixture_script(FAKE, "[nvml]\ncount = 0\n");
    is_int(nvml_power_open(&none, &e), -ENODEV, "a driver without a GPU does not open");
    is_str(e.text, "the NVIDIA driver has no GPU", "the error says that there is no GPU");
    nvml_power_close(NULL);
    oom_next();
    is_int(nvml_power_open(&none, &e), -ENOMEM, "without memory no driver opens");
    oom_end();
}

/* ---- other drivers ---- */

static void is_full(const char *text, size_t size, const char *what)
{
    is_int((long long)strlen(text), (long long)size - 1, "%s without an end is cut", what);
}

static void check_odd(void)
{
    const struct nvml_gpu *g = reading.gpus;
    struct err e = { "" };

    is_int(nvml_lib_read(&reading, NULL, &e), 0, "nvml_lib_read reads odd answers: %s", e.text);
    is_int(reading.n_gpus, 3, "an odd driver has three GPUs");
    for (int i = 0; i < 3; i++)
        is_str(g[i].bdf, "", "address %d that cannot be is none", i);
    is_full(g[0].name, sizeof(g[0].name), "a name");
    is_full(g[0].uuid, sizeof(g[0].uuid), "a uuid");
    is_full(g[0].vbios, sizeof(g[0].vbios), "a version of the BIOS");
    is_full(reading.driver, sizeof(reading.driver), "a version of the driver");
    is_full(reading.library, sizeof(reading.library), "a version of the library");
    is_int(g[0].minor, INT_MAX, "the largest number is one");
    is_int(g[1].minor, ABSENT, "a number that is too large is absent");
    is_int(g[0].memory_b, INT64_MAX, "the largest memory is one");
    is_int(g[1].memory_b, ABSENT, "a memory that is too large is absent");
    is_int(g[0].fabric, NVML_FABRIC_COMPLETED, "the older function tells of the fabric");
    is_int(g[0].fabric_status, 5, "the older function tells how the fabric came up");
    is_int(g[1].fabric, NVML_FABRIC_IN_PROGRESS, "the older function tells of a fabric that waits");
    is_int(g[1].fabric_status, ABSENT, "a fabric that waits has not come up");
    is_int(g[2].fabric, ABSENT, "the older function fails, and nothing is known of the fabric");
    is_int(g[0].links[0].up, 1, "a link that is up in its own way is up");
    is_int(g[0].links[0].kind, NVML_REMOTE_SWITCH, "a link has a switch at its other end");
    is_int(g[1].links[0].kind, ABSENT, "a link of a kind that is not known has none");
    is_int(g[0].links[1].up, ABSENT, "a link that is not supported is absent");
    is_int(g[0].links[2].up, 0, "a link behind one that is not supported is down");
    is_int(g[0].links[3].up, ABSENT, "a link behind the last one is absent");
    is_int(g[0].peers[0], NVML_PEER_SELF, "a GPU is its own peer");
    is_int(g[0].peers[1], NVML_P2P_UNKNOWN, "a peer that is not known is one");
    is_int(g[0].peers[2], NVML_P2P_UNKNOWN, "a peer of another answer is not known");
}

static void check_bare(void)
{
    const struct sampler_env env = { .root = -1, .live = true, .patience_ns = PATIENCE_NS };
    CLEANUP(nvml_power_closep) struct nvml_power *p = NULL;
    struct tick tick = { .n_rows = 0 };
    struct err e = { "" };
    void *state = NULL;
    unsigned number;
    int known = 0;

    is_int(nvml_lib_read(&reading, NULL, &e), 0, "nvml_lib_read reads a bare driver: %s", e.text);
    is_int(reading.n_gpus, 3, "a bare driver has its GPUs");
    is_str(reading.gpus[2].name, "", "a bare driver knows no name");
    is_int(reading.gpus[2].minor, ABSENT, "a bare driver knows no number");
    is_int(reading.gpus[2].sm_clock_mhz, ABSENT, "a bare driver knows no clock");
    is_int(reading.gpus[2].links[0].up, ABSENT, "a bare driver knows no link");
    is_int(sampler_nvml.open(&state, &env, &e), 0, "the sampler opens a bare driver: %s", e.text);
    tick_begin(&tick, 0, 0);
    is_int(sampler_nvml.sample(state, &tick), 0, "the sampler asks a bare driver");
    for (size_t i = 0; i < tick.n_rows; i++)
        for (size_t k = 0; k < tick.rows[i].set->n_defs; k++)
            known += !isnan(tick.rows[i].values[k]);
    is_int(known, 3, "all that is known of the GPUs of a bare driver is that none is lost");
    tick_done(&tick);
    sampler_nvml.close(state);
    is_int(nvml_power_open(&p, &e), 0, "a bare driver opens to set power: %s", e.text);
    is_int(nvml_power_get(p, 0, &number, &e), -ENODEV, "a bare driver has no limit of power");
    is_str(e.text, "libnvidia-ml.so.1 has no functions for the limit of power",
           "the error names the limit of power");
    is_int(nvml_power_set(p, 0, 1, &e), -ENODEV, "a bare driver sets no limit of power");
    is_int(nvml_clock_now(p, 0, &number, &e), -ENODEV, "a bare driver has no clock");
    is_str(e.text, "libnvidia-ml.so.1 has no functions for the locked clock",
           "the error names the clock");
    is_int(nvml_clock_highest(p, 0, &number, &e), -ENODEV, "a bare driver has no highest clock");
    is_int(nvml_clock_lock(p, 0, 1, &e), -ENODEV, "a bare driver locks no clock");
}

static void check_damaged(void)
{
    const struct sampler_env env = { .root = -1, .live = true, .patience_ns = PATIENCE_NS };
    struct nvml_power *p = NULL;
    struct err e = { "" };
    void *state = NULL;

    is_int(nvml_lib_read(&reading, NULL, &e), -ENOSYS, "nvml_lib_read refuses a damaged library");
    is_str(e.text, "libnvidia-ml.so.1 has no nvmlDeviceGetCount_v2: it is not NVIDIA's, or damaged",
           "the error names the function that is missing");
    is_int(nvml_power_open(&p, &e), -ENODEV, "a damaged library sets no power");
    is_str(e.text, "libnvidia-ml.so.1 has no functions that find GPUs",
           "the error says that no GPU can be found");
    is_int(sampler_nvml.open(&state, &env, &e), -ENOENT, "the sampler opens no damaged library");
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "now";

    if (strcmp(driver, "odd") == 0) {
        check_odd();
    } else if (strcmp(driver, "bare") == 0) {
        check_bare();
    } else if (strcmp(driver, "damaged") == 0) {
        check_damaged();
    } else {
        check_lost();
        check_power();
        check_refused();
    }
    fixture_done();
    return done();
}
