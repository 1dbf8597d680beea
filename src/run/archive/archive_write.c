#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "probe/process/files.h"
#include "probe/process/text.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "run/moment/moment.h"

enum {
    ABOUT_MAX = 1 << 20,
    VALUE_PIECE = 1000,
    LANES_MAX = 256,
    STEPS_AT_ONCE = 256,
    PARTS_OF_NAME = 64,
    LINES_STORED = 100, /* a line that was seen less than once in so many samples is not stored */
    RESERVE = 16 << 10
};

/* Of what is written beside a file and takes its name then. */
static const char draft_suffix[] = ".new";

struct archive_lane {
    int fd; /* -1: not made yet */
    int pid;
    uint64_t written;
    size_t n_notes;
};

struct archive {
    char *folder, *stem; /* RUNS/ID, RUNS/ID/part-HOST-PID */
    int moments;
    off_t moments_size;
    struct run_moment held; /* moments that are being taken into one */
    unsigned n_held, hold;
    uint64_t n_moments;
    struct archive_part part;
    struct archive_lane lanes[LANES_MAX];
};

const char *archive_folder(const struct archive *a)
{
    return a->folder;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    closep(&a->moments);
    for (size_t i = 0; i < LANES_MAX; i++)
        closep(&a->lanes[i].fd);
    free(a->folder);
    free(a->stem);
    free(a);
}

/* Two texts as one, of its own; NULL when out of memory or too long for a path. */
static char *join(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    char *both = n + m < PATH_MAX ? malloc(n + m + 1) : NULL;

    if (!both)
        return NULL;
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    both[n + m] = 0;
    return both;
}

