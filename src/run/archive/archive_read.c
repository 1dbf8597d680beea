/* One piece of a run each: any bytes are read, what is broken is left out or refused. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "run/archive/lines_read.h"
#include "run/archive/trials_read.h"

enum { VALUE_MAX = 1 << 18, NOTES_MAX = 1024, ID_MAX = 64 };

/* Times beyond are broken; those within can be added and taken off. */
#define TIME_MAX (INT64_MAX / 4)

struct about {
    struct run *run;
    struct archive_part *part;
    struct str note;
    struct trials_read trials;
    struct lines_read lines;
    bool version;
};

/* What goes on under the same key is one text. */
static int add_text(struct run *r, const char **to, const char *more, struct err *e)
{
    size_t len = *to ? strlen(*to) : 0;

    if (len + strlen(more) > VALUE_MAX)
        return err_set(e, -EINVAL, "a value is larger than %d bytes", VALUE_MAX);
    *to = arena_printf(&r->arena, "%s%s", *to ? *to : "", more);
    return *to ? 0 : err_nomem(e);
}

static int end_note(struct about *a, struct err *e)
{
    struct run *r = a->run;
    const char *text = str_text(&a->note), *equals = strchr(text, '=');
    struct run_note *note;

    if (str_error(&a->note))
        return err_nomem(e);
    if (equals && r->n_environment < NOTES_MAX) {
        note = ARENA_PUSH(&r->arena, &r->environment, &r->n_environment);
        if (!note)
            return err_nomem(e);
        note->name = arena_strndup(&r->arena, text, (size_t)(equals - text));
        note->value = arena_strdup(&r->arena, equals + 1);
        if (!note->name || !note->value)
            return err_nomem(e);
    }
    str_reset(&a->note);
    return 0;
}

static int take_number(const struct ini_entry *at, struct about *a, struct err *e)
{
    const struct {
        const char *key;
        int64_t *to;
    } numbers[] = { { "begin_ns", &a->run->begin_ns },
                    { "end_ns", &a->run->end_ns },
                    { "offset_ns", &a->part->offset_ns },
                    { "interval_ns", &a->part->interval_ns } };
    int64_t value = 0;

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        if (strcmp(at->key, numbers[i].key) != 0)
            continue;
        if (parse_i64(at->value, numbers[i].to) < 0)
            return err_set(e, -EINVAL, "%s:%d: %s is no number", at->file, at->line, at->key);
        return 0;
    }
    if (!strcmp(at->key, "pid") || !strcmp(at->key, "status") || !strcmp(at->key, "version")) {
        if (parse_i64(at->value, &value) < 0 || value < 0 || value > INT32_MAX)
            return err_set(e, -EINVAL, "%s:%d: %s is no number", at->file, at->line, at->key);
        if (*at->key == 'p')
            a->part->pid = (int)value;
        else if (*at->key == 's')
            a->run->status = (int)value;
        else if (value != ARCHIVE_VERSION)
            return err_set(e, -EPROTONOSUPPORT, "%s: written by another version of brim (%d)",
                           at->file, (int)value);
        a->version |= *at->key == 'v';
        return 0;
    }
    if ((!strcmp(at->key, "start_ticks") && parse_u64(at->value, &a->part->start_ticks) < 0) ||
        (!strcmp(at->key, "pid_space") && parse_u64(at->value, &a->part->pid_space) < 0) ||
        (!strcmp(at->key, "confidence") &&
         parse_double(at->value, &a->run->inferred_confidence) < 0))
        return err_set(e, -EINVAL, "%s:%d: %s is no number", at->file, at->line, at->key);
    return 0;
}

static int take_end(const struct ini_entry *at, enum run_end *ret, struct err *e)
{
    static const char *const ends[] = { "running", "exited", "killed", "lost" };

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        if (strcmp(at->value, ends[i]) != 0)
            continue;
        *ret = (enum run_end)i;
        return 0;
    }
    return err_set(e, -EINVAL, "%s:%d: '%.40s' is no end of a run", at->file, at->line, at->value);
}

/* It is shown, typed, and a name of files: what brim gives is digits and '-'. */
static int take_id(struct run *r, const struct ini_entry *at, struct err *e)
{
    static const char safe[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
    size_t len = strlen(at->value);

    if (len == 0 || len > ID_MAX || *at->value == '.' || strspn(at->value, safe) != len)
        return err_set(e, -EINVAL, "%s:%d: '%.40s' is no id of a run", at->file, at->line,
                       at->value);
    return add_text(r, &r->id, at->value, e);
}

/* A section of what is not the run itself; keys of those that are not known here are left out. */
static int take_other(struct about *a, const struct ini_entry *at, struct err *e)
{
    int rc = trials_read_take(&a->trials, at, e);

    return rc == 0 ? lines_read_take(&a->lines, at, e) : rc;
}

static int take_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct about *a = ctx;
    struct run *r = a->run;
    const struct {
        const char *key, **to;
    } texts[] = { { "name", &r->name }, { "command", &r->command }, { "folder", &r->folder },
                  { "user", &r->user }, { "host", &r->host },       { "inferred", &r->inferred } };

    if (!at->key && end_note(a, e) < 0)
        return err_nomem(e);
    if (!at->key)
        return take_other(a, at, e);
    if (!strcmp(at->section, "note")) {
        if (!strcmp(at->key, "note"))
            str_add(&a->note, at->value);
        return 0;
    }
    if (strcmp(at->section, "run") != 0)
        return take_other(a, at, e);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (!strcmp(at->key, texts[i].key))
            return add_text(r, texts[i].to, at->value, e);
    if (!strcmp(at->key, "id"))
        return take_id(r, at, e);
    if (!strcmp(at->key, "end"))
        return take_end(at, &r->end, e);
    return take_number(at, a, e);
}

