/* Lustre clients: statistics of mounts (llite) and of the targets behind them (osc, mdc), which lie
 * in proc/fs/lustre or in debugfs, by version. The lines are those of lustre/obdclass/
 * lprocfs_status.c (Lustre 2.15):
 *
 *     read_bytes                25673 samples [bytes] 1 3366225 145121869
 *     NAME                      COUNT samples [UNIT] MIN MAX SUM SUM_OF_SQUARES
 */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/kernel/scan.h"
#include "probe/sample/files.h"

enum {
    LUSTRE_READ_BYTES,
    LUSTRE_WRITE_BYTES,
    LUSTRE_READS,
    LUSTRE_WRITES,
    LUSTRE_OPENS,
    LUSTRE_GETATTRS,
    LUSTRE_METADATA,
    LUSTRE_RPCS,
    LUSTRE_RPC_WAIT,
    LUSTRE_RPC_TIMEOUTS,
    LUSTRE_RPCS_NOW,
    LUSTRE_TARGETS,
    LUSTRE_CONNECTED,
    LUSTRE_VALUES,
    LUSTRE_NONE = LUSTRE_VALUES
};

#define COUNTER(name, help) \
    { \
        name, help, SIGNAL_COUNTER \
    }

static const struct signal_def defs[LUSTRE_VALUES] = {
    [LUSTRE_READ_BYTES] = COUNTER("read_bytes_total", "bytes that programs read"),
    [LUSTRE_WRITE_BYTES] = COUNTER("write_bytes_total", "bytes that programs wrote"),
    [LUSTRE_READS] = COUNTER("reads_total", "reads of programs"),
    [LUSTRE_WRITES] = COUNTER("writes_total", "writes of programs"),
    [LUSTRE_OPENS] = COUNTER("opens_total", "files opened"),
    [LUSTRE_GETATTRS] = COUNTER("getattrs_total", "attributes asked for"),
    [LUSTRE_METADATA] = COUNTER("metadata_total", "operations on names and attributes, all"),
    [LUSTRE_RPCS] = COUNTER("rpcs_total", "requests that servers answered"),
    [LUSTRE_RPC_WAIT] = COUNTER("rpc_wait_seconds_total", "time from request to answer, summed"),
    [LUSTRE_RPC_TIMEOUTS] = COUNTER("rpc_timeouts_total", "requests without an answer in time"),
    [LUSTRE_RPCS_NOW] = { "rpcs_now", "requests in flight", SIGNAL_GAUGE },
    [LUSTRE_TARGETS] = { "targets", "storage and metadata targets", SIGNAL_GAUGE },
    [LUSTRE_CONNECTED] = { "connected", "targets that are connected, or idle", SIGNAL_GAUGE },
};

static const struct signal_set lustre_set = { "lustre", "filesystem", defs, LUSTRE_VALUES };

/* Where the count and the sum of a line go. */
struct line {
    const char *name;
    int counts[2];
    int sum;
    double scale;
};

#define METADATA(name) \
    { \
        name, { LUSTRE_METADATA, LUSTRE_NONE }, LUSTRE_NONE, 1 \
    }

static const struct line mount_lines[] = {
    { "read_bytes", { LUSTRE_READS, LUSTRE_NONE }, LUSTRE_READ_BYTES, 1 },
    { "write_bytes", { LUSTRE_WRITES, LUSTRE_NONE }, LUSTRE_WRITE_BYTES, 1 },
    { "open", { LUSTRE_METADATA, LUSTRE_OPENS }, LUSTRE_NONE, 1 },
    { "getattr", { LUSTRE_METADATA, LUSTRE_GETATTRS }, LUSTRE_NONE, 1 },
    METADATA("close"),
    METADATA("readdir"),
    METADATA("setattr"),
    METADATA("truncate"),
    METADATA("statfs"),
    METADATA("create"),
    METADATA("link"),
    METADATA("unlink"),
    METADATA("symlink"),
    METADATA("mkdir"),
    METADATA("rmdir"),
    METADATA("mknod"),
    METADATA("rename"),
    METADATA("setxattr"),
    METADATA("getxattr"),
    METADATA("listxattr"),
    METADATA("removexattr"),
};

static const struct line target_lines[] = {
    { "req_waittime", { LUSTRE_RPCS, LUSTRE_NONE }, LUSTRE_RPC_WAIT, 1e-6 }, /* microseconds */
};

/* The sum of a line behind its count; absent when it has none. */
static double read_sum(const char *at)
{
    double sum = (double)NAN;

    scan_blanks(&at);
    if (!scan_word(&at, "samples"))
        return sum;
    scan_blanks(&at);
    at += strcspn(at, " \n");     /* [UNIT] */
    for (int i = 0; i < 3; i++) { /* MIN MAX SUM */
        scan_blanks(&at);
        at += *at == '-';
        sum = scan_number(&at);
    }
    return sum;
}

