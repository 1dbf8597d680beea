#include "model/machine/fault.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"

static const char *const classes[] = {
    [FAULT_APP] = "app",     [FAULT_WATCH] = "watch",
    [FAULT_RESET] = "reset", [FAULT_DRAIN] = "drain",
    [FAULT_LINK] = "link",   [FAULT_MECH] = "mech",
    [FAULT_INFO] = "info",   [FAULT_COUNT] = "count",
    [FAULT_FATAL] = "fatal", [FAULT_MAYBE_FATAL] = "maybe-fatal",
};

enum column_kind {
    COLUMN_TEXT,
    COLUMN_CODE,
    COLUMN_WORD,
    COLUMN_CLASS,
    COLUMN_SEVERITY,
    COLUMN_FATAL
};

struct column {
    const char *name;
    enum column_kind kind;
    size_t offset;
};

static const struct column fault_columns[] = {
    { "code", COLUMN_CODE, offsetof(struct fault, code) },
    { "name", COLUMN_TEXT, offsetof(struct fault, name) },
    { "meaning", COLUMN_TEXT, offsetof(struct fault, meaning) },
    { "class", COLUMN_CLASS, offsetof(struct fault, class) },
    { "severity", COLUMN_SEVERITY, offsetof(struct fault, severity) },
    { "scope", COLUMN_TEXT, offsetof(struct fault, scope) },
    { "action", COLUMN_TEXT, offsetof(struct fault, action) },
};

static const struct column link_columns[] = {
    { "xid", COLUMN_CODE, offsetof(struct fault_link, xid) },
    { "unit", COLUMN_TEXT, offsetof(struct fault_link, unit) },
    { "info1", COLUMN_WORD, offsetof(struct fault_link, info1) },
    { "info2", COLUMN_WORD, offsetof(struct fault_link, info2) },
    { "sub", COLUMN_CODE, offsetof(struct fault_link, sub) },
    { "status", COLUMN_WORD, offsetof(struct fault_link, status) },
    { "fatal", COLUMN_FATAL, offsetof(struct fault_link, fatal) },
    { "severity", COLUMN_SEVERITY, offsetof(struct fault_link, severity) },
    { "meaning", COLUMN_TEXT, offsetof(struct fault_link, meaning) },
    { "action", COLUMN_TEXT, offsetof(struct fault_link, action) },
};

enum { COLUMNS_MAX = 10 };

/* A table, and how its rows are laid out. */
struct table {
    const char *file;
    const struct column *columns;
    size_t n_columns, row_size;
    bool ordered; /* rows start with a code that grows */
};

_Static_assert(offsetof(struct fault, code) == 0, "rows in order start with their code");

static int code_of(const void *row)
{
    return ((const struct fault *)row)->code;
}

static int set_class(enum fault_class *ret, const char *text)
{
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
        if (!strcmp(classes[i], text)) {
            *ret = (enum fault_class)i;
            return 0;
        }
    return -EINVAL;
}

static int set_severity(enum severity *ret, const char *text)
{
    for (int s = SEVERITY_NOTE; s <= SEVERITY_CRITICAL; s++)
        if (!strcmp(severity_text((enum severity)s), text)) {
            *ret = (enum severity)s;
            return 0;
        }
    return -EINVAL;
}

static int set_number(void *at, enum column_kind kind, const char *text)
{
    uint64_t n = 0;
    int rc = kind == COLUMN_WORD ? parse_hex(text, &n) : parse_u64(text, &n);

    if (rc < 0 || n > (kind == COLUMN_WORD ? UINT32_MAX : INT_MAX))
        return -EINVAL;
    if (kind == COLUMN_WORD)
        *(uint32_t *)at = (uint32_t)n;
    else
        *(int *)at = (int)n;
    return 0;
}

static int set_column(struct arena *a, void *row, const struct column *c, const char *text)
{
    void *at = (char *)row + c->offset;

    switch (c->kind) {
    case COLUMN_TEXT:
        if (!*text)
            return -EINVAL;
        *(const char **)at = arena_strdup(a, text);
        return *(const char **)at ? 0 : -ENOMEM;
    case COLUMN_CLASS:
        return set_class(at, text);
    case COLUMN_SEVERITY:
        return set_severity(at, text);
    case COLUMN_FATAL:
        *(bool *)at = strcmp(text, "no") != 0;
        return strcmp(text, "no") && strcmp(text, "link") && strcmp(text, "fatal") ? -EINVAL : 0;
    default:
        return set_number(at, c->kind, text);
    }
}