int archive_parse_about(const char *text, size_t len, struct run *r, struct archive_part *part,
                        struct err *e)
{
    struct about a = {
        .run = r,
        .part = part,
        .note = STR_INIT(VALUE_MAX),
        .trials = { .run = r },
        .lines = { .run = r },
    };
    int rc;

    *part = (struct archive_part){ .pid = -1 };
    rc = ini_parse("run.ini", text, len, take_entry, &a, e);
    if (rc == 0)
        rc = end_note(&a, e);
    trials_read_end(&a.trials);
    lines_read_end(&a.lines);
    str_done(&a.note);
    if (rc < 0)
        return rc;
    if (!a.version || !r->id || !r->host)
        return err_set(e, -EINVAL, "this describes no run: id, host and version are needed");
    snprintf(part->host, sizeof(part->host), "%s", r->host);
    return 0;
}

static bool is_order(uint32_t order, uint32_t version, struct err *e, int *rc)
{
    if (order == ARCHIVE_ORDER && version == ARCHIVE_VERSION)
        return true;
    *rc = err_set(e, -EPROTONOSUPPORT, "written by another version of brim, or another machine");
    return false;
}

/* Which signal each column is; RUN_SIGNALS: none that is known here. */
static int read_names(const char *data, const struct archive_moments_header *h,
                      unsigned columns[ARCHIVE_SIGNALS_MAX])
{
    const char *at = data + sizeof(*h), *end = data + h->header_size;

    for (uint32_t i = 0; i < h->n_signals; i++) {
        const char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

        if (!nul)
            return -EINVAL;
        columns[i] = RUN_SIGNALS;
        for (unsigned s = 0; s < RUN_SIGNALS; s++)
            if (!strcmp(run_signal_name((enum run_signal)s), at))
                columns[i] = s;
        at = nul + 1;
    }
    return 0;
}

static int add_moment(struct run *r, const char *record, const unsigned *columns, uint32_t n)
{
    struct archive_moment head;
    struct run_moment *m;

    memcpy(&head, record, sizeof(head));
    if (!(head.seconds > 0 && head.seconds < 1e7) || head.wall_ns < 0 || head.wall_ns > TIME_MAX)
        return 0;
    m = ARENA_PUSH(&r->arena, &r->moments, &r->n_moments);
    if (!m)
        return -ENOMEM;
    m->wall_ns = head.wall_ns;
    m->monotonic_ns = head.monotonic_ns;
    m->seconds = head.seconds;
    for (unsigned s = 0; s < RUN_SIGNALS; s++)
        m->values[s] = (double)NAN;
    for (uint32_t i = 0; i < n; i++) {
        float value;

        memcpy(&value, record + sizeof(head) + i * sizeof(value), sizeof(value));
        if (columns[i] < RUN_SIGNALS && isfinite(value))
            m->values[columns[i]] = (double)value;
    }
    return 0;
}

int archive_parse_moments(const void *data, size_t len, struct run *r, struct err *e)
{
    struct archive_moments_header h;
    unsigned columns[ARCHIVE_SIGNALS_MAX];
    const char *bytes = data;
    int rc = 0;

    if (len < sizeof(h))
        return err_set(e, -EINVAL, "no moments: the file is too short");
    memcpy(&h, data, sizeof(h));
    if (memcmp(h.magic, ARCHIVE_MOMENTS_MAGIC, sizeof(h.magic)) != 0)
        return err_set(e, -EINVAL, "no moments: the file starts otherwise");
    if (!is_order(h.order, h.version, e, &rc))
        return rc;
    if (h.header_size < sizeof(h) || h.header_size > len || h.n_signals > ARCHIVE_SIGNALS_MAX ||
        h.record_size != sizeof(struct archive_moment) + h.n_signals * sizeof(float) ||
        read_names(bytes, &h, columns) < 0)
        return err_set(e, -EINVAL, "no moments: the header is broken");
    for (size_t at = h.header_size; rc == 0 && len - at >= h.record_size; at += h.record_size)
        rc = add_moment(r, bytes + at, columns, h.n_signals);
    return rc < 0 ? err_nomem(e) : 0;
}

