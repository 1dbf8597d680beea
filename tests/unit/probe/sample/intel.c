/* The files of i915 and xe: a Data Center GPU Max with each, and processor graphics. */
#include "probe/gpu/gpu_sample.h"
#include "sampled.h"

extern const struct sampler_ops sampler_intel;

#define I915 "sys/class/drm/card0/"
#define XE "sys/class/drm/card1/device/"

static const char *throttled(const struct sampled *s, const char *thing, size_t i, char buf[32])
{
    const struct signal_row *row = tick_find(&s->tick, &gpu_throttle_set, thing);

    if (!row)
        return "no row";
    if (isnan(row->values[i]))
        return "absent";
    snprintf(buf, 32, "%.15g", row->values[i]);
    return buf;
}
#define is_throttled(s, thing, i, want) \
    is_str(throttled((s), (thing), (i), (char[32]){ "" }), (want), "thing %s has %s at %s", \
           (thing), #i, (want))

static void build(struct sampled *s)
{
    folder_text(s->folder, I915 "device/uevent",
                "DRIVER=i915\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:2a:00.0\n");
    folder_text(s->folder, I915 "gt/gt0/rps_act_freq_mhz", "1550\n");
    folder_text(s->folder, I915 "gt/gt0/rps_RP0_freq_mhz", "1600\n");
    folder_text(s->folder, I915 "gt/gt0/rc6_residency_ms", "1000\n");
    folder_text(s->folder, I915 "gt/gt0/throttle_reason_status", "0\n");
    folder_text(s->folder, I915 "gt/gt0/throttle_reason_pl1", "1\n");
    folder_text(s->folder, I915 "gt/gt0/throttle_reason_prochot", "0\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon4/name", "i915_gt0\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon4/energy1_input", "5\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon5/name", "i915\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon5/energy1_input", "7000000\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon5/power1_max", "600000000\n");
    folder_text(s->folder, XE "uevent",
                "DRIVER=xe\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:3a:00.0\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/act_freq", "900\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/rp0_freq", "1600\n");
    folder_text(s->folder, XE "tile0/gt0/gtidle/idle_residency_ms", "500\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/throttle/status", "1\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/throttle/reason_pl2", "0\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/throttle/reason_thermal", "1\n");
    folder_text(s->folder, XE "hwmon/hwmon6/name", "xe\n");
    folder_text(s->folder, XE "hwmon/hwmon6/energy2_input", "2500000\n");
    folder_text(s->folder, XE "hwmon/hwmon6/power2_max", "450000000\n");
    folder_text(s->folder, XE "hwmon/hwmon6/temp2_input", "55000\n");
    folder_text(s->folder, XE "hwmon/hwmon6/temp3_input", "60000\n");
    folder_text(s->folder, "sys/class/drm/card2/device/uevent",
                "DRIVER=i915\nPCI_ID=8086:4680\nPCI_SLOT_NAME=0000:00:02.0\n");
    folder_text(s->folder, "sys/class/drm/card2/gt/gt0/rps_act_freq_mhz", "300\n");
}

static void test_values(struct sampled *s)
{
    is_int(sampled_open(s), 0, "the sampler opens with i915 and xe");
    is_int(sampled_at(s, 100), 4, "two accelerators have rows, processor graphics have none");
    is_value(s, "intel0", "sm_clock_hertz", "1550000000");
    is_value(s, "intel0", "sm_clock_max_hertz", "1600000000");
    is_value(s, "intel0", "energy_joules_total", "7");
    is_value(s, "intel0", "power_limit_watts", "600");
    is_value(s, "intel0", "power_watts", "absent");
    is_value(s, "intel0", "busy_ratio", "absent");
    is_value(s, "intel0", "temperature_celsius", "absent");
    is_value(s, "intel0", "memory_used_bytes", "absent");
    is_value(s, "intel0", "lost", "0");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "intel0"), "vendor"), "intel",
           "an accelerator has the vendor intel");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "intel0"), "pci"), "0000:2a:00.0",
           "an accelerator has its PCI address");
    is_throttled(s, "intel0", GPU_THROTTLED_POWER, "0");
    is_throttled(s, "intel0", GPU_THROTTLED_SYNC, "absent");
    is_value(s, "intel1", "sm_clock_hertz", "900000000");
    is_value(s, "intel1", "sm_clock_max_hertz", "1600000000");
    is_value(s, "intel1", "energy_joules_total", "2.5");
    is_value(s, "intel1", "power_limit_watts", "450");
    is_value(s, "intel1", "temperature_celsius", "55");
    is_value(s, "intel1", "memory_temperature_celsius", "60");
    is_throttled(s, "intel1", GPU_THROTTLED_POWER, "0");
    is_throttled(s, "intel1", GPU_THROTTLED_THERMAL, "1");
    is_throttled(s, "intel1", GPU_THROTTLED_OTHER, "0");
}

