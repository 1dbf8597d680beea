/* NFS mounts: /proc/self/mountstats, whose "per-op statistics" have one line for each operation:
 *
 *     READ: operations transmissions timeouts sent received queue_ms rpc_ms execute_ms errors
 */
#include "probe/sample/sampler.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

enum { MOUNTS_MAX = 256 };

/* Classes of operations, and what is summed of each: the value of both is field * OPS + op. */
enum { OP_READ, OP_WRITE, OP_METADATA, OPS };
enum {
    FIELD_OPERATIONS,
    FIELD_TRANSMISSIONS,
    FIELD_TIMEOUTS,
    FIELD_BYTES,
    FIELD_QUEUE,
    FIELD_RPC,
    FIELD_EXECUTE,
    FIELD_ERRORS,
    FIELDS
};

#define DEFS(name, help) \
    { name, help, SIGNAL_COUNTER, "op=\"read\"" }, { name, help, SIGNAL_COUNTER, "op=\"write\"" }, \
    { \
        name, help, SIGNAL_COUNTER, "op=\"metadata\"" \
    }

static const struct signal_def defs[] = {
    DEFS("operations_total", "operations"),
    DEFS("transmissions_total", "requests sent, those sent again too"),
    DEFS("timeouts_total", "major timeouts"),
    DEFS("bytes_total", "bytes sent and received, with their headers"),
    DEFS("queue_seconds_total", "time before requests were sent, summed"),
    DEFS("rpc_seconds_total", "time from request to answer, summed"),
    DEFS("execute_seconds_total", "time of all operations from start to end, summed"),
    DEFS("errors_total", "operations that ended in an error"),
};

_Static_assert(ARRAY_SIZE(defs) == (size_t)FIELDS * OPS, "a signal for each field and class");

static const struct signal_set nfs_set = { "nfs", "mount", defs, ARRAY_SIZE(defs) };

/* The columns behind the name; statvers before 1.1 has no errors. */
static const struct {
    int field;
    double unit;
} columns[] = {
    { FIELD_OPERATIONS, 1 }, { FIELD_TRANSMISSIONS, 1 }, { FIELD_TIMEOUTS, 1 },
    { FIELD_BYTES, 1 },      { FIELD_BYTES, 1 },         { FIELD_QUEUE, 1e-3 },
    { FIELD_RPC, 1e-3 },     { FIELD_EXECUTE, 1e-3 },    { FIELD_ERRORS, 1 },
};

static const struct {
    const char *name;
    int op;
} operations[] = {
    { "READ", OP_READ },        { "READ_PLUS", OP_READ },       { "WRITE", OP_WRITE },
    { "GETATTR", OP_METADATA }, { "LOOKUP", OP_METADATA },      { "ACCESS", OP_METADATA },
    { "OPEN", OP_METADATA },    { "OPEN_NOATTR", OP_METADATA }, { "CLOSE", OP_METADATA },
    { "READDIR", OP_METADATA }, { "READDIRPLUS", OP_METADATA },
};

/* Pass blanks and that word. */
static bool pass(const char **at, const char *word)
{
    scan_blanks(at);
    return scan_word(at, word) != 0;
}

/* "device HOST:/path mounted on /mnt with fstype nfs4 statvers=1.1" behind its first word: what the
 * mount is called, false when it is none of NFS. */
static bool read_mount(const char *at, char name[SIGNAL_THING])
{
    char mount[PATH_MAX];
    const char *word;
    size_t len;

    if (sample_word(&at, 0, &word) == 0 || !pass(&at, "mounted") || !pass(&at, "on"))
        return false;
    len = sample_word(&at, 0, &word);
    if (len == 0 || sample_mount_decode(word, len, mount, sizeof(mount)) < 0)
        return false;
    sample_mount_name(name, mount);
    if (!pass(&at, "with") || !pass(&at, "fstype"))
        return false;
    return pass(&at, "nfs") || pass(&at, "nfs4");
}

/* The values of a mount's row; of several on one point the last one counts, which is on top. NULL
 * when out of memory. */
static double *add_mount(struct tick *t, const char *name)
{
    const struct signal_row *row = tick_find(t, &nfs_set, name);

    if (!row)
        row = tick_add(t, &nfs_set, name);
    if (!row)
        return NULL;
    for (size_t i = 0; i < nfs_set.n_defs; i++)
        row->values[i] = (double)NAN;
    return row->values;
}

/* Add the counters of one line to its class. */
static void add_operation(const char *at, double *values)
{
    const char *word;
    size_t len = sample_word(&at, ':', &word);
    int op = -1;

    for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
        if (strlen(operations[i].name) == len && !memcmp(word, operations[i].name, len))
            op = operations[i].op;
    if (op < 0 || *at != ':')
        return;
    at++;
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        double *sum = &values[columns[i].field * OPS + op], value = scan_number(&at);

        if (isnan(value)) /* those behind it would be in the wrong column */
            break;
        *sum = (isnan(*sum) ? 0 : *sum) + value * columns[i].unit;
    }
}

/* Where no NFS is mounted the statistics are not read, until something was mounted: most machines
 * have none, and the kernel writes a line for each mount of any kind. */
struct nfs {
    struct sample_table *stats;
    struct kept mounts; /* tells by poll() that they changed */
    bool idle;          /* there was none when the statistics were read last */
};

static void nfs_close(void *state)
{
    struct nfs *s = state;

    sample_table_close(s->stats);
    kept_close(&s->mounts);
    free(s);
}

static int nfs_open(void **state, const struct sampler_env *env, struct err *e)
{
    struct nfs *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return err_nomem(e);
    kept_open(&s->mounts, env->root, "proc/self/mounts");
    rc = sample_table_open(&s->stats, env->root, "proc/self/mountstats", e);
    if (rc < 0) {
        nfs_close(s);
        return rc;
    }
    *state = s;
    return 0;
}

static bool is_needless(struct nfs *s)
{
    struct pollfd fd = { .fd = s->mounts.fd, .events = POLLPRI };

    return s->idle && fd.fd >= 0 && poll(&fd, 1, 0) == 0;
}

static int nfs_sample(void *state, struct tick *t)
{
    struct nfs *s = state;
    char name[SIGNAL_THING];
    double *values = NULL; /* of the mount that the line belongs to, NULL when it is none of ours */
    bool operating = false; /* behind its "per-op statistics" */
    const char *at;
    char *text;
    int rc, n = 0;

    if (is_needless(s))
        return 0;
    rc = sample_table_read(s->stats, &text);
    if (rc < 0)
        return rc;
    at = text;
    do {
        const char *p = at;

        if (pass(&p, "device")) {
            operating = false;
            values = NULL;
            if (!read_mount(p, name) || n++ >= MOUNTS_MAX)
                continue;
            values = add_mount(t, name);
            if (!values)
                return -ENOMEM;
        } else if (values && operating) {
            add_operation(at, values);
        } else if (values) {
            operating = pass(&p, "per-op");
        }
    } while (scan_line(&at));
    s->idle = n == 0;
    return 0;
}

const struct sampler_ops sampler_nfs = { "nfs", &nfs_set, nfs_open, nfs_sample, nfs_close };
