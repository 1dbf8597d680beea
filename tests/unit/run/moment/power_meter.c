/* Who tells how much power is drawn: accelerators of each kind and processors, in a copy of the
 * machine's files. */
#include "run/moment/power_meter.h"

#include "folder.h"
#include "run/moment/moment.h"
#include "tap.h"

#define AMD "sys/class/drm/card1/device/"
#define INTEL "sys/class/drm/card2/device/"
#define RAPL "sys/class/powercap/intel-rapl:0"

static void put_amd(const char *root)
{
    folder_text(root, AMD "uevent",
                "DRIVER=amdgpu\nPCI_CLASS=120000\nPCI_ID=1002:74A1\nPCI_SLOT_NAME=0000:05:00.0\n");
    folder_text(root, AMD "mem_info_vram_total", "206141652992\n");
    folder_text(root, AMD "hwmon/hwmon5/name", "amdgpu\n");
    folder_text(root, AMD "hwmon/hwmon5/power1_input", "600500000\n");
}

static void put_intel(const char *root)
{
    folder_text(root, INTEL "uevent",
                "DRIVER=i915\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:2a:00.0\n");
    folder_text(root, INTEL "hwmon/hwmon4/name", "i915\n");
    folder_text(root, INTEL "hwmon/hwmon4/energy1_input", "7000000\n");
}

static void put_processors(const char *root)
{
    folder_text(root, RAPL "/name", "package-0\n");
    folder_text(root, RAPL "/energy_uj", "262000000000\n");
    folder_text(root, RAPL "/max_energy_range_uj", "262143328850\n");
}

/* Its power is told, its energy is counted; both; none of both. */
static void put_fakes(const char *root, bool power, bool energy)
{
    char text[256];

    snprintf(text, sizeof(text), "[fake]\ncount = 2\n[gpu 1]\nbusy_ratio = 1\n%s%s",
             power ? "power_watts = 300\n" : "", energy ? "energy_joules_total = 300\n" : "");
    folder_text(root, "fake.ini", text);
}

static void check(const char *root, bool fake, const struct power_meters *want, const char *who)
{
    struct power_meters found = { .gpus = false };
    struct err e = { "" };
    char path[PATH_MAX];

    folder_path(root, "fake.ini", path);
    is_int(power_meters_find(&found, root, fake ? path : NULL, &clock_system, &e), 0,
           "power_meters_find finds %s: %s", who, e.text);
    is_int(found.gpus, want->gpus, "accelerators tell or do not where there are %s", who);
    is_int(found.cpus, want->cpus, "processors tell or do not where there are %s", who);
    is_int(found.looks, want->looks, "power is to be looked at or not where there are %s", who);
}

static void refuses(const char *root, bool fake, int rc, const char *words)
{
    struct power_meters found = { .looks = true };
    struct err e = { "" };
    char path[PATH_MAX];

    folder_path(root, "fake.ini", path);
    is_int(power_meters_find(&found, root, fake ? path : NULL, &clock_system, &e), rc,
           "power_meters_find fails: %s", e.text);
    ok(strstr(e.text, words) && found.looks, "the sentence says '%s', and nothing is set", words);
}

/* What a moment is made of: a sampler less is a signal less. */
static void test_samplers(void)
{
    static const char *const wanted[] = { "stat", "memory", "vmstat",  "pressure", "disk",
                                          "net",  "nfs",    "softnet", "cgroup",   "nvml",
                                          "amd",  "intel",  "dcmi",    "fake",     "rapl" };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        bool found = false;

        for (size_t k = 0; moment_samplers[k]; k++)
            found |= !strcmp(moment_samplers[k], wanted[i]);
        ok(found, "a moment has what %s samples", wanted[i]);
    }
    while (moment_samplers[n])
        n++;
    is_int((long long)n, ARRAY_SIZE(wanted), "a moment has no other samplers");
}

int main(void)
{
    char root[PATH_MAX], none[PATH_MAX];

    folder_make(root);
    refuses(root, false, -ENODEV,
            "no accelerator tells what it draws, and processors "
            "(/sys/class/powercap) do not either");
    folder_path(root, "none", none);
    refuses(none, false, -ENOENT, "/none: No such file");
    folder_text(root, RAPL "/name", "package-0\n");
    refuses(root, false, -ENODEV, "processors (/sys/class/powercap) tell root alone");
    put_fakes(root, false, false);
    refuses(root, true, -ENODEV, "no accelerator tells");
    put_fakes(root, true, false);
    check(root, true, &(struct power_meters){ true, false, true }, "scripted powers");
    put_fakes(root, true, true);
    check(root, true, &(struct power_meters){ true, false, false }, "scripted powers and energies");
    put_fakes(root, false, true);
    check(root, true, &(struct power_meters){ true, false, false }, "scripted energies");
    put_processors(root);
    check(root, false, &(struct power_meters){ false, true, false }, "processors");
    put_intel(root);
    check(root, false, &(struct power_meters){ true, true, false },
          "processors and a card of Intel's");
    put_amd(root);
    check(root, false, &(struct power_meters){ true, true, true }, "cards of both makers");
    folder_remove(root);
    test_samplers();
    return done();
}
