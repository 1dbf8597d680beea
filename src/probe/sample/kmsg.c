/* The kernel's log, /dev/kmsg: one read() is one record. In a copy of a root it is a file with the
 * records behind each other.
 *
 * Records of before the start are read too, and those of them that tell of a fault which lasts are
 * events. Their time is the boot's and the record's, so that it is the same after a restart. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "nvlink5_csv.h"
#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/kmsg.h"
#include "probe/kernel/kmsg_fold.h"
#include "probe/kernel/scan.h"
#include "probe/sample/sampler.h"
#include "sxid_csv.h"
#include "xid_csv.h"

enum {
    RECORD_MAX = 8192,    /* CONSOLE_EXT_LOG_MAX of kernels before 6.3; later ones have 2048 */
    RECORDS_TICK = 64,    /* a tick reads so many at most ... */
    RECORDS_FIRST = 1024, /* ... and so many while there is a backlog from before the start */
    XIDS_MAX = 128,       /* pairs of GPU and code that are counted apart */
};

#define KIND(name, help) \
    { \
        "events_total", help, SIGNAL_COUNTER, "kind=\"" name "\"" \
    }
#define KIND_HELP "lines of the kernel log that mean something"

static const struct signal_def defs[] = {
    KIND("xid", KIND_HELP),
    KIND("sxid", KIND_HELP),
    KIND("aer", KIND_HELP),
    KIND("oom", KIND_HELP),
    KIND("nfs", KIND_HELP),
    KIND("hung_task", KIND_HELP),
    KIND("mce", KIND_HELP),
    KIND("edac", KIND_HELP),
    KIND("disk", KIND_HELP),
    KIND("fs", KIND_HELP),
    KIND("thermal", KIND_HELP),
    KIND("net_link", KIND_HELP),
    KIND("nic", KIND_HELP),
    KIND("gpu_hang", KIND_HELP),
    KIND("gpu_reset", KIND_HELP),
    KIND("gpu_ras", KIND_HELP),
    KIND("lockup", KIND_HELP),
    KIND("rcu_stall", KIND_HELP),
    KIND("lustre", KIND_HELP),
    KIND("memory_failure", KIND_HELP),
    { "records_total", "records of the kernel log that were read", SIGNAL_COUNTER, NULL },
    { "lost_records_total", "records that were overwritten before they were read", SIGNAL_COUNTER,
      NULL },
};
enum { DEF_RECORDS = KMSG_KINDS, DEF_LOST, DEFS };

_Static_assert(ARRAY_SIZE(defs) == DEFS, "a counter for each kind, and two more");

static const struct signal_set kmsg_set = { "kernel_event", NULL, defs, ARRAY_SIZE(defs) };

static const struct signal_def xid_defs[] = {
    { "events_total", "how often the GPU reported this XID", SIGNAL_COUNTER, NULL },
    { "last_timestamp_seconds", "when it last did, since 1970", SIGNAL_GAUGE, NULL },
};
static const char *const xid_facts[] = { "pci", "code", "name", NULL };
static const struct signal_set xid_set = {
    "xid", "id", xid_defs, ARRAY_SIZE(xid_defs), xid_facts, 0
};

struct xid_count {
    char pci[EVENT_THING];
    int code;
    double count, last_s;
};

struct kmsg_log {
    int fd;
    bool file;      /* a copy, and no device */
    off_t offset;   /* in a copy */
    bool caught_up; /* the backlog was read */
    bool told_lost, told_closed;
    int64_t start_us; /* by the log's clock; -1: no sample yet */
    int64_t boot_ns;  /* since 1970; -1: not known */
    uint64_t next;    /* sequence number expected; 0: not known */
    double counts[DEFS];
    struct faults faults;
    struct kmsg_fold fold;
    struct xid_count xids[XIDS_MAX];
    size_t n_xids;
    char buf[RECORD_MAX + 1];
};

/* When the kernel was started, in /proc/stat. */
static int64_t read_boot(int root)
{
    struct kept stat;
    char text[65536];
    const char *at = text;
    int64_t boot = -1;

    kept_open(&stat, root, "proc/stat");
    if (kept_read(&stat, text, sizeof(text)) > 0)
        do
            if (scan_word(&at, "btime")) {
                double seconds = scan_number(&at);

                if (seconds < (double)(INT64_MAX / 2000000000))
                    boot = (int64_t)seconds * NS_PER_S;
            }
        while (scan_line(&at));
    kept_close(&stat);
    return boot;
}

