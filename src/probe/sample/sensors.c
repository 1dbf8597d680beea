/* Sensors: sys/class/hwmon (Documentation/hwmon/sysfs-interface.rst, Linux 6.12). All are slow: to
 * read the temperature of a drive sends it a command. */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/sample/files.h"

enum {
    SENSOR_TEMPERATURE,
    SENSOR_TEMPERATURE_MAX,
    SENSOR_TEMPERATURE_CRITICAL,
    SENSOR_FAN,
    SENSOR_POWER,
    SENSOR_POWER_CAP,
    SENSOR_VALUES
};

static const struct signal_def defs[SENSOR_VALUES] = {
    [SENSOR_TEMPERATURE] = { "temperature_celsius", "temperature", SIGNAL_GAUGE },
    [SENSOR_TEMPERATURE_MAX] = { "temperature_max_celsius", "where it is too warm", SIGNAL_GAUGE },
    [SENSOR_TEMPERATURE_CRITICAL] = { "temperature_critical_celsius", "where it takes harm",
                                      SIGNAL_GAUGE },
    [SENSOR_FAN] = { "fan_rpm", "turns a minute", SIGNAL_GAUGE },
    [SENSOR_POWER] = { "power_watts", "power drawn", SIGNAL_GAUGE },
    [SENSOR_POWER_CAP] = { "power_cap_watts", "power that is allowed", SIGNAL_GAUGE },
};

static const struct signal_set sensor_set = { "sensor", "sensor", defs, SENSOR_VALUES };

/* Behind "temp1". */
#define FILE_OF(path, value, scale) \
    { \
        path, value, true, scale, NULL, NULL, 0 \
    }

static const struct sample_file temperature[] = {
    FILE_OF("_input", SENSOR_TEMPERATURE, 1e-3),
    FILE_OF("_max", SENSOR_TEMPERATURE_MAX, 1e-3),
    FILE_OF("_crit", SENSOR_TEMPERATURE_CRITICAL, 1e-3),
};
static const struct sample_file fan[] = { FILE_OF("_input", SENSOR_FAN, 1) };
static const struct sample_file power[] = {
    FILE_OF("_input", SENSOR_POWER, 1e-6),
    FILE_OF("_cap", SENSOR_POWER_CAP, 1e-6),
};
static const struct sample_file power_average[] = {
    FILE_OF("_average", SENSOR_POWER, 1e-6),
    FILE_OF("_cap", SENSOR_POWER_CAP, 1e-6),
};

/* A chip may have both kinds of power: the one that is listed first is taken. */
static const struct {
    const char *start, *end;
    const struct sample_file *files;
    size_t n;
} kinds[] = {
    { "temp", "_input", temperature, ARRAY_SIZE(temperature) },
    { "fan", "_input", fan, ARRAY_SIZE(fan) },
    { "power", "_input", power, ARRAY_SIZE(power) },
    { "power", "_average", power_average, ARRAY_SIZE(power_average) },
};

enum { TITLE = 2 * SIGNAL_THING };

static const char hwmon[] = "sys/class/hwmon";

/* What a chip is called: its device where that is named like it ("nvme0", "coretemp.1"), or both
 * ("k10temp@0000:00:18.3"), since a machine may have several of it. */
static void name_chip(const struct sample_files *s, const char *chip, char out[TITLE])
{
    char path[2 * SAMPLE_PATH], link[SAMPLE_PATH], name[SIGNAL_THING];
    const char *device;
    size_t len;

    snprintf(path, sizeof(path), "%s/%s/", hwmon, chip);
    sample_files_line(s, path, "name", name, sizeof(name));
    snprintf(path, sizeof(path), "%s/%s/device", hwmon, chip);
    sample_files_link(s, path, link, sizeof(link));
    device = strrchr(link, '/');
    device = device ? device + 1 : link;
    len = strlen(name);
    if (!len || !*device || (!strncmp(device, name, len) && !strcmp(device + len, ".0")))
        snprintf(out, TITLE, "%s", len ? name : chip);
    else if (!strncmp(device, name, len))
        snprintf(out, TITLE, "%.*s", SIGNAL_THING, device);
    else
        snprintf(out, TITLE, "%s@%.*s", name, SIGNAL_THING - 2, device);
}

/* The sensor that a file is of: "temp1_input" is kind 0 and "temp1"; false when it is none. */
static bool split(const char *file, size_t *kind, char *channel, size_t size)
{
    size_t len = strlen(file);

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        size_t start = strlen(kinds[i].start), end = strlen(kinds[i].end);

        if (len <= start + end || len - end >= size || strncmp(file, kinds[i].start, start) ||
            strcmp(file + len - end, kinds[i].end) ||
            strspn(file + start, "0123456789") != len - start - end)
            continue;
        *kind = i;
        snprintf(channel, size, "%.*s", (int)(len - end), file);
        return true;
    }
    return false;
}

static int add_sensor(struct sample_files *s, const char *chip, const char *title, const char *file)
{
    char channel[32], label[SIGNAL_THING], prefix[2 * SAMPLE_PATH], name[4 * SIGNAL_THING];
    size_t kind;

    if (!split(file, &kind, channel, sizeof(channel)))
        return 0;
    snprintf(prefix, sizeof(prefix), "%s/%s/%s", hwmon, chip, channel);
    sample_files_line(s, prefix, "_label", label, sizeof(label));
    /* each core beside its package: 128 of them say no more, and each wakes a core */
    if (!strncmp(title, "coretemp", 8) && !strncmp(label, "Core ", 5))
        return 0;
    snprintf(name, sizeof(name), "%s:%s", title, label[0] ? label : channel);
    return sample_files_add(s, name, prefix, kinds[kind].files, kinds[kind].n);
}

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str chips = STR_INIT(SAMPLE_LIST);
    CLEANUP(str_done) struct str names = STR_INIT(SAMPLE_LIST);
    char folder[2 * SAMPLE_PATH], title[TITLE];
    int rc = sample_files_list(s, hwmon, &chips);

    SAMPLE_EACH(chip, &chips)
    {
        snprintf(folder, sizeof(folder), "%s/%s", hwmon, chip);
        if (rc == 0)
            rc = sample_files_list(s, folder, &names);
        if (rc < 0)
            return rc;
        name_chip(s, chip, title);
        SAMPLE_EACH(name, &names)
        {
            if (rc == 0)
                rc = add_sensor(s, chip, title, name);
        }
    }
    return rc;
}

static const char *const folders[] = { hwmon, NULL };
static const struct sample_class sensor_class = { &sensor_set, SENSOR_VALUES, folders, find, NULL };

static int sensors_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &sensor_class, e);
}

const struct sampler_ops sampler_sensors = { "sensors", &sensor_set, sensors_open,
                                             sample_files_sample, sample_files_close };
