#include "slurm/wire.h"

#include <errno.h>
#include <string.h>

#define NO_TEXT UINT32_MAX

enum kind {
    TEXT,  /* may be NULL */
    WORD,  /* never NULL */
    FLAG,  /* a bool */
    BYTE,  /* below the limit of its row */
    WHOLE, /* of 4 bytes */
    COUNT, /* of 4 bytes, not negative */
    LONG,  /* of 8 bytes */
};

/* What a structure is made of, in the order in which it is written. */
struct row {
    uint8_t kind, limit;
    uint16_t offset;
};

#define NODE(kind, field, limit) \
    { \
        kind, limit, offsetof(struct site_node, field) \
    }
#define JOB(kind, field, limit) \
    { \
        kind, limit, offsetof(struct site_job, field) \
    }
#define DEED(kind, field, limit) \
    { \
        kind, limit, offsetof(struct site_deed, field) \
    }

static const struct row node_rows[] = {
    NODE(WORD, name, 0),       NODE(TEXT, address, 0),     NODE(BYTE, state, SITE_NODE_OFF + 1),
    NODE(FLAG, drained, 0),    NODE(FLAG, silent, 0),      NODE(FLAG, reserved, 0),
    NODE(TEXT, reason, 0),     NODE(WHOLE, reason_uid, 0), NODE(COUNT, cpus, 0),
    NODE(LONG, memory_mib, 0), NODE(COUNT, devices, 0),    NODE(TEXT, kind, 0),
    NODE(TEXT, features, 0),   NODE(TEXT, path, 0),        NODE(LONG, partitions, 0),
};

static const struct row job_rows[] = {
    JOB(WHOLE, id, 0),
    JOB(WHOLE, array, 0),
    JOB(WHOLE, task, 0),
    JOB(WHOLE, uid, 0),
    JOB(WORD, name, 0),
    JOB(WORD, user, 0),
    JOB(WORD, account, 0),
    JOB(WORD, partition, 0),
    JOB(WORD, qos, 0),
    JOB(TEXT, comment, 0),
    JOB(TEXT, note, 0),
    JOB(TEXT, why, 0),
    JOB(TEXT, after, 0),
    JOB(TEXT, tasks, 0),
    JOB(TEXT, wanted, 0),
    JOB(TEXT, avoided, 0),
    JOB(TEXT, features, 0),
    JOB(TEXT, kind, 0),
    JOB(BYTE, state, SITE_ENDED + 1),
    JOB(BYTE, outcome, SITE_OUTCOMES),
    JOB(FLAG, held, 0),
    JOB(FLAG, depends, 0),
    JOB(FLAG, requeue, 0),
    JOB(FLAG, batch, 0),
    JOB(FLAG, exclusive, 0),
    JOB(FLAG, pending_tasks, 0),
    JOB(LONG, submit_ms, 0),
    JOB(LONG, start_ms, 0),
    JOB(LONG, end_ms, 0),
    JOB(LONG, limit_ms, 0),
    JOB(WHOLE, priority, 0),
    JOB(WHOLE, restarts, 0),
    JOB(COUNT, nodes, 0),
    JOB(COUNT, nodes_most, 0),
    JOB(COUNT, cpus, 0),
    JOB(LONG, memory_mib, 0),
    JOB(COUNT, devices, 0),
    JOB(COUNT, devices_per_node, 0),
};

static const struct row deed_rows[] = {
    DEED(BYTE, kind, SITE_DEED_KINDS),
    DEED(WHOLE, job, 0),
    DEED(TEXT, node, 0),
    DEED(TEXT, text, 0),
    DEED(WHOLE, value, 0),
};

/* ---- writing ---- */

static void add_u32(struct str *out, uint32_t value)
{
    str_add_n(out, (const char *)&value, sizeof(value));
}

static void add_text(struct str *out, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    if (len >= NO_TEXT)
        str_fail(out, -EFBIG);
    add_u32(out, text ? (uint32_t)len : NO_TEXT);
    if (text)
        str_add_n(out, text, len);
}

static void add_rows(struct str *out, const struct row *rows, size_t n, const void *from)
{
    const char *text;

    for (size_t i = 0; i < n; i++) {
        const char *at = (const char *)from + rows[i].offset;

        switch (rows[i].kind) {
        case TEXT:
        case WORD:
            memcpy(&text, at, sizeof(text));
            add_text(out, text);
            break;
        case FLAG:
        case BYTE:
            str_add_n(out, at, 1);
            break;
        case LONG:
            str_add_n(out, at, 8);
            break;
        default:
            str_add_n(out, at, 4);
            break;
        }
    }
}

void slurm_wire_add_site(struct str *out, const struct site *s)
{
    str_add_n(out, (const char *)&s->time_ms, sizeof(s->time_ms));
    add_text(out, s->cluster ? s->cluster : "");
    add_u32(out, (uint32_t)s->n_partitions);
    for (size_t i = 0; i < s->n_partitions; i++)
        add_text(out, s->partitions[i]);
    add_u32(out, (uint32_t)s->n_nodes);
    for (size_t i = 0; i < s->n_nodes; i++)
        add_rows(out, node_rows, ARRAY_SIZE(node_rows), &s->nodes[i]);
    add_u32(out, (uint32_t)s->n_jobs);
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct site_job *j = &s->jobs[i];

        add_rows(out, job_rows, ARRAY_SIZE(job_rows), j);
        add_u32(out, (uint32_t)j->n_parts);
        str_add_n(out, (const char *)j->parts, j->n_parts * sizeof(*j->parts));
    }
}

