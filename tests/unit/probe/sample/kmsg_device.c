/* The kernel log as the device that it is: what read() says of it, record by record. Link with
 * --wrap=read and --wrap=openat64. */
#include <fcntl.h>
#include <stdarg.h>

#include "sampled.h"

extern const struct sampler_ops sampler_kmsg;

/* What read() returns next: a record, or an error. */
struct answer {
    const char *text;
    int error;
};

static const struct answer *next;
static bool closed; /* the log may not be opened */

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);
int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
    size_t len;

    if (!next)
        return __real_read(fd, buf, size);
    if (!next->text && !next->error)
        return 0;
    if (next->error) {
        errno = next++->error;
        return -1;
    }
    len = MIN(strlen(next->text), size);
    memcpy(buf, next++->text, len);
    return (ssize_t)len;
}

int __wrap_openat64(int dir, const char *path, int flags, ...)
{
    va_list ap;
    mode_t mode;

    va_start(ap, flags);
    mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (closed && !strcmp(path, "dev/kmsg")) {
        errno = EACCES;
        return -1;
    }
    return __real_openat64(dir, path, flags, mode);
}

static int open_live(struct sampled *s, bool live)
{
    const struct sampler_env env = { .root = s->root, .live = live };

    sampled_close(s);
    return s->ops->open(&s->state, &env, NULL);
}

static int sample(struct sampled *s, int second, const struct answer *answers)
{
    int rc;

    next = answers;
    rc = sampled_at(s, second);
    next = NULL;
    return rc;
}

/* Lines that were overwritten are told once; reading goes on behind them. */
static void test_lost(struct sampled *s)
{
    static const struct answer first[] = {
        { "6,4,1000000,-;Linux version 6.1\n", 0 },
        { NULL, EINTR },
        { NULL, EPIPE },
        { "3,9,101000000,-;I/O error, dev sda, sector 1\n", 0 },
        { NULL, EPIPE },
        { "3,20,102000000,-;nfs: server x OK\n", 0 },
        { NULL, EAGAIN },
        { "3,21,102000000,-;I/O error, dev sdb, sector 1\n", 0 },
    };
    static const struct answer second[] = { { NULL, EPIPE }, { NULL, EPIPE }, { NULL, 0 } };

    is_int(sample(s, 100, first), 1, "the counters have a row where lines were overwritten");
    is_int((int)s->tick.n_events, 3, "the loss is one event beside two of the log's");
    is_str(s->tick.events[0].kind, "kernel_log", "the first event is the loss");
    is_str(s->tick.events[0].text, "lines of the kernel log were overwritten before they were read",
           "the event says what was lost");
    is_str(s->tick.events[0].action, "enlarge the log: log_buf_len=4M on the kernel's command line",
           "the event says what to do about it");
    is_int((int)s->tick.events[0].severity, SEVERITY_NOTE, "the loss is a note");
    is_value(s, "", "records_total", "3");
    is_value(s, "", "lost_records_total", "14");
    is_int(sample(s, 101, second), 1, "the counters have a row when more lines are lost");
    is_int((int)s->tick.n_events, 0, "the loss is not told again");
    is_value(s, "", "lost_records_total", "14");
}

/* An error ends a tick, and not the log. */
static void test_errors(struct sampled *s)
{
    static const struct answer bad[] = { { NULL, EIO },
                                         { "3,21,103000000,-;I/O error, dev sdd, sector 1\n", 0 },
                                         { NULL, 0 } };

    is_int(sample(s, 102, bad), 1, "the counters have a row when the log cannot be read");
    is_int((int)s->tick.n_events, 0, "nothing is read behind an error");
    is_int(sample(s, 103, bad + 1), 1, "the counters have a row when it can be read again");
    is_int((int)s->tick.n_events, 1, "the record behind an error comes in the next tick");
    is_value(s, "", "records_total", "4");
}

/* Once it has caught up it reads 64 records a tick at most, before 1024. */
static void test_backlog(struct sampled *s)
{
    static char texts[1100][64];
    static struct answer many[1101];

    for (int i = 0; i < 1100; i++) {
        snprintf(texts[i], sizeof(texts[i]), "6,%d,1000000,-;line\n", i);
        many[i] = (struct answer){ texts[i], 0 };
    }
    is_int(open_live(s, true), 0, "the sampler opens with a backlog");
    is_int(sample(s, 100, many), 1, "the counters have a row with a backlog");
    is_value(s, "", "records_total", "1024");
    is_int(sample(s, 101, many + 1024), 1, "the counters have a row behind a backlog");
    is_value(s, "", "records_total", "1100");
    is_int(sample(s, 102, many), 1, "the counters have a row when it has caught up");
    is_value(s, "", "records_total", "1164");
}

static void test_closed(struct sampled *s)
{
    closed = true;
    is_int(open_live(s, false), -ENOENT, "a copy whose log may not be read has none");
    is_int(open_live(s, true), 0, "the sampler opens where the log may not be read");
    is_int(sample(s, 100, NULL), 0, "a log that may not be read has no rows");
    is_int((int)s->tick.n_events, 1, "an event tells of a log that may not be read");
    is_str(s->tick.events[0].text, "the kernel log may not be read", "the event says so");
    is_str(s->tick.events[0].action, "run the agent as root, or give it CAP_SYSLOG",
           "the event says what to do");
    is_int((int)s->tick.events[0].severity, SEVERITY_UNKNOWN, "what there is is not known");
    is_int(sample(s, 101, NULL), 0, "a log that may not be read has no rows later");
    is_int((int)s->tick.n_events, 0, "the sampler tells once that the log may not be read");
    closed = false;
}

int main(void)
{
    char path[PATH_MAX];
    struct sampled s;

    sampled_make(&s, &sampler_kmsg);
    folder_text(s.folder, "proc/stat", "cpu 1 2 3\nbtime 1700000000\n");
    is_int(open_live(&s, true), -ENOENT, "the sampler does not open without a log");
    folder_path(s.folder, "dev/kmsg", path);
    folder_need(symlink("/dev/null", path), path);
    is_int(open_live(&s, false), -ENOENT, "a device is no log of a copy");
    is_int(open_live(&s, true), 0, "the sampler opens with a device");
    test_lost(&s);
    test_errors(&s);
    test_backlog(&s);
    test_closed(&s);
    sampled_remove(&s);
    return done();
}
