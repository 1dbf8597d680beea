/* Sensors, energy, memory errors and frequencies of a host. */
#include "sampled.h"

extern const struct sampler_ops sampler_sensors, sampler_rapl, sampler_edac, sampler_cpufreq;

#define HWMON "sys/class/hwmon/"

static void test_sensors(struct sampled *s)
{
    folder_text(s->folder, HWMON "hwmon0/name", "coretemp\n");
    folder_link(s->folder, HWMON "hwmon0/device", "../../coretemp.0");
    folder_text(s->folder, HWMON "hwmon0/temp1_label", "Package id 0\n");
    folder_text(s->folder, HWMON "hwmon0/temp1_input", "61000\n");
    folder_text(s->folder, HWMON "hwmon0/temp1_max", "90000\n");
    folder_text(s->folder, HWMON "hwmon0/temp1_crit", "100000\n");
    folder_text(s->folder, HWMON "hwmon0/temp2_label", "Core 0\n");
    folder_text(s->folder, HWMON "hwmon0/temp2_input", "60000\n");
    folder_text(s->folder, HWMON "hwmon1/name", "coretemp\n");
    folder_link(s->folder, HWMON "hwmon1/device", "../../coretemp.1");
    folder_text(s->folder, HWMON "hwmon1/temp1_label", "Package id 1\n");
    folder_text(s->folder, HWMON "hwmon1/temp1_input", "-5500\n");
    folder_text(s->folder, HWMON "hwmon2/name", "nvme\n");
    folder_link(s->folder, HWMON "hwmon2/device", "../../nvme0");
    folder_text(s->folder, HWMON "hwmon2/temp1_label", "Composite\n");
    folder_text(s->folder, HWMON "hwmon2/temp1_input", "38850\n");
    folder_text(s->folder, HWMON "hwmon3/name", "k10temp\n");
    folder_link(s->folder, HWMON "hwmon3/device", "../../0000:00:18.3");
    folder_text(s->folder, HWMON "hwmon3/temp1_input", "50000\n");
    folder_text(s->folder, HWMON "hwmon4/name", "acpi\n");
    folder_text(s->folder, HWMON "hwmon4/fan2_input", "5400\n");
    folder_text(s->folder, HWMON "hwmon4/power1_average", "1250000000\n");
    folder_text(s->folder, HWMON "hwmon4/power1_cap", "2000000000\n");
    folder_text(s->folder, HWMON "hwmon4/power2_input", "5000000\n");
    folder_text(s->folder, HWMON "hwmon4/power2_cap", "9000000\n");
    folder_text(s->folder, HWMON "hwmon4/temp_input", "1\n");
    folder_text(s->folder, HWMON "hwmon4/temp1x_input", "1\n");
    folder_text(s->folder, HWMON "hwmon4/tempo1_input", "1\n");
    is_int(sampled_open(s), 0, "the sampler opens with five chips");
    is_int(sampled_at(s, 0), 7, "seven sensors have rows");
    is_value(s, "coretemp:Package id 0", "temperature_celsius", "61");
    is_value(s, "coretemp:Package id 0", "temperature_max_celsius", "90");
    is_value(s, "coretemp:Package id 0", "temperature_critical_celsius", "100");
    is_value(s, "coretemp:Package id 0", "fan_rpm", "absent");
    is_value(s, "coretemp:Core 0", "temperature_celsius", "no row");
    is_value(s, "coretemp.1:Package id 1", "temperature_celsius", "-5.5");
    is_value(s, "nvme0:Composite", "temperature_celsius", "38.85");
    is_value(s, "k10temp@0000:00:18.3:temp1", "temperature_celsius", "50");
    is_value(s, "acpi:fan2", "fan_rpm", "5400");
    is_value(s, "acpi:power1", "power_watts", "1250");
    is_value(s, "acpi:power1", "power_cap_watts", "2000");
    is_value(s, "acpi:power2", "power_watts", "5");
    is_value(s, "acpi:power2", "power_cap_watts", "9");
    folder_text(s->folder, HWMON "hwmon4/fan2_input", "-\n");
    is_int(sampled_at(s, 40), 6, "a sensor that says nothing has no row");
    is_value(s, "acpi:fan2", "fan_rpm", "no row");
}

