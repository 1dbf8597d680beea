/* Disks: /proc/diskstats (Documentation/admin-guide/iostats.rst of the kernel). */
#include "probe/sample/sampler.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

enum { DISKS_MAX = 512 };

enum {
    DISK_READS,
    DISK_READ_BYTES,
    DISK_READ_SECONDS,
    DISK_WRITES,
    DISK_WRITE_BYTES,
    DISK_WRITE_SECONDS,
    DISK_IO_NOW,
    DISK_IO_SECONDS,
    DISK_QUEUE_SECONDS,
    DISK_DISCARDS,
    DISK_FLUSHES,
    DISK_FLUSH_SECONDS,
    DISK_VALUES,
    DISK_UNUSED = DISK_VALUES
};

static const struct signal_def defs[DISK_VALUES] = {
    [DISK_READS] = { "reads_total", "reads completed", SIGNAL_COUNTER },
    [DISK_READ_BYTES] = { "read_bytes_total", "bytes read", SIGNAL_COUNTER },
    [DISK_READ_SECONDS] = { "read_seconds_total", "time of all reads, summed", SIGNAL_COUNTER },
    [DISK_WRITES] = { "writes_total", "writes completed", SIGNAL_COUNTER },
    [DISK_WRITE_BYTES] = { "write_bytes_total", "bytes written", SIGNAL_COUNTER },
    [DISK_WRITE_SECONDS] = { "write_seconds_total", "time of all writes, summed", SIGNAL_COUNTER },
    [DISK_IO_NOW] = { "io_now", "requests in progress", SIGNAL_GAUGE },
    [DISK_IO_SECONDS] = { "io_seconds_total", "time with a request in progress", SIGNAL_COUNTER },
    [DISK_QUEUE_SECONDS] = { "queue_seconds_total", "time in progress of all requests, summed",
                             SIGNAL_COUNTER },
    [DISK_DISCARDS] = { "discards_total", "discards completed", SIGNAL_COUNTER },
    [DISK_FLUSHES] = { "flushes_total", "flushes completed", SIGNAL_COUNTER },
    [DISK_FLUSH_SECONDS] = { "flush_seconds_total", "time of all flushes, summed", SIGNAL_COUNTER },
};

static const struct signal_set disk_set = { "disk", "device", defs, DISK_VALUES };

/* The columns behind the name; Linux before 4.18 has the first 11, before 5.5 the first 15. */
static const struct {
    int value;
    double unit;
} columns[] = {
    { DISK_READS, 1 },
    { DISK_UNUSED }, /* merged */
    { DISK_READ_BYTES, 512 },
    { DISK_READ_SECONDS, 1e-3 },
    { DISK_WRITES, 1 },
    { DISK_UNUSED }, /* merged */
    { DISK_WRITE_BYTES, 512 },
    { DISK_WRITE_SECONDS, 1e-3 },
    { DISK_IO_NOW, 1 },
    { DISK_IO_SECONDS, 1e-3 },
    { DISK_QUEUE_SECONDS, 1e-3 },
    { DISK_DISCARDS, 1 },
    { DISK_UNUSED }, /* merged */
    { DISK_UNUSED }, /* sectors */
    { DISK_UNUSED }, /* milliseconds */
    { DISK_FLUSHES, 1 },
    { DISK_FLUSH_SECONDS, 1e-3 },
};

/* Memory and files that look like disks. */
static const char *const skipped[] = { "loop", "ram", "zram" };

static bool is_skipped(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(skipped); i++) {
        size_t len = strlen(skipped[i]);

        if (!strncmp(name, skipped[i], len) && isdigit((unsigned char)name[len]))
            return true;
    }
    return false;
}

/* Partitions are named after their disk, which comes first: sda1, and nvme0n1p1 where the name of
 * the disk ends in a digit. So dm-10 is none of dm-1. */
static bool is_partition(const struct tick *t, const char *name)
{
    char disk[SIGNAL_THING];
    size_t len = strlen(name), end = len;

    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    if (end == len)
        return false;
    memcpy(disk, name, end);
    disk[end] = 0;
    if (tick_find(t, &disk_set, disk))
        return true;
    if (end < 2 || name[end - 1] != 'p' || !isdigit((unsigned char)name[end - 2]))
        return false;
    disk[end - 1] = 0;
    return tick_find(t, &disk_set, disk) != NULL;
}

/* One line; 1 when it gave a row. */
static int read_disk(struct tick *t, const char *at)
{
    char name[SIGNAL_THING];
    struct signal_row *row;

    for (int i = 0; i < 2; i++) /* major and minor number */
        if (isnan(scan_number(&at)))
            return 0;
    if (!sample_name(&at, 0, name) || is_skipped(name) || is_partition(t, name) ||
        tick_find(t, &disk_set, name))
        return 0;
    row = tick_add(t, &disk_set, name);
    if (!row)
        return -ENOMEM;
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        double value = scan_number(&at);

        if (isnan(value)) /* those behind it would be in the wrong column */
            break;
        if (columns[i].value != DISK_UNUSED)
            row->values[columns[i].value] = value * columns[i].unit;
    }
    return 1;
}

static int disk_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_table_start(state, env->root, "proc/diskstats", e);
}

static int disk_sample(void *state, struct tick *t)
{
    const char *at;
    char *text;
    int rc = sample_table_read(state, &text), n = 0;

    if (rc < 0)
        return rc;
    at = text;
    do {
        rc = read_disk(t, at);
        if (rc < 0)
            return rc;
        n += rc;
    } while (n < DISKS_MAX && scan_line(&at));
    return 0;
}

const struct sampler_ops sampler_disk = { "disk", &disk_set, disk_open, disk_sample,
                                          sample_table_stop };
