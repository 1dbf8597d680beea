#include "plan/cluster/prices.h"

#include <errno.h>
#include <math.h>

#include "plan/shape/table.h"

static const char table_name[] = "prices.csv";

static int add_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct prices *p = ctx;
    struct price_row *r = ARENA_PUSH(&p->arena, &p->rows, &p->n_rows);
    int rc;

    if (!r)
        return err_nomem(e);
    r->usd_per_hour = r->idle_w = (double)NAN;
    r->name = arena_strdup(&p->arena, table_text(row, "name"));
    r->source = arena_strdup(&p->arena, table_text(row, "source"));
    r->date = arena_strdup(&p->arena, table_text(row, "date"));
    if (!r->name || !r->source || !r->date)
        return err_nomem(e);
    rc = table_number(row, "usd_per_hour", 1, &r->usd_per_hour, e);
    if (rc == 0)
        rc = table_number(row, "idle_w", 1, &r->idle_w, e);
    if (rc < 0)
        return rc;
    if (!*r->name || (!isnan(r->usd_per_hour) && (!*r->source || !*r->date)))
        return err_set(e, -EINVAL, "%s:%d: a price needs a name, a source and a date", row->file,
                       row->csv.line);
    rc = names_add(&p->names, &p->arena, r->name, p->n_rows - 1);
    if (rc == -EEXIST)
        return err_set(e, -EINVAL, "%s:%d: %s has a price already", row->file, row->csv.line,
                       r->name);
    return rc < 0 ? err_nomem(e) : 0;
}

int prices_load(struct prices *ret, const char *text, size_t len, struct err *e)
{
    struct prices p = { .n_rows = 0 };
    int rc = table_read(table_name, text, len, add_row, &p, e);

    if (rc < 0) {
        prices_done(&p);
        return rc;
    }
    *ret = p;
    return 0;
}

void prices_done(struct prices *p)
{
    arena_done(&p->arena);
    *p = (struct prices){ .n_rows = 0 };
}

const struct price_row *prices_find(const struct prices *p, const char *name)
{
    size_t i;

    return names_find(&p->names, name, &i) ? &p->rows[i] : NULL;
}
