/* What the CPUs run at: of at most 16 of them, spread over the machine, since to ask 256 each time
 * takes the time that it measures; and how often packages were slowed down to stay cool. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/scan.h"
#include "probe/sample/files.h"

enum { CPUS_ASKED = 16 };

enum {
    FREQ_MEAN,
    FREQ_MIN,
    FREQ_MAX,
    FREQ_CPUS,
    FREQ_LIMIT,
    FREQ_THROTTLED,
    FREQ_THROTTLED_SECONDS,
    FREQ_VALUES
};

static const struct signal_def defs[FREQ_VALUES] = {
    [FREQ_MEAN] = { "mean_hertz", "frequency of the CPUs asked, their mean", SIGNAL_GAUGE },
    [FREQ_MIN] = { "min_hertz", "the lowest of them", SIGNAL_GAUGE },
    [FREQ_MAX] = { "max_hertz", "the highest of them", SIGNAL_GAUGE },
    [FREQ_CPUS] = { "cpus", "how many were asked", SIGNAL_GAUGE },
    [FREQ_LIMIT] = { "limit_hertz", "what the governor may choose at most", SIGNAL_GAUGE },
    [FREQ_THROTTLED] = { "throttled_total", "times that the package was slowed down to cool",
                         SIGNAL_COUNTER },
    [FREQ_THROTTLED_SECONDS] = { "throttled_seconds_total", "time that it was slowed down",
                                 SIGNAL_COUNTER },
};

static const struct signal_set freq_set = { "cpufreq", "package", defs, FREQ_VALUES };

/* One CPU is its own mean. */
static void read_frequency(const struct sample_file *f, const char *text, double *values)
{
    double hertz = scan_number(&text) * 1e3;

    values[f->value] = values[FREQ_MIN] = values[FREQ_MAX] = hertz;
    values[FREQ_CPUS] = isnan(hertz) ? hertz : 1;
}

static void combine(const struct signal_set *set, double *row, const double *values)
{
    double n = row[FREQ_CPUS], hertz = values[FREQ_MEAN];

    (void)set;
    if (isnan(hertz))
        return;
    row[FREQ_MEAN] = isnan(n) ? hertz : (row[FREQ_MEAN] * n + hertz) / (n + 1);
    row[FREQ_CPUS] = isnan(n) ? 1 : n + 1;
    if (!(row[FREQ_MIN] <= hertz)) /* it may be absent */
        row[FREQ_MIN] = hertz;
    if (!(row[FREQ_MAX] >= hertz))
        row[FREQ_MAX] = hertz;
}

/* The counts of a package are the same on all its CPUs: those of its first are taken
 * (arch/x86/kernel/cpu/mce/therm_throt.c, Linux 6.12). */
static const struct sample_file files[] = {
    { "cpufreq/scaling_cur_freq", FREQ_MEAN, true, 1, read_frequency, NULL, 0 },
    { "cpufreq/scaling_max_freq", FREQ_LIMIT, true, 1e3, NULL, NULL, 0 },
    { "thermal_throttle/package_throttle_count", FREQ_THROTTLED, true, 1, NULL, NULL, 0 },
    { "thermal_throttle/package_throttle_total_time_ms", FREQ_THROTTLED_SECONDS, true, 1e-3, NULL,
      NULL, 0 },
};

static const char cpu_folder[] = "sys/devices/system/cpu";

static int add_cpu(struct sample_files *s, unsigned cpu)
{
    char prefix[SAMPLE_PATH], package[SIGNAL_THING];

    snprintf(prefix, sizeof(prefix), "%s/cpu%u/", cpu_folder, cpu);
    sample_files_line(s, prefix, "topology/physical_package_id", package, sizeof(package));
    return sample_files_add(s, package[0] ? package : "0", prefix, files, ARRAY_SIZE(files));
}

static bool cpu_number(const char *name, uint64_t *ret)
{
    return !strncmp(name, "cpu", 3) && parse_u64(name + 3, ret) == 0 && *ret <= 1U << 20;
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str names = STR_INIT(SAMPLE_LIST);
    uint64_t n = 0, cpu;
    int rc = sample_files_list(s, cpu_folder, &names);

    SAMPLE_EACH(name, &names)
    n += cpu_number(name, &cpu);
    /* CPU numbers have no gaps but where CPUs were taken offline */
    for (uint64_t i = 0; i < MIN(n, CPUS_ASKED) && rc == 0; i++)
        rc = add_cpu(s, (unsigned)(n <= CPUS_ASKED ? i : i * n / CPUS_ASKED));
    return rc;
}

static const char *const folders[] = { "sys/devices/system/cpu/cpufreq",
                                       "sys/devices/system/cpu/cpu0/thermal_throttle", NULL };
static const struct sample_class freq_class = { &freq_set, FREQ_VALUES, folders, find, combine };

static int freq_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &freq_class, e);
}

const struct sampler_ops sampler_cpufreq = { "cpufreq", &freq_set, freq_open, sample_files_sample,
                                             sample_files_close };
