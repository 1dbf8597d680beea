#include "plan/shape/table.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/parse.h"

static int read_rows(struct table_row *row, table_fn *fn, void *ctx, struct err *e)
{
    for (;;) {
        int rc = csv_next(&row->csv);

        if (rc == 0)
            return 0;
        if (rc < 0)
            return err_set(e, -EINVAL, "%s:%d: the row cannot be read", row->file, row->csv.line);
        rc = fn(ctx, row, e);
        if (rc < 0)
            return rc;
    }
}

int table_read(const char *file, const char *text, size_t len, table_fn *fn, void *ctx,
               struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct table_row row = { .file = file };
    const char **header;
    int rc;

    csv_init(&row.csv, text, len);
    rc = csv_next(&row.csv);
    if (rc < 0)
        return err_set(e, -EINVAL, "%s:%d: the row cannot be read", file, row.csv.line);
    header = arena_alloc(&a, sizeof(*header) * row.csv.n_fields);
    if (!header)
        return err_nomem(e);
    for (size_t i = 0; i < row.csv.n_fields; i++) {
        header[i] = arena_strdup(&a, row.csv.fields[i]);
        if (!header[i])
            return err_nomem(e);
    }
    row.header = header;
    row.n_header = row.csv.n_fields;
    return read_rows(&row, fn, ctx, e);
}

const char *table_text(const struct table_row *row, const char *column)
{
    for (size_t i = 0; i < row->n_header && i < row->csv.n_fields; i++)
        if (!strcmp(row->header[i], column))
            return row->csv.fields[i];
    return "";
}

static int bad(const struct table_row *row, const char *column, const char *text, struct err *e)
{
    return err_set(e, -EINVAL, "%s:%d: '%s' is no %s", row->file, row->csv.line, text, column);
}

int table_number(const struct table_row *row, const char *column, double unit, double *ret,
                 struct err *e)
{
    const char *text = table_text(row, column);
    double number;
    int rc = *text ? parse_double(text, &number) : 0;

    if (!*text)
        return 0;
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0 || number < 0 || !isfinite(number * unit))
        return bad(row, column, text, e);
    *ret = number * unit;
    return 0;
}

int table_whole(const struct table_row *row, const char *column, int *ret, struct err *e)
{
    const char *text = table_text(row, column);
    uint64_t number;

    if (!*text)
        return 0;
    if (parse_u64(text, &number) < 0 || number > INT32_MAX)
        return bad(row, column, text, e);
    *ret = (int)number;
    return 0;
}