/* All of it or nothing: -ENOSPC and the like. */
static int write_at(int fd, const void *data, size_t len, off_t at)
{
    const char *bytes = data;
    size_t done = 0;

    while (done < len) {
        ssize_t n = pwrite(fd, bytes + done, len - done, at + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

/* flag: O_TRUNC, or O_EXCL */
static int make_file(const struct archive *a, const char *suffix, int flag, int *ret, struct err *e)
{
    CLEANUP(freep) char *path = join(a->stem, suffix);

    if (!path)
        return err_nomem(e);
    *ret = open(path, O_RDWR | O_CREAT | flag | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *ret < 0 ? err_set(e, -errno, "%s: %s", path, strerror(errno)) : 0;
}

/* When our own process was started: with the number, who wrote this. */
static uint64_t own_start(void)
{
    struct process_stat stat;

    return process_stat_here(getpid(), &stat) == 0 ? stat.start_ticks : 0;
}

static int begin_moments(struct archive *a, struct err *e)
{
    union {
        struct archive_moments_header head;
        char bytes[ARCHIVE_HEADER];
    } h = { .head = { .magic = "",
                      .order = ARCHIVE_ORDER,
                      .version = ARCHIVE_VERSION,
                      .header_size = ARCHIVE_HEADER,
                      .record_size = sizeof(struct archive_moment) + RUN_SIGNALS * sizeof(float),
                      .n_signals = RUN_SIGNALS } };
    size_t at = sizeof(h.head);
    int rc;

    memcpy(h.head.magic, ARCHIVE_MOMENTS_MAGIC, sizeof(h.head.magic));
    for (int i = 0; i < RUN_SIGNALS; i++)
        at += (size_t)snprintf(h.bytes + at, sizeof(h.bytes) - at, "%s",
                               run_signal_name((enum run_signal)i)) +
              1;
    (void)flock(a->moments, LOCK_EX | LOCK_NB); /* tells readers in other containers that we live */
    rc = write_at(a->moments, &h, sizeof(h), 0);
    a->moments_size = sizeof(h);
    return rc < 0 ? err_set(e, rc, "%s.moments: %s", a->stem, strerror(-rc)) : 0;
}

/* Take a stem that is nobody's: in another container there may be a process of our number, on a
 * host of the same name, that observes the same job. */
static int claim_part(struct archive *a, struct err *e)
{
    char part[160];
    int rc = -EEXIST;

    for (int i = 0; rc == -EEXIST && i < PARTS_OF_NAME; i++) {
        int n = snprintf(part, sizeof(part), "/part-%s-%d", a->part.host, a->part.pid);

        if (i)
            snprintf(part + n, sizeof(part) - (size_t)n, "-%d", i);
        free(a->stem);
        a->stem = join(a->folder, part);
        if (!a->stem)
            return err_nomem(e);
        rc = make_file(a, ".moments", O_EXCL, &a->moments, e);
    }
    return rc;
}

/* What begins no run is none: on a full disk an empty folder would stay, and be told each time. */
static void remove_own(const struct archive *a)
{
    static const char *const suffixes[] = { ".ini", ".ini.new", ".moments" };

    for (size_t i = 0; a->moments >= 0 && i < ARRAY_SIZE(suffixes); i++) {
        CLEANUP(freep) char *path = join(a->stem, suffixes[i]);

        if (path)
            unlink(path);
    }
    (void)rmdir(a->folder); /* it has parts of others, or goes */
}

int archive_create(struct archive **ret, const char *runs, const struct run *r,
                   int64_t monotonic_ns, struct err *e)
{
    CLEANUP(archive_closep) struct archive *a = calloc(1, sizeof(*a));
    char id[128];
    int rc;

    if (!a)
        return err_nomem(e);
    a->moments = -1;
    a->hold = 1;
    for (size_t i = 0; i < LANES_MAX; i++)
        a->lanes[i].fd = -1;
    a->part.pid = (int)getpid();
    a->part.start_ticks = own_start();
    a->part.pid_space = archive_pid_space();
    a->part.offset_ns = r->begin_ns - monotonic_ns;
    snprintf(a->part.host, sizeof(a->part.host), "%s", r->host);
    snprintf(id, sizeof(id), "/%s", r->id);
    a->folder = join(runs, id);
    if (!a->folder)
        return err_nomem(e);
    rc = runs_make(a->folder, e);
    if (rc == 0)
        rc = claim_part(a, e);
    if (rc == 0)
        rc = archive_about(a, r, e);
    if (rc == 0)
        rc = begin_moments(a, e);
    if (rc < 0) {
        remove_own(a);
        return rc;
    }
    *ret = steal(&a);
    return 0;
}

/* A value of any length and any bytes: what is longer than a line may be goes on under the same
 * key; control characters become '?'. */
static void add_value(struct str *out, const char *key, const char *value)
{
    size_t left = value ? strlen(value) : 0;

    if (!value)
        return;
    do {
        size_t n = MIN(left, (size_t)VALUE_PIECE);

        str_addf(out, "%s = \"", key);
        for (size_t i = 0; i < n; i++) {
            char c = value[i];

            if ((unsigned char)c < ' ' || c == 0x7f)
                c = '?';
            if (c == '"' || c == '\\')
                str_add_char(out, '\\');
            str_add_char(out, c);
        }
        str_add(out, "\"\n");
        value += n;
        left -= n;
    } while (left > 0);
}

static void add_note(struct str *out, const struct run_note *note)
{
    CLEANUP(str_done) struct str both = STR_INIT(ABOUT_MAX);

    str_addf(&both, "%s=%s", note->name, note->value);
    str_add(out, "[note]\n");
    add_value(out, "note", str_text(&both));
    str_fail(out, str_error(&both));
}

/* A draft of twice the size, whose blocks are there: on a disk that is full by then the run's end
 * can still be written. Where there is no room for it the end may have none. */
static void reserve(const char *path, size_t len)
{
    CLEANUP(freep) char *draft = join(path, draft_suffix);
    CLEANUP(closep) int fd = -1;

    if (!draft)
        return;
    fd = open(draft, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && posix_fallocate(fd, 0, (off_t)MAX(2 * len, (size_t)RESERVE)) != 0)
        unlink(draft);
}

/* There whole or not at all, but not flushed to the disk: that may take seconds, in which signals
 * to the job would wait. */
static int put_text(const char *path, const struct str *text, struct err *e)
{
    CLEANUP(freep) char *draft = join(path, draft_suffix);
    CLEANUP(closep) int fd = -1;
    int rc;

    if (!draft)
        return err_nomem(e);
    fd = open(draft, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    rc = fd < 0 ? -errno : write_at(fd, str_text(text), text->len, 0);
    if (rc == 0 && ftruncate(fd, (off_t)text->len) < 0)
        rc = -errno;
    if (rc == 0 && rename(draft, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(draft);
    return rc < 0 ? err_set(e, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static void add_number(struct str *out, const char *key, double value)
{
    if (isfinite(value))
        str_addf(out, "%s = %.9g\n", key, value);
}

static void add_rates(struct str *out, const char *section, const struct run_rates *r)
{
    str_addf(out, "[%s]\n", section);
    add_number(out, "steps_per_s", r->steps_per_s);
    add_number(out, "samples_per_s", r->samples_per_s);
    add_number(out, "price", r->price);
}

static void add_trial(struct str *out, const struct run_trial *k)
{
    str_add(out, "[trial]\n");
    add_value(out, "knob", k->knob);
    add_value(out, "value", k->value);
    add_value(out, "before", k->before);
    add_value(out, "also", k->also);
    add_value(out, "note", k->note);
    str_addf(out, "end = %s\n", run_trial_end_name(k->end));
    add_number(out, "gain", k->gain);
    add_number(out, "low", k->low);
    add_number(out, "high", k->high);
    add_number(out, "speed", k->speed);
    str_addf(out, "steps = %u\nstarts = %u\nbegin_ns = %lld\nend_ns = %lld\n", k->steps, k->starts,
             (long long)k->begin_ns, (long long)k->end_ns);
}

static void add_tuning(struct str *out, const struct run_tuning *t)
{
    str_addf(out, "[tuning]\ngoal = %s\n", run_goal_name(t->goal));
    add_rates(out, "tuning.before", &t->before);
    add_rates(out, "tuning.after", &t->after);
    for (size_t i = 0; i < t->n_trials; i++)
        add_trial(out, &t->trials[i]);
}

static void add_lines(struct str *out, const struct lines *l)
{
    if (!l->n && !l->off[0])
        return;
    str_add(out, "[lines]\n");
    if (l->off[0])
        add_value(out, "off", l->off);
    for (unsigned s = 0; s < LINES_STAGES; s++)
        if (l->total[s])
            str_addf(out, "%s = %u\n", lines_stage_name(s), l->total[s]);
    for (size_t i = 0; i < l->n; i++) {
        const struct lines_entry *k = &l->entries[i];

        if (k->count * LINES_STORED < l->total[k->stage])
            continue;
        str_addf(out, "[line]\nstage = %s\nseen = %u\nline = %d\n", lines_stage_name(k->stage),
                 k->count, k->at.line);
        add_value(out, "file", k->at.file);
        add_value(out, "function", k->at.function);
        add_value(out, "callee", k->callee[0] ? k->callee : NULL);
        if (!k->caller.file[0])
            continue;
        str_addf(out, "from_line = %d\n", k->caller.line);
        add_value(out, "from_file", k->caller.file);
        add_value(out, "from_function", k->caller.function);
    }
}

int archive_about(struct archive *a, const struct run *r, struct err *e)
{
    static const char *const ends[] = { "running", "exited", "killed", "lost" };
    CLEANUP(str_done) struct str out = STR_INIT(ABOUT_MAX);
    CLEANUP(freep) char *path = join(a->stem, ".ini");
    int rc;

    str_addf(&out, "[run]\nversion = %d\n", ARCHIVE_VERSION);
    add_value(&out, "id", r->id);
    add_value(&out, "name", r->name);
    add_value(&out, "command", r->command);
    add_value(&out, "folder", r->folder);
    add_value(&out, "user", r->user);
    add_value(&out, "host", r->host);
    str_addf(&out, "pid = %d\nstart_ticks = %llu\npid_space = %llu\noffset_ns = %lld\n",
             a->part.pid, (unsigned long long)a->part.start_ticks,
             (unsigned long long)a->part.pid_space, (long long)a->part.offset_ns);
    str_addf(&out, "begin_ns = %lld\nend_ns = %lld\nend = %s\nstatus = %d\n",
             (long long)r->begin_ns, (long long)r->end_ns, ends[r->end], r->status);
    add_value(&out, "inferred", r->inferred);
    if (r->inferred)
        str_addf(&out, "confidence = %.3f\n", r->inferred_confidence);
    for (size_t i = 0; i < r->n_environment; i++)
        add_note(&out, &r->environment[i]);
    if (r->tuning)
        add_tuning(&out, r->tuning);
    if (r->lines)
        add_lines(&out, r->lines);
    if (!path || str_error(&out))
        return err_nomem(e);
    rc = put_text(path, &out, e);
    if (rc == 0 && r->end == RUN_RUNNING)
        reserve(path, out.len);
    return rc;
}

static int put_moment(struct archive *a, const struct run_moment *m, struct err *e)
{
    struct {
        struct archive_moment head;
        float values[RUN_SIGNALS];
    } record = { .head = { m->wall_ns, m->monotonic_ns, m->seconds } };
    size_t size = sizeof(record.head) + sizeof(record.values);
    char bytes[sizeof(record)];
    int rc;

    for (int i = 0; i < RUN_SIGNALS; i++)
        record.values[i] = (float)m->values[i];
    memcpy(bytes, &record.head, sizeof(record.head));
    memcpy(bytes + sizeof(record.head), record.values, sizeof(record.values));
    rc = write_at(a->moments, bytes, size, a->moments_size);
    if (rc < 0) /* half a record may be there: the next one is written over it */
        return err_set(e, rc, "%s.moments: %s", a->stem, strerror(-rc));
    a->moments_size += (off_t)size;
    if (++a->n_moments % ARCHIVE_FINE == 0)
        a->hold *= 2;
    return 0;
}

int archive_moment(struct archive *a, const struct run_moment *m, struct err *e)
{
    if (a->n_held == 0)
        a->held = *m;
    else
        moment_merge(&a->held, m);
    if (++a->n_held < a->hold)
        return 0;
    a->n_held = 0;
    return put_moment(a, &a->held, e);
}

static void fill_total(struct archive_total *to, const struct step *s)
{
    *to = (struct archive_total){ .count = s->number,
                                  .collectives = s->collectives,
                                  .begin_ns = s->begin_ns,
                                  .end_ns = s->end_ns,
                                  .samples = s->samples,
                                  .loss = s->loss,
                                  .backwards = s->backwards,
                                  .collective_s = s->collective_s,
                                  .collective_b = s->collective_b };
    memcpy(to->host_s, s->host_s, sizeof(to->host_s));
    memcpy(to->device_s, s->device_s, sizeof(to->device_s));
}

static int put_header(const struct archive_lane *at, const struct rank_steps *l,
                      uint32_t notes_used)
{
    struct archive_steps_header h = { .order = ARCHIVE_ORDER,
                                      .version = ARCHIVE_VERSION,
                                      .header_size = ARCHIVE_HEADER,
                                      .notes_size = ARCHIVE_NOTES,
                                      .record_size = sizeof(struct archive_step),
                                      .first = LANE_FIRST,
                                      .last = LANE_LAST,
                                      .rank = l->rank,
                                      .local_rank = l->local_rank,
                                      .world = l->world,
                                      .pid = l->pid,
                                      .notes_used = notes_used };

    memcpy(h.magic, ARCHIVE_STEPS_MAGIC, sizeof(h.magic));
    memcpy(h.host, l->host, sizeof(h.host));
    memcpy(h.framework, l->framework, sizeof(h.framework));
    fill_total(&h.total, &l->total);
    return write_at(at->fd, &h, sizeof(h), 0);
}

static int put_notes(const struct archive_lane *at, const struct rank_steps *l, uint32_t *used)
{
    CLEANUP(str_done) struct str out = STR_INIT(ARCHIVE_NOTES);

    for (size_t i = 0; i < l->n_notes && !str_error(&out); i++) {
        str_addf(&out, "%s=%s", l->notes[i].name, l->notes[i].value);
        str_add_char(&out, '\0');
    }
    *used = (uint32_t)out.len;
    if (str_error(&out) == -ENOMEM)
        return -ENOMEM;
    return out.len ? write_at(at->fd, str_text(&out), out.len, ARCHIVE_HEADER) : 0;
}

static void fill_step(struct archive_step *to, uint64_t n, const struct step *s)
{
    *to = (struct archive_step){ .number = n + 1,
                                 .begin_ns = s->begin_ns,
                                 .end_ns = s->end_ns,
                                 .samples = (float)s->samples,
                                 .loss = (float)s->loss,
                                 .backwards = (float)s->backwards,
                                 .collective_s = (float)s->collective_s,
                                 .collective_b = s->collective_b,
                                 .collectives = s->collectives };
    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        to->host_s[i] = (float)s->host_s[i];
        to->device_s[i] = (float)s->device_s[i];
    }
}

/* Steps that lie beside each other go in one write. */
static int put_steps(struct archive_lane *at, const struct rank_steps *l)
{
    struct archive_step batch[STEPS_AT_ONCE];
    uint64_t n = at->written;

    if (l->count > LANE_LAST && n < l->count - LANE_LAST && n >= LANE_FIRST)
        n = l->count - LANE_LAST; /* what came in between is overwritten already */
    while (n < l->count) {
        size_t slot = rank_steps_slot(n), count = 0;
        int rc;

        for (; count < STEPS_AT_ONCE && n < l->count && rank_steps_slot(n) == slot + count; n++)
            fill_step(&batch[count++], n, &l->steps[rank_steps_slot(n)]);
        rc = write_at(at->fd, batch, count * sizeof(*batch),
                      ARCHIVE_HEADER + ARCHIVE_NOTES + (off_t)(slot * sizeof(*batch)));
        if (rc < 0)
            return rc;
        at->written = n;
    }
    return 0;
}

/* A rank marks its steps, which had been counted from outside: these go. */
static int begin_anew(struct archive_lane *at)
{
    at->written = 0;
    return ftruncate(at->fd, ARCHIVE_HEADER + ARCHIVE_NOTES) < 0 ? -errno : 0;
}

int archive_lane(struct archive *a, size_t i, const struct rank_steps *l, struct err *e)
{
    struct archive_lane *at;
    char suffix[32];
    uint32_t used = 0;
    int rc = 0;

    if (i >= LANES_MAX)
        return 0;
    at = &a->lanes[i];
    if (at->fd >= 0 && at->pid != l->pid)
        rc = begin_anew(at);
    if (rc < 0)
        return err_set(e, rc, "%s-%zu.steps: %s", a->stem, i, strerror(-rc));
    at->pid = l->pid;
    if (at->fd >= 0 && at->written == l->count && at->n_notes == l->n_notes && l->count)
        return 0;
    snprintf(suffix, sizeof(suffix), "-%zu.steps", i);
    if (at->fd < 0)
        rc = make_file(a, suffix, O_TRUNC, &at->fd, e);
    if (rc < 0)
        return rc;
    rc = put_notes(at, l, &used);
    if (rc == 0)
        rc = put_steps(at, l);
    if (rc == 0)
        rc = put_header(at, l, used);
    if (rc < 0)
        return err_set(e, rc, "%s%s: %s", a->stem, suffix, strerror(-rc));
    at->n_notes = l->n_notes;
    return 0;
}
