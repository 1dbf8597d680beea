/* Energy of processors and their memory: sys/class/powercap/intel-rapl:P and :P:D, which AMD's have
 * under the same names (Documentation/power/powercap/powercap.rst, Linux 6.12). Only root may read
 * energy_uj. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/kernel/scan.h"
#include "probe/sample/files.h"

enum {
    RAPL_ENERGY,
    RAPL_LIMIT_LONG,
    RAPL_LIMIT_SHORT,
    RAPL_VALUES,
    /* remembered */
    RAPL_RANGE = RAPL_VALUES,
    RAPL_LAST, /* as it was read, microjoules */
    RAPL_BASE, /* what went by before the counter began anew */
    RAPL_ALL
};

static const struct signal_def defs[RAPL_VALUES] = {
    [RAPL_ENERGY] = { "energy_joules_total", "energy used", SIGNAL_COUNTER },
    [RAPL_LIMIT_LONG] = { "power_limit_watts", "power that is allowed on average", SIGNAL_GAUGE,
                          "term=\"long\"" },
    [RAPL_LIMIT_SHORT] = { "power_limit_watts", "power that is allowed on average", SIGNAL_GAUGE,
                           "term=\"short\"" },
};

static const struct signal_set rapl_set = { "rapl", "domain", defs, RAPL_VALUES };

/* The counter begins anew behind its range: at 300 W the 262 kJ of a package last 15 minutes. */
static void read_energy(const struct sample_file *f, const char *text, double *values)
{
    double now = scan_number(&text);

    values[f->value] = (double)NAN;
    if (isnan(now))
        return;
    if (isnan(values[RAPL_BASE]))
        values[RAPL_BASE] = 0;
    if (now < values[RAPL_LAST])
        values[RAPL_BASE] += values[RAPL_RANGE] >= values[RAPL_LAST] ? values[RAPL_RANGE]
                                                                     : values[RAPL_LAST];
    values[RAPL_LAST] = now;
    values[f->value] = (values[RAPL_BASE] + now) * 1e-6;
}

static const struct sample_file files[] = {
    { "max_energy_range_uj", RAPL_RANGE, true, 1, NULL, NULL, 0 }, /* before what needs it */
    { "energy_uj", RAPL_ENERGY, false, 1, read_energy, NULL, 0 },
    { "constraint_0_power_limit_uw", RAPL_LIMIT_LONG, true, 1e-6, NULL, NULL, 0 },
    { "constraint_1_power_limit_uw", RAPL_LIMIT_SHORT, true, 1e-6, NULL, NULL, 0 },
};

static const char powercap[] = "sys/class/powercap";

/* "package-0" and "psys" are called so; "dram" below package-0 is dram-0. */
static void name_domain(const struct sample_files *s, const char *zone, char *out, size_t size)
{
    static const char package[] = "package-";
    char prefix[2 * SAMPLE_PATH], name[SIGNAL_THING], parent[SIGNAL_THING];
    const char *colon = strrchr(zone, ':'), *id = parent;

    snprintf(prefix, sizeof(prefix), "%s/%s/", powercap, zone);
    sample_files_line(s, prefix, "name", name, sizeof(name));
    snprintf(out, size, "%s", name[0] ? name : zone);
    if (strchr(zone, ':') == colon)
        return;
    snprintf(prefix, sizeof(prefix), "%s/%.*s/", powercap, (int)(colon - zone), zone);
    sample_files_line(s, prefix, "name", parent, sizeof(parent));
    if (!strncmp(parent, package, strlen(package)))
        id += strlen(package);
    snprintf(out, size, "%s-%s", name[0] ? name : zone, id);
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str zones = STR_INIT(SAMPLE_LIST);
    char prefix[2 * SAMPLE_PATH], name[2 * SIGNAL_THING];
    int rc = sample_files_list(s, powercap, &zones);

    SAMPLE_EACH(zone, &zones)
    {
        /* intel-rapl-mmio:0 counts the same package once more */
        if (rc < 0 || strncmp(zone, "intel-rapl:", 11) != 0)
            continue;
        name_domain(s, zone, name, sizeof(name));
        snprintf(prefix, sizeof(prefix), "%s/%s/", powercap, zone);
        rc = sample_files_add(s, name, prefix, files, ARRAY_SIZE(files));
    }
    return rc;
}

static const char *const folders[] = { powercap, NULL };
static const struct sample_class rapl_class = { &rapl_set, RAPL_ALL, folders, find, NULL };

static int rapl_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &rapl_class, e);
}

const struct sampler_ops sampler_rapl = { "rapl", &rapl_set, rapl_open, sample_files_sample,
                                          sample_files_close };