static void take_line(const struct line *line, const char *at, double *values)
{
    double count = scan_number(&at);

    for (size_t i = 0; i < ARRAY_SIZE(line->counts); i++)
        if (line->counts[i] != LUSTRE_NONE)
            sample_add(&values[line->counts[i]], count);
    if (line->sum != LUSTRE_NONE)
        sample_add(&values[line->sum], read_sum(at) * line->scale);
}

static void read_stats(const struct sample_file *f, const char *text, double *values)
{
    const struct line *lines = f->arg;

    for (size_t i = 0; i < f->n_args; i++) {
        for (size_t k = 0; k < ARRAY_SIZE(lines[i].counts); k++)
            if (lines[i].counts[k] != LUSTRE_NONE)
                values[lines[i].counts[k]] = (double)NAN;
        if (lines[i].sum != LUSTRE_NONE)
            values[lines[i].sum] = (double)NAN;
    }
    do {
        for (size_t i = 0; i < f->n_args; i++)
            if (*text == *lines[i].name && scan_word(&text, lines[i].name)) {
                take_line(&lines[i], text, values);
                break;
            }
    } while (scan_line(&text));
}

/* "state: FULL": connected. An idle target was left on purpose and is connected again when it is
 * needed (since Lustre 2.12). */
static void read_import(const struct sample_file *f, const char *text, double *values)
{
    (void)f;
    values[LUSTRE_TARGETS] = values[LUSTRE_CONNECTED] = (double)NAN;
    values[LUSTRE_RPCS_NOW] = values[LUSTRE_RPC_TIMEOUTS] = (double)NAN;
    do {
        scan_blanks(&text);
        if (scan_word(&text, "state:")) {
            scan_blanks(&text);
            values[LUSTRE_TARGETS] = 1;
            values[LUSTRE_CONNECTED] = scan_word(&text, "FULL") || scan_word(&text, "IDLE");
        } else if (scan_word(&text, "inflight:")) {
            values[LUSTRE_RPCS_NOW] = scan_number(&text);
        } else if (scan_word(&text, "timeouts:")) {
            values[LUSTRE_RPC_TIMEOUTS] = scan_number(&text);
        }
    } while (scan_line(&text));
}

static const struct sample_file mount_files[] = {
    { "stats", 0, false, 1, read_stats, mount_lines, ARRAY_SIZE(mount_lines) },
};

/* A file system may have a thousand targets. */
static const struct sample_file target_files[] = {
    { "stats", 0, true, 1, read_stats, target_lines, ARRAY_SIZE(target_lines) },
    { "import", 0, true, 1, read_import, NULL, 0 },
};

/* The folders, and where the name of the file system ends in the names below:
 * "scratch-ffff9d1c41c3a800", "scratch-OST0007-osc-ffff9d1c41c3a800". */
static const struct {
    const char *folder, *end;
    const struct sample_file *files;
    size_t n;
} places[] = {
    { "proc/fs/lustre/llite", "-", mount_files, ARRAY_SIZE(mount_files) },
    { "sys/kernel/debug/lustre/llite", "-", mount_files, ARRAY_SIZE(mount_files) },
    { "proc/fs/lustre/osc", "-OST", target_files, ARRAY_SIZE(target_files) },
    { "sys/kernel/debug/lustre/osc", "-OST", target_files, ARRAY_SIZE(target_files) },
    { "proc/fs/lustre/mdc", "-MDT", target_files, ARRAY_SIZE(target_files) },
    { "sys/kernel/debug/lustre/mdc", "-MDT", target_files, ARRAY_SIZE(target_files) },
};

static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str names = STR_INIT(SAMPLE_LIST);
    char prefix[2 * SAMPLE_PATH], title[SIGNAL_THING];
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(places) && rc == 0; i++) {
        rc = sample_files_list(s, places[i].folder, &names);
        SAMPLE_EACH(name, &names)
        {
            const char *end = strstr(name, places[i].end);

            if (!end || rc < 0)
                continue;
            snprintf(prefix, sizeof(prefix), "%s/%s/", places[i].folder, name);
            snprintf(title, sizeof(title), "%.*s", (int)(end - name), name);
            rc = sample_files_add(s, title, prefix, places[i].files, places[i].n);
        }
    }
    return rc;
}

static const char *const folders[] = { "proc/fs/lustre", "sys/kernel/debug/lustre", NULL };
static const struct sample_class lustre_class = { &lustre_set, LUSTRE_VALUES, folders, find,
                                                  sample_files_sum };

static int lustre_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &lustre_class, e);
}

const struct sampler_ops sampler_lustre = { "lustre", &lustre_set, lustre_open, sample_files_sample,
                                            sample_files_close };
