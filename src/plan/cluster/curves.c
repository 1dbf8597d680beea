#include "plan/cluster/curves.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "plan/shape/table.h"

static const char table_name[] = "power_limits.csv";

static int add_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct curves *c = ctx;
    struct curve_row *r = ARENA_PUSH(&c->arena, &c->rows, &c->n_rows);
    const struct curve_row *before = c->n_rows > 1 ? r - 1 : NULL;
    int rc;

    if (!r)
        return err_nomem(e);
    r->limit_w = r->speed = (double)NAN;
    r->name = arena_strdup(&c->arena, table_text(row, "name"));
    if (!r->name)
        return err_nomem(e);
    rc = table_number(row, "limit_w", 1, &r->limit_w, e);
    if (rc == 0)
        rc = table_number(row, "speed", 1, &r->speed, e);
    if (rc < 0)
        return rc;
    if (before && strcmp(before->name, r->name) != 0)
        before = NULL;
    if (!(r->limit_w > 0 && r->speed > 0 && r->speed <= 1) || (!before && r->speed < 1) ||
        (before && before->limit_w <= r->limit_w))
        return err_set(e, -EINVAL, "%s:%d: limits fall, and the first one has speed 1", row->file,
                       row->csv.line);
    return 0;
}

int curves_load(struct curves *ret, const char *text, size_t len, struct err *e)
{
    struct curves c = { .n_rows = 0 };
    int rc = table_read(table_name, text, len, add_row, &c, e);

    if (rc < 0) {
        curves_done(&c);
        return rc;
    }
    *ret = c;
    return 0;
}

void curves_done(struct curves *c)
{
    arena_done(&c->arena);
    *c = (struct curves){ .n_rows = 0 };
}

const struct curve_row *curves_find(const struct curves *c, const char *name, size_t *n)
{
    size_t from = 0;

    while (from < c->n_rows && strcasecmp(c->rows[from].name, name) != 0)
        from++;
    for (*n = 0; from + *n < c->n_rows && !strcasecmp(c->rows[from + *n].name, name);)
        ++*n;
    return *n ? &c->rows[from] : NULL;
}
