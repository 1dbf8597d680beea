#include "probe/sample/cgroup_files.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"

/* Of io.stat a line per disk, of 100 bytes; of what is longer the rest is not counted. */
enum { TEXT_MAX = 16384 };

/* Version 1 says that there is no limit by one that is near 2^63. */
static const double no_limit = 4611686018427387904.0; /* 2^62 */

/* Where a number is in a file: behind a key at the start of a line; NULL: the first of the file. */
struct number {
    enum cgroup_hierarchy hierarchy;
    int value;
    const char *file, *key;
    double scale;
    bool limit; /* read with limits only */
};

static const struct number numbers[] = {
    { CGROUP_V2, CGROUP_CPU, "cpu.stat", "usage_usec", 1e-6, false },
    { CGROUP_V2, CGROUP_PERIODS, "cpu.stat", "nr_periods", 1, false },
    { CGROUP_V2, CGROUP_THROTTLED_PERIODS, "cpu.stat", "nr_throttled", 1, false },
    { CGROUP_V2, CGROUP_THROTTLED, "cpu.stat", "throttled_usec", 1e-6, false },
    { CGROUP_V2, CGROUP_MEMORY, "memory.current", NULL, 1, false },
    { CGROUP_V2, CGROUP_OOM_KILLS, "memory.events", "oom_kill", 1, false },
    { CGROUP_V2, CGROUP_MEMORY_LIMIT, "memory.max", NULL, 1, true },
    { CGROUP_V2, CGROUP_MEMORY_PEAK, "memory.peak", NULL, 1, true },
    { CGROUP_V1_CPUACCT, CGROUP_CPU, "cpuacct.usage", NULL, 1e-9, false },
    { CGROUP_V1_CPU, CGROUP_PERIODS, "cpu.stat", "nr_periods", 1, false },
    { CGROUP_V1_CPU, CGROUP_THROTTLED_PERIODS, "cpu.stat", "nr_throttled", 1, false },
    { CGROUP_V1_CPU, CGROUP_THROTTLED, "cpu.stat", "throttled_time", 1e-9, false },
    { CGROUP_V1_MEMORY, CGROUP_MEMORY, "memory.usage_in_bytes", NULL, 1, false },
    { CGROUP_V1_MEMORY, CGROUP_OOM_KILLS, "memory.oom_control", "oom_kill", 1, false },
    { CGROUP_V1_MEMORY, CGROUP_MEMORY_LIMIT, "memory.limit_in_bytes", NULL, 1, true },
    { CGROUP_V1_MEMORY, CGROUP_MEMORY_PEAK, "memory.max_usage_in_bytes", NULL, 1, true },
};

static const struct {
    const char *file;
    int value;
} pressures[] = {
    { "cpu.pressure", CGROUP_CPU_WAIT },
    { "io.pressure", CGROUP_IO_WAIT },
    { "memory.pressure", CGROUP_MEMORY_WAIT },
};

/* A file of the group; false when it cannot be read. */
static bool read_text(int root, const char *path, const char *file, char text[TEXT_MAX])
{
    char full[PATH_MAX];
    struct kept k;
    int len;

    while (*path == '/')
        path++;
    len = snprintf(full, sizeof(full), "%s%s%s", path, *path ? "/" : "", file);
    if (len >= (int)sizeof(full))
        return false;
    kept_open(&k, root, full);
    len = kept_read(&k, text, TEXT_MAX);
    kept_close(&k);
    return len > 0;
}

static double find_number(const char *text, const char *key)
{
    const char *at = text;

    if (!key)
        return scan_number(&at);
    do {
        if (scan_word(&at, key))
            return scan_number(&at);
    } while (scan_line(&at));
    return (double)NAN;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234" */
static double find_waiting(const char *text)
{
    const char *total = !strncmp(text, "some ", 5) ? strstr(text, "total=") : NULL;

    if (!total)
        return (double)NAN;
    total += strlen("total=");
    return scan_number(&total) * 1e-6;
}

/* The sum of "KEY=N" ("rbytes=123"), or of "KEY N" ("253:0 Read 123") over all lines. */
static double add_disks(const char *text, const char *key)
{
    double sum = 0;

    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        double n;

        at += strlen(key);
        n = scan_number(&at);
        sum += isnan(n) ? 0 : n;
    }
    return sum;
}

static void read_disks(int root, const char *path, enum cgroup_hierarchy hierarchy, double *values)
{
    bool two = hierarchy == CGROUP_V2;
    char text[TEXT_MAX];

    if (!two && hierarchy != CGROUP_V1_BLKIO)
        return;
    if (!(two && read_text(root, path, "io.stat", text)) &&
        !(!two && read_text(root, path, "blkio.throttle.io_service_bytes_recursive", text)) &&
        !(!two && read_text(root, path, "blkio.throttle.io_service_bytes", text)))
        return;
    values[CGROUP_READ] = add_disks(text, two ? " rbytes=" : " Read ");
    values[CGROUP_WRITTEN] = add_disks(text, two ? " wbytes=" : " Write ");
}

/* The CPU time that the group may have per time, as CPUs. */
static void read_quota(int root, const char *path, enum cgroup_hierarchy hierarchy, double *values)
{
    double quota = (double)NAN, period = (double)NAN;
    char text[TEXT_MAX];
    const char *at = text;

    if (hierarchy == CGROUP_V2 && read_text(root, path, "cpu.max", text)) {
        quota = scan_number(&at); /* or "max" */
        period = scan_number(&at);
    } else if (hierarchy == CGROUP_V1_CPU) {
        if (read_text(root, path, "cpu.cfs_quota_us", text))
            quota = find_number(text, NULL); /* or -1 */
        if (read_text(root, path, "cpu.cfs_period_us", text))
            period = find_number(text, NULL);
    } else {
        return;
    }
    values[CGROUP_CPU_LIMIT] = period > 0 ? quota / period : (double)NAN;
}

void cgroup_read(int root, const char *path, enum cgroup_hierarchy hierarchy, bool limits,
                 double values[CGROUP_VALUES])
{
    char text[TEXT_MAX];
    const char *open = NULL;
    bool there = false;

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        const struct number *n = &numbers[i];

        if (n->hierarchy != hierarchy || (n->limit && !limits))
            continue;
        if (!open || strcmp(open, n->file) != 0)
            there = read_text(root, path, n->file, text);
        open = n->file;
        if (there)
            values[n->value] = find_number(text, n->key) * n->scale;
    }
    if (values[CGROUP_MEMORY_LIMIT] >= no_limit)
        values[CGROUP_MEMORY_LIMIT] = (double)NAN;
    if (limits)
        read_quota(root, path, hierarchy, values);
    read_disks(root, path, hierarchy, values);
    for (size_t i = 0; i < ARRAY_SIZE(pressures) && hierarchy == CGROUP_V2; i++)
        if (read_text(root, path, pressures[i].file, text))
            values[pressures[i].value] = find_waiting(text);
}

double cgroup_read_cpu(int root, const char *path, enum cgroup_hierarchy hierarchy)
{
    char text[TEXT_MAX];

    if (hierarchy == CGROUP_V2 && read_text(root, path, "cpu.stat", text))
        return find_number(text, "usage_usec") * 1e-6;
    if (hierarchy == CGROUP_V1_CPUACCT && read_text(root, path, "cpuacct.usage", text))
        return find_number(text, NULL) * 1e-9;
    return (double)NAN;
}