static void test_same_names(struct sampled *s)
{
    folder_text(s->folder, HWMON "hwmon7/name", "acpi\n");
    folder_text(s->folder, HWMON "hwmon7/power1_average", "1\n");
    is_int(sampled_at(s, 80), 6, "two sensors of one name have one row");
    is_value(s, "acpi:power1", "power_watts", "1250");
}

/* Chips that say little of themselves, or much. */
static void test_odd_names(struct sampled *s)
{
    char target[320];

    memset(target, 'x', sizeof(target));
    target[sizeof(target) - 1] = 0;
    memcpy(target, "../", 3);
    folder_link(s->folder, HWMON "hwmon20/device", target);
    folder_text(s->folder, HWMON "hwmon20/name", "far\n");
    folder_text(s->folder, HWMON "hwmon20/temp1_input", "1000\n");
    folder_text(s->folder, HWMON "hwmon20/temp1_label", " \t \n");
    folder_text(s->folder, HWMON "hwmon20/temp2_input", "2000\n");
    folder_text(s->folder, HWMON "hwmon20/temp2_label", "inlet \t\n");
    folder_text(s->folder, HWMON "hwmon21/temp1_input", "3000\n");
    folder_link(s->folder, HWMON "hwmon21/device", "../../pci0");
    folder_text(s->folder, HWMON "hwmon22/name", "corex\n");
    folder_text(s->folder, HWMON "hwmon22/temp1_input", "4000\n");
    folder_text(s->folder, HWMON "hwmon22/temp1_label", "Core 0\n");
    folder_text(s->folder, HWMON "hwmon0/temp3_input", "5000\n");
    folder_text(s->folder, HWMON "hwmon0/temp3_label", "Corner\n");
    folder_text(s->folder, HWMON "hwmon22/temp123456789012345678901234567_input", "6000\n");
    folder_text(s->folder, HWMON "hwmon22/temp1234567890123456789012345678_input", "7000\n");
    is_int(sampled_at(s, 120), 12, "six more sensors have rows");
    is_value(s, "far:temp1", "temperature_celsius", "1");
    is_value(s, "far:inlet", "temperature_celsius", "2");
    is_value(s, "hwmon21:temp1", "temperature_celsius", "3");
    is_value(s, "corex:Core 0", "temperature_celsius", "4");
    is_value(s, "coretemp:Corner", "temperature_celsius", "5");
    is_value(s, "corex:temp123456789012345678901234567", "temperature_celsius", "6");
}

/* A sensor whose files or label are others now is another one. */
static void test_changed(struct sampled *s)
{
    char from[PATH_MAX], to[PATH_MAX];

    folder_path(s->folder, HWMON "hwmon4/power2_input", from);
    folder_path(s->folder, HWMON "hwmon4/power2_average", to);
    folder_need(rename(from, to), to);
    folder_text(s->folder, HWMON "hwmon20/temp2_label", "outlet\n");
    is_int(sampled_at(s, 160), 12, "changed sensors have rows");
    is_value(s, "acpi:power2", "power_watts", "5");
    is_value(s, "far:inlet", "temperature_celsius", "no row");
    is_value(s, "far:outlet", "temperature_celsius", "2");
}

static void test_more_sensors(struct sampled *s)
{
    test_same_names(s);
    test_odd_names(s);
    test_changed(s);
}

#define RAPL "sys/class/powercap/intel-rapl"