static void log_close(struct kmsg_log *k)
{
    if (k->fd >= 0)
        close(k->fd);
    faults_done(&k->faults);
    free(k);
}
DEFINE_CLEANUP(struct kmsg_log, log_close)

/* Open the log. That it may not be read is told later, and no reason to do without the rest. */
static int open_log(struct kmsg_log *k, const struct sampler_env *env)
{
    struct stat st;

    k->fd = openat(env->root, "dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (k->fd < 0)
        return env->live && (errno == EPERM || errno == EACCES) ? 0 : -ENOENT;
    if (fstat(k->fd, &st) < 0)
        return -errno;
    k->file = S_ISREG(st.st_mode);
    return k->file || (env->live && S_ISCHR(st.st_mode)) ? 0 : -ENOENT;
}

static int kmsg_open(void **state, const struct sampler_env *env, struct err *e)
{
    const struct fault_text xid = { data_xid_csv, data_xid_csv_len };
    const struct fault_text nvlink5 = { data_nvlink5_csv, data_nvlink5_csv_len };
    const struct fault_text sxid = { data_sxid_csv, data_sxid_csv_len };
    CLEANUP(log_closep) struct kmsg_log *k = calloc(1, sizeof(*k));
    int rc;

    if (!k)
        return err_nomem(e);
    k->start_us = -1;
    rc = open_log(k, env);
    if (rc < 0)
        return rc;
    rc = faults_load(&k->faults, &xid, &nvlink5, &sxid, e);
    if (rc < 0)
        return rc;
    k->boot_ns = read_boot(env->root);
    *state = steal(&k);
    return 0;
}

static void kmsg_close(void *state)
{
    log_close(state);
}

/* The next record of a copy: up to a newline that no blank follows. A last one without its newline
 * is not read yet. */
static int read_copy(struct kmsg_log *k)
{
    ssize_t got = pread(k->fd, k->buf, RECORD_MAX, k->offset);
    char *end = k->buf;

    if (got <= 0)
        return got < 0 ? -errno : -EAGAIN;
    do {
        end = memchr(end, '\n', (size_t)(got - (end - k->buf)));
        if (!end && got < RECORD_MAX)
            return -EAGAIN;
        end = end ? end + 1 : k->buf + got;
    } while (end < k->buf + got && *end == ' ');
    k->offset += end - k->buf;
    return (int)(end - k->buf);
}

/* A record's length; -EAGAIN: no more, -EPIPE: some were overwritten. */
static int read_record(struct kmsg_log *k)
{
    ssize_t got;

    if (k->file)
        return read_copy(k);
    do
        got = read(k->fd, k->buf, RECORD_MAX);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got == 0 ? -EAGAIN : (int)got;
}

static void count_xid(struct kmsg_log *k, const struct event *e)
{
    struct xid_count *c = NULL;

    for (size_t i = 0; i < k->n_xids; i++)
        if (k->xids[i].code == e->code && !strcmp(k->xids[i].pci, e->thing))
            c = &k->xids[i];
    if (!c && k->n_xids == XIDS_MAX)
        return;
    if (!c) {
        c = &k->xids[k->n_xids++];
        memcpy(c->pci, e->thing, sizeof(c->pci));
        c->code = e->code;
    }
    c->count++;
    c->last_s = clock_seconds(e->wall_ns);
}

static void count(struct kmsg_log *k, const struct event *e)
{
    for (size_t i = 0; i < KMSG_KINDS; i++)
        if (!strcmp(kmsg_kind(i), e->kind))
            k->counts[i]++;
    if (!strcmp(e->kind, "xid"))
        count_xid(k, e);
}

/* What is still worth telling after a restart of the agent: a fault lasts until a reset. */
static bool lasts(const struct event *e)
{
    return !strcmp(e->kind, "xid") || !strcmp(e->kind, "sxid") || !strcmp(e->kind, "oom") ||
           (!strcmp(e->kind, "aer") && e->severity == SEVERITY_CRITICAL);
}

static int add_event(struct tick *t, const struct event *e)
{
    struct event *to = tick_event(t, e->kind, e->severity, e->code);

    if (!to)
        return t->n_events == EVENTS_MAX ? 0 : -ENOMEM;
    *to = *e;
    return 0;
}

/* An event of the agent's own, of now. */
static int add_own(struct tick *t, enum severity severity, const char *text, const char *action)
{
    struct event e = {
        .wall_ns = t->wall_ns, .kind = "kernel_log", .severity = severity, .code = -1
    };

    snprintf(e.text, sizeof(e.text), "%s", text);
    snprintf(e.action, sizeof(e.action), "%s", action);
    return add_event(t, &e);
}

static int take_record(struct kmsg_log *k, struct tick *t, size_t len)
{
    struct kmsg record;
    struct event e;

    if (kmsg_parse(k->buf, len, &record) < 0)
        return 0;
    k->counts[DEF_RECORDS]++;
    if (k->next && record.sequence > k->next)
        k->counts[DEF_LOST] += (double)(record.sequence - k->next);
    k->next = record.sequence + 1;
    if (!kmsg_event(&record, &k->faults, &e))
        return 0;
    /* without the time of boot, as long ago as the log's clock says */
    e.wall_ns = (k->boot_ns >= 0 ? k->boot_ns : t->wall_ns - t->monotonic_ns);
    if (__builtin_mul_overflow(record.us, 1000, &record.us) ||
        __builtin_add_overflow(e.wall_ns, record.us, &e.wall_ns))
        return 0;
    count(k, &e);
    if (record.us < k->start_us * 1000 && !lasts(&e))
        return 0;
    return kmsg_fold(&k->fold, &e, record.us) ? 0 : add_event(t, &e);
}

static int read_all(struct kmsg_log *k, struct tick *t)
{
    int n = k->caught_up ? RECORDS_TICK : RECORDS_FIRST;
    int rc = 0;

    /* what finds no room for events stays in the kernel's buffer for the next tick */
    while (rc == 0 && n-- > 0 && t->n_events < EVENTS_MAX - 1) {
        int len = read_record(k);

        if (len >= 0) {
            rc = take_record(k, t, (size_t)len);
        } else if (len == -EPIPE) {
            if (!k->told_lost)
                rc = add_own(t, SEVERITY_NOTE,
                             "lines of the kernel log were overwritten before they were read",
                             "enlarge the log: log_buf_len=4M on the kernel's command line");
            k->told_lost = k->told_lost || rc == 0;
        } else {
            k->caught_up = true;
            break;
        }
    }
    return rc;
}

static int add_rows(const struct kmsg_log *k, struct tick *t)
{
    struct signal_row *row = tick_add(t, &kmsg_set, "");

    if (!row)
        return -ENOMEM;
    memcpy(row->values, k->counts, sizeof(k->counts));
    for (size_t i = 0; i < k->n_xids; i++) {
        const struct xid_count *c = &k->xids[i];
        const struct fault *f = fault_xid(&k->faults, c->code);
        char text[SIGNAL_THING];

        snprintf(text, sizeof(text), "%.30s/%d", c->pci, c->code);
        row = tick_add(t, &xid_set, text);
        if (!row)
            return -ENOMEM;
        row->values[0] = c->count;
        row->values[1] = c->last_s;
        tick_fact(row, 0, c->pci);
        snprintf(text, sizeof(text), "%d", c->code);
        tick_fact(row, 1, text);
        tick_fact(row, 2, f ? f->name : "");
    }
    return 0;
}

static int kmsg_sample(void *state, struct tick *t)
{
    struct kmsg_log *k = state;
    int rc;

    if (k->fd < 0) {
        if (k->told_closed)
            return 0;
        k->told_closed = true;
        return add_own(t, SEVERITY_UNKNOWN, "the kernel log may not be read",
                       "run the agent as root, or give it CAP_SYSLOG");
    }
    if (k->start_us < 0)
        k->start_us = t->monotonic_ns / 1000;
    rc = read_all(k, t);
    return rc < 0 ? rc : add_rows(k, t);
}

static const struct signal_set *const more[] = { &xid_set, NULL };

const struct sampler_ops sampler_kmsg = { "kmsg",      &kmsg_set,  kmsg_open,
                                          kmsg_sample, kmsg_close, more };