static int64_t clamp_time(int64_t ns)
{
    return ns < 0 ? 0 : MIN(ns, TIME_MAX);
}

static void fill_total(struct step *to, const struct archive_total *from)
{
    *to = (struct step){ .number = from->count,
                         .begin_ns = clamp_time(from->begin_ns),
                         .end_ns = clamp_time(from->end_ns),
                         .samples = from->samples,
                         .loss = from->loss,
                         .backwards = from->backwards,
                         .collective_s = from->collective_s,
                         .collective_b = from->collective_b,
                         .collectives = (unsigned)from->collectives };
    memcpy(to->host_s, from->host_s, sizeof(to->host_s));
    memcpy(to->device_s, from->device_s, sizeof(to->device_s));
}

/* False for an empty slot, and for what no writer leaves. */
static bool fill_step(struct step *to, const struct archive_step *from)
{
    if (from->number == 0 || from->begin_ns < 0 || from->end_ns < from->begin_ns ||
        from->end_ns > TIME_MAX)
        return false;
    *to = (struct step){ .number = from->number - 1,
                         .begin_ns = from->begin_ns,
                         .end_ns = from->end_ns,
                         .samples = (double)from->samples,
                         .loss = (double)from->loss,
                         .backwards = (double)from->backwards,
                         .collective_s = (double)from->collective_s,
                         .collective_b = from->collective_b,
                         .collectives = from->collectives };
    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        to->host_s[i] = from->host_s[i] >= 0 ? (double)from->host_s[i] : 0;
        to->device_s[i] = (double)from->device_s[i];
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct step *left = a, *right = b;

    return COMPARE(left->number, right->number);
}

static int add_notes(struct run *r, struct run_rank *rank, const char *text, size_t len)
{
    const char *at = text, *end = text + len, *nul;

    for (; at < end && (nul = memchr(at, 0, (size_t)(end - at))) != NULL; at = nul + 1) {
        const char *equals = strchr(at, '=');
        struct run_note *note;

        if (!equals || rank->n_notes == NOTES_MAX)
            continue;
        note = ARENA_PUSH(&r->arena, &rank->notes, &rank->n_notes);
        if (!note)
            return -ENOMEM;
        note->name = arena_strndup(&r->arena, at, (size_t)(equals - at));
        note->value = arena_strdup(&r->arena, equals + 1);
        if (!note->name || !note->value)
            return -ENOMEM;
    }
    return 0;
}

static int add_steps(struct run *r, struct run_rank *rank, const char *slots, size_t n)
{
    size_t kept = 0;

    rank->steps = n ? arena_alloc(&r->arena, n * sizeof(*rank->steps)) : NULL;
    if (n && !rank->steps)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct archive_step from;

        memcpy(&from, slots + i * sizeof(from), sizeof(from));
        kept += fill_step(&rank->steps[kept], &from);
    }
    rank->n_steps = rank->steps_room = kept;
    if (kept)
        qsort(rank->steps, kept, sizeof(*rank->steps), by_number);
    rank->dropped = rank->total.number > kept ? rank->total.number - kept : 0;
    return 0;
}

int archive_parse_steps(const void *data, size_t len, struct run *r, struct err *e)
{
    struct archive_steps_header h;
    struct run_rank *rank;
    const char *bytes = data;
    size_t slots;
    int rc = 0;

    if (len < sizeof(h))
        return err_set(e, -EINVAL, "no steps: the file is too short");
    memcpy(&h, data, sizeof(h));
    if (memcmp(h.magic, ARCHIVE_STEPS_MAGIC, sizeof(h.magic)) != 0)
        return err_set(e, -EINVAL, "no steps: the file starts otherwise");
    if (!is_order(h.order, h.version, e, &rc))
        return rc;
    slots = (size_t)h.header_size + h.notes_size;
    if (h.header_size < sizeof(h) || h.header_size > len || h.notes_used > h.notes_size ||
        h.record_size != sizeof(struct archive_step))
        return err_set(e, -EINVAL, "no steps: the header is broken");
    rank = ARENA_PUSH(&r->arena, &r->ranks, &r->n_ranks);
    if (!rank)
        return err_nomem(e);
    *rank = (struct run_rank){
        .rank = h.rank, .local_rank = h.local_rank, .world = h.world, .pid = h.pid
    };
    rank->host = arena_strndup(&r->arena, h.host, strnlen(h.host, sizeof(h.host)));
    rank->framework = arena_strndup(&r->arena, h.framework,
                                    strnlen(h.framework, sizeof(h.framework)));
    fill_total(&rank->total, &h.total);
    if (!rank->host || !rank->framework)
        rc = -ENOMEM;
    if (rc == 0)
        rc = add_notes(r, rank, bytes + h.header_size,
                       MIN((size_t)h.notes_used, len - h.header_size));
    if (rc == 0 && slots < len)
        rc = add_steps(r, rank, bytes + slots, (len - slots) / sizeof(struct archive_step));
    return rc < 0 ? err_nomem(e) : 0;
}
