/* CephFS clients of the kernel: sys/kernel/debug/ceph/FSID.clientN (fs/ceph/debugfs.c and
 * net/ceph/debugfs.c, Linux 6.12). "metrics" is one file before Linux 5.16 and a folder since; its
 * sections are
 *
 *     item          total       avg_lat(us)     min_lat(us)     max_lat(us)     stdev(us)
 *     item          total       avg_sz(bytes)   min_sz(bytes)   max_sz(bytes)  total_sz(bytes)
 *     item          total           miss            hit
 */
#include "probe/sample/sampler.h"

#include <stdio.h>
#include <string.h>

#include "probe/kernel/scan.h"
#include "probe/sample/files.h"
#include "probe/sample/table.h"

enum { OP_READ, OP_WRITE, OP_METADATA, OP_COPY, OPS };

/* The value of an operation is the first of its kind + op. */
enum {
    CEPH_OPERATIONS,
    CEPH_WAIT = CEPH_OPERATIONS + OPS,
    CEPH_BYTES = CEPH_WAIT + OPS, /* without metadata */
    CEPH_CAP_HITS = CEPH_BYTES + OPS,
    CEPH_CAP_MISSES,
    CEPH_DATA_NOW,
    CEPH_METADATA_NOW,
    CEPH_VALUES
};

#define DEFS(at, name, help) \
    [(at) + OP_READ] = { name, help, SIGNAL_COUNTER, "op=\"read\"" }, \
            [(at) + OP_WRITE] = { name, help, SIGNAL_COUNTER, "op=\"write\"" }, \
            [(at) + OP_METADATA] = { name, help, SIGNAL_COUNTER, "op=\"metadata\"" }, \
            [(at) + OP_COPY] = { name, help, SIGNAL_COUNTER, "op=\"copy\"" }

static const struct signal_def defs[CEPH_VALUES] = {
    DEFS(CEPH_OPERATIONS, "operations_total", "requests answered"),
    DEFS(CEPH_WAIT, "wait_seconds_total", "time from request to answer: count times mean"),
    DEFS(CEPH_BYTES, "bytes_total", "bytes moved"),
    [CEPH_CAP_HITS] = { "cap_hits_total", "capabilities that were there", SIGNAL_COUNTER },
    [CEPH_CAP_MISSES] = { "cap_misses_total", "capabilities that had to be asked for",
                          SIGNAL_COUNTER },
    [CEPH_DATA_NOW] = { "requests_now", "requests in flight", SIGNAL_GAUGE, "to=\"osd\"" },
    [CEPH_METADATA_NOW] = { "requests_now", "requests in flight", SIGNAL_GAUGE, "to=\"mds\"" },
};

static const char *const facts[] = { "fsid", NULL };
static const struct signal_set ceph_set = { "ceph", "client", defs, CEPH_VALUES, facts };

static const char *const operations[OPS] = { "read", "write", "metadata", "copyfrom" };

/* By the third word of a section's head. */
enum { SECTION_OTHER, SECTION_LATENCY, SECTION_SIZE, SECTION_HITS };

static int read_head(const char *at)
{
    static const char *const words[] = { "", "avg_lat(us)", "avg_sz(bytes)", "miss" };
    const char *word;

    (void)sample_word(&at, 0, &word); /* total */
    scan_blanks(&at);
    for (int i = SECTION_LATENCY; i <= SECTION_HITS; i++)
        if (scan_word(&at, words[i]))
            return i;
    return SECTION_OTHER;
}

/* The mean is rounded: count times mean may seem to go back, the sum does not. */
static void read_operation(int section, int op, const char *at, double *values)
{
    double total = scan_number(&at), number = scan_number(&at), wait = total * number * 1e-6;

    if (section == SECTION_LATENCY) {
        values[CEPH_OPERATIONS + op] = total;
        if (!(wait <= values[CEPH_WAIT + op])) /* either may be absent */
            values[CEPH_WAIT + op] = wait;
        return;
    }
    for (int i = 0; i < 3; i++) /* min, max, total */
        number = scan_number(&at);
    values[CEPH_BYTES + op] = number;
}

static void read_row(int section, const char *at, double *values)
{
    for (int op = 0; op < OPS && section != SECTION_HITS; op++)
        if (scan_word(&at, operations[op]))
            read_operation(section, op, at, values);
    if (section == SECTION_HITS && scan_word(&at, "caps")) {
        (void)scan_number(&at);
        values[CEPH_CAP_MISSES] = scan_number(&at);
        values[CEPH_CAP_HITS] = scan_number(&at);
    }
}

static void read_metrics(const struct sample_file *f, const char *text, double *values)
{
    int section = SECTION_OTHER;

    (void)f;
    for (size_t i = 0; i < CEPH_DATA_NOW && !*text; i++)
        values[i] = (double)NAN;
    do {
        if (scan_word(&text, "item"))
            section = read_head(text);
        else if (section != SECTION_OTHER)
            read_row(section, text, values);
    } while (scan_line(&text));
}

/* "REQUESTS 3 homeless 0", or (before Linux 4.7, and in mdsc) one line for each. An empty file is
 * none in flight, and so is one that cannot be read: there is no telling them apart here, but then
 * the metrics are absent as well. */
static void read_requests(const struct sample_file *f, const char *text, double *values)
{
    double n = 0;

    if (scan_word(&text, "REQUESTS")) {
        n = scan_number(&text);
    } else if (*text) {
        do
            n++;
        while (scan_line(&text));
    }
    values[f->value] = n;
}

static const struct sample_file files[] = {
    { "metrics", 0, false, 1, read_metrics, NULL, 0 }, /* before the others, see read_metrics() */
    { "metrics/latency", 0, false, 1, read_metrics, NULL, 0 },
    { "metrics/size", 0, false, 1, read_metrics, NULL, 0 },
    { "metrics/caps", 0, false, 1, read_metrics, NULL, 0 },
    { "osdc", CEPH_DATA_NOW, false, 1, read_requests, NULL, 0 },
    { "mdsc", CEPH_METADATA_NOW, false, 1, read_requests, NULL, 0 },
};

static const char ceph_folder[] = "sys/kernel/debug/ceph";

/* "0c93a60d-5645-4c46-8568-4c8f63db4c7f.client4267" is called 0c93a60d.client4267. */
static int find(struct sample_files *s)
{
    CLEANUP(str_done) struct str clients = STR_INIT(SAMPLE_LIST);
    char prefix[2 * SAMPLE_PATH], title[2 * SAMPLE_PATH], fsid[SIGNAL_THING];
    int rc = sample_files_list(s, ceph_folder, &clients);

    SAMPLE_EACH(client, &clients)
    {
        const char *id = strstr(client, ".client");

        if (!id || rc < 0)
            continue;
        snprintf(prefix, sizeof(prefix), "%s/%s/", ceph_folder, client);
        snprintf(title, sizeof(title), "%.*s%s", (int)MIN(id - client, 8), client, id);
        snprintf(fsid, sizeof(fsid), "%.*s", (int)(id - client), client);
        rc = sample_files_add(s, title, prefix, files, ARRAY_SIZE(files));
        sample_files_fact(s, 0, fsid);
    }
    return rc;
}

static const char *const folders[] = { ceph_folder, NULL };
static const struct sample_class ceph_class = { &ceph_set, CEPH_VALUES, folders, find, NULL };

static int ceph_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_files_open(state, env, &ceph_class, e);
}

const struct sampler_ops sampler_ceph = { "ceph", &ceph_set, ceph_open, sample_files_sample,
                                          sample_files_close };