void slurm_wire_add_deed(struct str *out, const struct site_deed *d)
{
    add_rows(out, deed_rows, ARRAY_SIZE(deed_rows), d);
}

/* ---- reading ---- */

/* What is left. The first error sticks, and what is read after it is 0. */
struct reader {
    struct arena *arena;
    const char *at;
    size_t left;
    int error;
};

static void take(struct reader *r, void *to, size_t n)
{
    if (r->left < n && r->error == 0)
        r->error = -EPROTO;
    if (r->error) {
        memset(to, 0, n);
        return;
    }
    memcpy(to, r->at, n);
    r->at += n;
    r->left -= n;
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t value;

    take(r, &value, sizeof(value));
    return value;
}

static const char *take_text(struct reader *r, bool may_lack)
{
    uint32_t len = take_u32(r);
    char *text;

    if (r->error || (len == NO_TEXT && may_lack))
        return NULL;
    if (len > r->left || memchr(r->at, 0, len)) {
        r->error = -EPROTO;
        return NULL;
    }
    text = arena_strndup(r->arena, r->at, len);
    if (!text)
        r->error = -ENOMEM;
    r->at += len;
    r->left -= len;
    return text;
}

static void take_row(struct reader *r, const struct row *row, char *to)
{
    const char *text;
    int32_t number;
    uint8_t byte;

    switch (row->kind) {
    case TEXT:
    case WORD:
        text = take_text(r, row->kind == TEXT);
        memcpy(to, &text, sizeof(text));
        break;
    case FLAG:
    case BYTE:
        take(r, &byte, 1);
        if (byte >= (row->kind == FLAG ? 2 : row->limit) && r->error == 0)
            r->error = -EPROTO;
        else
            memcpy(to, &byte, 1);
        break;
    case LONG:
        take(r, to, 8);
        break;
    default:
        take(r, &number, 4);
        if (row->kind == COUNT && number < 0 && r->error == 0)
            r->error = -EPROTO;
        memcpy(to, &number, 4);
        break;
    }
}

static void take_rows(struct reader *r, const struct row *rows, size_t n, void *to)
{
    for (size_t i = 0; i < n && r->error == 0; i++)
        take_row(r, &rows[i], (char *)to + rows[i].offset);
}

/* Room for as many as there are to be, which each take least bytes. */
static void *take_many(struct reader *r, size_t *n, size_t least, size_t size)
{
    void *many;

    *n = take_u32(r);
    if (r->error == 0 && *n > r->left / least)
        r->error = -EPROTO;
    if (r->error)
        *n = 0;
    many = arena_alloc(r->arena, *n * size);
    if (!many) {
        r->error = -ENOMEM;
        *n = 0;
    }
    return many;
}

static void take_job(struct reader *r, const struct site *s, struct site_job *j)
{
    struct site_part *parts;
    size_t n;

    take_rows(r, job_rows, ARRAY_SIZE(job_rows), j);
    parts = take_many(r, &n, sizeof(*parts), sizeof(*parts));
    if (parts && n)
        take(r, parts, n * sizeof(*parts));
    for (size_t i = 0; parts && i < n; i++)
        if (parts[i].node >= s->n_nodes || parts[i].count < 0)
            r->error = r->error ? r->error : -EPROTO;
    j->parts = n ? parts : NULL;
    j->n_parts = n;
}

static void take_partitions(struct reader *r, struct site *s)
{
    s->n_partitions = take_u32(r);
    if (s->n_partitions > SITE_PARTITIONS && r->error == 0)
        r->error = -EPROTO;
    if (r->error)
        s->n_partitions = 0;
    for (size_t i = 0; i < s->n_partitions; i++)
        s->partitions[i] = take_text(r, false);
}

static void take_site(struct reader *r, struct site *s)
{
    take(r, &s->time_ms, sizeof(s->time_ms));
    s->cluster = take_text(r, false);
    take_partitions(r, s);
    s->nodes = take_many(r, &s->n_nodes, ARRAY_SIZE(node_rows), sizeof(*s->nodes));
    for (size_t i = 0; i < s->n_nodes && r->error == 0; i++)
        take_rows(r, node_rows, ARRAY_SIZE(node_rows), &s->nodes[i]);
    s->jobs = take_many(r, &s->n_jobs, ARRAY_SIZE(job_rows), sizeof(*s->jobs));
    for (size_t i = 0; i < s->n_jobs && r->error == 0; i++) {
        take_job(r, s, &s->jobs[i]);
        if (i > 0 && s->jobs[i].id < s->jobs[i - 1].id && r->error == 0)
            r->error = -EPROTO;
    }
    if (r->error == 0 && r->left)
        r->error = -EPROTO;
}

int slurm_wire_site(struct site *ret, const void *bytes, size_t n)
{
    struct site s = { .time_ms = 0 };
    struct reader r = { &s.arena, bytes, n, 0 };

    take_site(&r, &s);
    if (r.error == 0)
        r.error = site_index(&s);
    if (r.error)
        site_done(&s);
    else
        *ret = s;
    return r.error;
}

int slurm_wire_deed(struct site_deed *ret, struct arena *a, const void *bytes, size_t n)
{
    struct reader r = { a, bytes, n, 0 };

    *ret = (struct site_deed){ 0 };
    take_rows(&r, deed_rows, ARRAY_SIZE(deed_rows), ret);
    return r.error == 0 && r.left ? -EPROTO : r.error;
}