static void test_rates(struct sampled *s)
{
    folder_text(s->folder, I915 "gt/gt0/rc6_residency_ms", "1500\n");
    folder_text(s->folder, I915 "gt/gt0/throttle_reason_status", "1\n");
    folder_text(s->folder, I915 "device/hwmon/hwmon5/energy1_input", "1007000000\n");
    folder_text(s->folder, XE "tile0/gt0/gtidle/idle_residency_ms", "2600\n");
    folder_text(s->folder, XE "tile0/gt0/freq0/throttle/reason_thermal", "0\n");
    folder_text(s->folder, XE "hwmon/hwmon6/energy2_input", "5\n");
    is_int(sampled_at(s, 102), 4, "two accelerators have rows two seconds later");
    is_value(s, "intel0", "power_watts", "500");
    is_value(s, "intel0", "busy_ratio", "0.75");
    is_throttled(s, "intel0", GPU_THROTTLED_POWER, "1");
    is_throttled(s, "intel0", GPU_THROTTLED_BRAKE, "0");
    is_value(s, "intel1", "power_watts", "absent");
    is_value(s, "intel1", "busy_ratio", "0");
    is_throttled(s, "intel1", GPU_THROTTLED_THERMAL, "0");
    is_throttled(s, "intel1", GPU_THROTTLED_OTHER, "1");
    folder_text(s->folder, XE "tile0/gt0/freq0/throttle/reason_new", "1\n");
    folder_text(s->folder, XE "tile0/gt0/gtidle/idle_residency_ms", "100\n");
    is_int(sampled_at(s, 103), 4, "two accelerators have rows another second later");
    is_value(s, "intel1", "busy_ratio", "absent");
    is_throttled(s, "intel1", GPU_THROTTLED_OTHER, "1");
    folder_text(s->folder, I915 "device/hwmon/hwmon5/energy1_input", "1008000000\n");
    is_int(sampled_at(s, 103), 4, "two accelerators have rows though no time has passed");
    is_value(s, "intel0", "power_watts", "absent");
    is_value(s, "intel0", "busy_ratio", "absent");
    is_int(sampled_at(s, 104), 4, "two accelerators have rows though nothing was used");
    is_value(s, "intel0", "power_watts", "0");
    is_value(s, "intel0", "busy_ratio", "1");
}