/* Find the field of each column in the first row. */
static int read_header(const struct table *t, const struct csv *row, int at[COLUMNS_MAX],
                       struct err *e)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        at[c] = -1;
        for (size_t i = 0; i < row->n_fields; i++)
            if (!strcmp(row->fields[i], t->columns[c].name))
                at[c] = (int)i;
        if (at[c] < 0)
            return err_set(e, -EINVAL, "%s:%d: there is no column '%s'", t->file, row->line,
                           t->columns[c].name);
    }
    return 0;
}

static int add_row(struct arena *a, const struct table *t, const int at[COLUMNS_MAX],
                   const struct csv *csv, void *row, struct err *e)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *text = (size_t)at[c] < csv->n_fields ? csv->fields[at[c]] : "";
        int rc = set_column(a, row, &t->columns[c], text);

        if (rc == -ENOMEM)
            return err_nomem(e);
        if (rc < 0)
            return err_set(e, rc, "%s:%d: '%s' is no %s", t->file, csv->line, text,
                           t->columns[c].name);
    }
    return 0;
}

static int load(struct arena *a, const struct table *t, const struct fault_text *text, void **rows,
                size_t *n, struct err *e)
{
    int at[COLUMNS_MAX] = { 0 };
    struct csv csv;
    int rc;

    csv_init(&csv, text->text, text->len);
    rc = csv_next(&csv);
    if (rc == 0)
        return err_set(e, -EINVAL, "%s: the table is empty", t->file);
    if (rc > 0) {
        rc = read_header(t, &csv, at, e);
        if (rc < 0)
            return rc;
        rc = csv_next(&csv);
    }
    for (; rc > 0; rc = csv_next(&csv)) {
        char *row = arena_push(a, rows, n, t->row_size);

        if (!row)
            return err_nomem(e);
        rc = add_row(a, t, at, &csv, row, e);
        if (rc == 0 && t->ordered && *n > 1 && code_of(row) <= code_of(row - t->row_size))
            rc = err_set(e, -EINVAL, "%s:%d: %d stands behind %d", t->file, csv.line, code_of(row),
                         code_of(row - t->row_size));
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return err_set(e, -EINVAL, "%s:%d: the row cannot be read", t->file, csv.line);
    return 0;
}

int faults_load(struct faults *ret, const struct fault_text *xid, const struct fault_text *nvlink5,
                const struct fault_text *sxid, struct err *e)
{
    static const struct table xids = { "xid.csv", fault_columns, ARRAY_SIZE(fault_columns),
                                       sizeof(struct fault), true };
    static const struct table sxids = { "sxid.csv", fault_columns, ARRAY_SIZE(fault_columns),
                                        sizeof(struct fault), true };
    static const struct table links = { "nvlink5.csv", link_columns, ARRAY_SIZE(link_columns),
                                        sizeof(struct fault_link), false };
    struct faults f = { .n_xids = 0 };
    int rc = load(&f.arena, &xids, xid, (void **)&f.xids, &f.n_xids, e);

    if (rc == 0)
        rc = load(&f.arena, &sxids, sxid, (void **)&f.sxids, &f.n_sxids, e);
    if (rc == 0)
        rc = load(&f.arena, &links, nvlink5, (void **)&f.links, &f.n_links, e);
    if (rc < 0) {
        faults_done(&f);
        return rc;
    }
    *ret = f;
    return 0;
}

void faults_done(struct faults *f)
{
    arena_done(&f->arena);
    *f = (struct faults){ .n_xids = 0 };
}

static const struct fault *find(const struct fault *rows, size_t n, int code)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows[middle].code == code)
            return &rows[middle];
        if (rows[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct fault *fault_xid(const struct faults *f, int code)
{
    return find(f->xids, f->n_xids, code);
}

const struct fault *fault_sxid(const struct faults *f, int code)
{
    return find(f->sxids, f->n_sxids, code);
}

const char *fault_class_text(enum fault_class c)
{
    return classes[c];
}

unsigned fault_link_sub(uint32_t info)
{
    return info >> 20 & 0x3f;
}

bool fault_link_fits(const struct fault_link *rule, int xid, uint32_t info)
{
    return rule->xid == xid && rule->sub == fault_link_sub(info) &&
           ((info & 0x3ff) == rule->info1 || (info & 0x7f) == rule->info2);
}

const struct fault_link *fault_link(const struct faults *f, int xid, uint32_t info, uint32_t status)
{
    const struct fault_link *gravest = NULL;

    for (size_t i = 0; i < f->n_links; i++) {
        const struct fault_link *rule = &f->links[i];

        if (!fault_link_fits(rule, xid, info))
            continue;
        if (rule->status == status)
            return rule;
        /* of 149 the status is a value, of the others bits */
        if (xid != 149 && (rule->status & status) &&
            (!gravest || rule->severity > gravest->severity))
            gravest = rule;
    }
    return gravest;
}