static void test_rapl(struct sampled *s)
{
    folder_text(s->folder, RAPL "/enabled", "1\n");
    folder_text(s->folder, RAPL ":0/name", "package-0\n");
    folder_text(s->folder, RAPL ":0/energy_uj", "262000000000\n");
    folder_text(s->folder, RAPL ":0/max_energy_range_uj", "262143328850\n");
    folder_text(s->folder, RAPL ":0/constraint_0_power_limit_uw", "350000000\n");
    folder_text(s->folder, RAPL ":0/constraint_1_power_limit_uw", "420000000\n");
    folder_text(s->folder, RAPL ":0:0/name", "dram\n");
    folder_text(s->folder, RAPL ":0:0/energy_uj", "5000000\n");
    folder_text(s->folder, RAPL ":1/name", "psys\n");
    folder_text(s->folder, RAPL ":1/energy_uj", "7000000\n");
    folder_text(s->folder, "sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
    folder_text(s->folder, "sys/class/powercap/intel-rapl-mmio:0/energy_uj", "1\n");
    is_int(sampled_open(s), 0, "the sampler opens with domains of energy");
    is_int(sampled_at(s, 0), 3, "three domains have rows");
    is_value(s, "package-0", "energy_joules_total", "262000");
    is_labelled(s, "package-0", "power_limit_watts", "term=\"long\"", "350");
    is_labelled(s, "package-0", "power_limit_watts", "term=\"short\"", "420");
    is_value(s, "dram-0", "energy_joules_total", "5");
    is_value(s, "psys", "energy_joules_total", "7");
    folder_text(s->folder, RAPL ":0/energy_uj", "1000000\n");
    folder_text(s->folder, RAPL ":1/energy_uj", "1000000\n");
    is_int(sampled_at(s, 1), 3, "three domains have rows when counters begin anew");
    is_value(s, "package-0", "energy_joules_total", "262144.32885");
    is_value(s, "psys", "energy_joules_total", "8");
    folder_text(s->folder, RAPL ":0/energy_uj", "\n");
    is_int(sampled_at(s, 31), 3, "a domain that cannot be read has a row");
    is_value(s, "package-0", "energy_joules_total", "absent");
    folder_text(s->folder, RAPL ":0/energy_uj", "500000\n");
    is_int(sampled_at(s, 32), 3, "three domains have rows when a counter goes round again");
    is_value(s, "package-0", "energy_joules_total", "524287.1577");
}

/* Zones without a name, and below one whose name is not a package's. */
static void test_rapl_names(struct sampled *s)
{
    folder_text(s->folder, RAPL ":1:0/energy_uj", "3000000\n");
    folder_text(s->folder, RAPL ":2/energy_uj", "4000000\n");
    folder_text(s->folder, "sys/class/powercap/dtpm/energy_uj", "1\n");
    is_int(sampled_at(s, 70), 5, "two more domains have rows");
    is_value(s, "intel-rapl:1:0-psys", "energy_joules_total", "3");
    is_value(s, "intel-rapl:2", "energy_joules_total", "4");
}

#define MC "sys/devices/system/edac/mc/"

static void test_edac(struct sampled *s)
{
    const struct signal_row *row;

    folder_text(s->folder, MC "mc0/mc_name", "Intel_10nm Socket#0 IMC#0\n");
    folder_text(s->folder, MC "mc0/ce_count", "12\n");
    folder_text(s->folder, MC "mc0/ue_count", "1\n");
    folder_text(s->folder, MC "mc0/dimm0/dimm_label", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n");
    folder_text(s->folder, MC "mc0/dimm0/dimm_location", "channel 0 slot 0 \n");
    folder_text(s->folder, MC "mc0/dimm0/dimm_ce_count", "11\n");
    folder_text(s->folder, MC "mc0/dimm0/dimm_ue_count", "0\n");
    folder_text(s->folder, MC "mc1/rank2/dimm_ce_count", "3\n");
    folder_text(s->folder, MC "power/control", "auto\n");
    folder_text(s->folder, MC "power/ce_count", "5\n");
    folder_text(s->folder, MC "mc0/csrow0/dimm_ce_count", "5\n");
    is_int(sampled_open(s), 0, "the sampler opens with memory controllers");
    is_int(sampled_at(s, 0), 3, "controllers and DIMMs that have counts have rows");
    is_value(s, "mc0", "corrected_total", "12");
    is_value(s, "mc0", "uncorrected_total", "1");
    is_value(s, "mc0/dimm0", "corrected_total", "11");
    is_value(s, "mc0/dimm0", "uncorrected_total", "0");
    is_value(s, "mc1/rank2", "corrected_total", "3");
    is_value(s, "mc1/rank2", "uncorrected_total", "absent");
    row = tick_find(&s->tick, s->ops->set, "mc0/dimm0");
    is_str(row ? signal_fact(row, "label") : "", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
           "a DIMM has its label");
    is_str(row ? signal_fact(row, "location") : "", "channel 0 slot 0", "a DIMM has its place");
    row = tick_find(&s->tick, s->ops->set, "mc0");
    is_str(row ? signal_fact(row, "label") : "", "Intel_10nm Socket#0 IMC#0",
           "a controller has its name as its label");
}

/* 256 CPUs on two sockets: 0, 16, 32 ... are asked. */
static void test_cpufreq(struct sampled *s)
{
    char path[128], text[32];

    folder_folder(s->folder, "sys/devices/system/cpu/cpufreq");
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
        snprintf(text, sizeof(text), "%d\n", i % 16 ? 1 : 2000000 + 1000 * i);
        folder_text(s->folder, path, text);
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                 i);
        folder_text(s->folder, path, i < 128 ? "0\n" : "1\n");
    }
    folder_text(s->folder, "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3800000\n");
    folder_text(s->folder, "sys/devices/system/cpu/cpu112/cpufreq/scaling_max_freq", "1\n");
    folder_text(s->folder, "sys/devices/system/cpu/cpu128/thermal_throttle/package_throttle_count",
                "42\n");
    folder_text(s->folder,
                "sys/devices/system/cpu/cpu128/thermal_throttle/package_throttle_total_time_ms",
                "1500\n");
    folder_text(s->folder, "sys/devices/system/cpu/cpu144/thermal_throttle/package_throttle_count",
                "42\n");
    is_int(sampled_open(s), 0, "the sampler opens with 256 CPUs");
    is_int(sampled_at(s, 0), 2, "two packages have rows");
    is_value(s, "0", "cpus", "8");
    is_value(s, "0", "min_hertz", "2000000000");
    is_value(s, "0", "mean_hertz", "2056000000");
    is_value(s, "0", "max_hertz", "2112000000");
    is_value(s, "0", "limit_hertz", "3800000000");
    is_value(s, "0", "throttled_total", "absent");
    is_value(s, "1", "cpus", "8");
    is_value(s, "1", "min_hertz", "2128000000");
    is_value(s, "1", "max_hertz", "2240000000");
    is_value(s, "1", "throttled_total", "42");
    is_value(s, "1", "throttled_seconds_total", "1.5");
    folder_text(s->folder, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
    folder_text(s->folder, "sys/devices/system/cpu/cpu112/cpufreq/scaling_cur_freq", "\n");
    is_int(sampled_at(s, 10), 2, "two packages have rows though two CPUs are not known");
    is_value(s, "0", "cpus", "6");
    is_value(s, "0", "min_hertz", "2016000000");
    is_value(s, "0", "mean_hertz", "2056000000");
    is_value(s, "0", "max_hertz", "2096000000");
}

static void run(const struct sampler_ops *ops, void (*test)(struct sampled *s),
                void (*more)(struct sampled *s))
{
    struct sampled s;

    sampled_make(&s, ops);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open on an empty folder");
    test(&s);
    if (more)
        more(&s);
    sampled_oom(&s);
    sampled_remove(&s);
}

int main(void)
{
    run(&sampler_sensors, test_sensors, test_more_sensors);
    run(&sampler_rapl, test_rapl, test_rapl_names);
    run(&sampler_edac, test_edac, NULL);
    run(&sampler_cpufreq, test_cpufreq, NULL);
    return done();
}