/* Each file alone: a card tells what the file says, and nothing else. */
static void test_files(void)
{
    static const struct {
        const char *path, *signal, *want;
    } files[] = {
        { "gt/gt0/rps_act_freq_mhz", "sm_clock_hertz", "7000000" },
        { "gt_act_freq_mhz", "sm_clock_hertz", "7000000" },
        { "device/tile0/gt0/freq0/act_freq", "sm_clock_hertz", "7000000" },
        { "gt/gt0/rps_RP0_freq_mhz", "sm_clock_max_hertz", "7000000" },
        { "gt_RP0_freq_mhz", "sm_clock_max_hertz", "7000000" },
        { "device/tile0/gt0/freq0/rp0_freq", "sm_clock_max_hertz", "7000000" },
        { "device/hwmon/hwmon5/energy1_input", "energy_joules_total", "7e-06" },
        { "device/hwmon/hwmon5/energy2_input", "energy_joules_total", "7e-06" },
        { "device/hwmon/hwmon5/power1_max", "power_limit_watts", "7e-06" },
        { "device/hwmon/hwmon5/power2_max", "power_limit_watts", "7e-06" },
        { "device/hwmon/hwmon5/temp1_input", "temperature_celsius", "0.007" },
        { "device/hwmon/hwmon5/temp2_input", "temperature_celsius", "0.007" },
        { "device/hwmon/hwmon5/temp3_input", "memory_temperature_celsius", "0.007" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct sampled s;
        const struct signal_row *row;
        char path[128];
        int said = 0;

        sampled_make(&s, &sampler_intel);
        folder_text(s.folder, I915 "device/uevent",
                    "DRIVER=i915\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:2a:00.0\n");
        folder_text(s.folder, I915 "device/hwmon/hwmon5/name", "i915\n");
        snprintf(path, sizeof(path), I915 "%s", files[i].path);
        folder_text(s.folder, path, "7\n");
        is_int(sampled_open(&s), 0, "the sampler opens with %s", files[i].path);
        is_int(sampled_at(&s, 100), 1, "a card with %s has a row", files[i].path);
        is_value(&s, "intel0", files[i].signal, files[i].want);
        row = tick_find(&s.tick, &gpu_set, "intel0");
        for (size_t k = 0; row && k < gpu_set.n_defs; k++)
            said += !isnan(row->values[k]);
        is_int(said, 2, "a card with %s tells that, and that it is not lost", files[i].path);
        sampled_remove(&s);
    }
}

/* Each reason alone, as both drivers call it. */
static void test_reasons(void)
{
    static const struct {
        const char *name;
        size_t kind;
    } reasons[] = {
        { "pl1", GPU_THROTTLED_POWER },
        { "pl2", GPU_THROTTLED_POWER },
        { "pl4", GPU_THROTTLED_POWER },
        { "psys_pl1", GPU_THROTTLED_POWER },
        { "psys_pl2", GPU_THROTTLED_POWER },
        { "vr_tdc", GPU_THROTTLED_POWER },
        { "iccmax", GPU_THROTTLED_POWER },
        { "thermal", GPU_THROTTLED_THERMAL },
        { "soc_thermal", GPU_THROTTLED_THERMAL },
        { "mem_thermal", GPU_THROTTLED_THERMAL },
        { "vr_thermal", GPU_THROTTLED_THERMAL },
        { "vr_thermalert", GPU_THROTTLED_THERMAL },
        { "soc_avg_thermal", GPU_THROTTLED_THERMAL },
        { "ratl", GPU_THROTTLED_THERMAL },
        { "prochot", GPU_THROTTLED_BRAKE },
        { "no_such_reason", GPU_THROTTLED_OTHER },
    };
    static const size_t kinds[] = { GPU_THROTTLED_POWER, GPU_THROTTLED_THERMAL, GPU_THROTTLED_BRAKE,
                                    GPU_THROTTLED_OTHER };
    static const char *const prefixes[] = { I915 "gt/gt0/throttle_reason_",
                                            XE "tile0/gt0/freq0/throttle/reason_" };
    struct sampled s;

    sampled_make(&s, &sampler_intel);
    build(&s);
    folder_text(s.folder, I915 "gt/gt0/throttle_reason_status", "1\n");
    folder_text(s.folder, I915 "gt/gt0/throttle_reason_pl1", "0\n");
    folder_text(s.folder, XE "tile0/gt0/freq0/throttle/reason_thermal", "0\n");
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        char paths[2][128];

        for (size_t k = 0; k < 2; k++) {
            snprintf(paths[k], sizeof(paths[k]), "%s%s", prefixes[k], reasons[i].name);
            folder_text(s.folder, paths[k], "1\n");
        }
        is_int(sampled_open(&s), 0, "the sampler opens with the reason %s", reasons[i].name);
        is_int(sampled_at(&s, 100), 4, "two accelerators have rows with the reason %s",
               reasons[i].name);
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
            is_throttled(&s, "intel0", kinds[k], kinds[k] == reasons[i].kind ? "1" : "0");
            is_throttled(&s, "intel1", kinds[k], kinds[k] == reasons[i].kind ? "1" : "0");
        }
        sampled_close(&s);
        for (size_t k = 0; k < 2; k++)
            folder_text(s.folder, paths[k], "0\n");
    }
    sampled_remove(&s);
}

static void test_gone(struct sampled *s)
{
    char path[PATH_MAX];

    folder_path(s->folder, XE "uevent", path);
    folder_need(remove(path), path);
    is_int(sampled_at(s, 131), 2, "an accelerator that is gone has no rows");
    is_value(s, "intel1", "lost", "no row");
    folder_text(s->folder, XE "uevent",
                "DRIVER=xe\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:3a:00.0\n");
    is_int(sampled_at(s, 161), 4, "an accelerator that is back has its rows");
    is_value(s, "intel1", "power_watts", "absent");
    is_value(s, "intel1", "sm_clock_hertz", "900000000");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_intel);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without an accelerator");
    build(&s);
    test_values(&s);
    test_rates(&s);
    test_gone(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    test_reasons();
    test_files();
    return done();
}
