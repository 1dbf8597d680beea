#include "plan/cluster/failures.h"

#include <errno.h>
#include <string.h>

#include "plan/shape/table.h"

static const char table_name[] = "failures.csv";
static const double day_s = 86400;

static int read_rate(const struct table_row *row, struct failure_row *r, struct err *e)
{
    double gpus = 0, days = 0, failures = 0, per_1000 = 0;
    int rc = table_whole(row, "node_gpus", &r->node_gpus, e);

    if (rc == 0)
        rc = table_number(row, "gpus", 1, &gpus, e);
    if (rc == 0)
        rc = table_number(row, "days", 1, &days, e);
    if (rc == 0)
        rc = table_number(row, "failures", 1, &failures, e);
    if (rc == 0)
        rc = table_number(row, "per_1000_node_days", 1, &per_1000, e);
    if (rc < 0)
        return rc;
    if (r->node_gpus > 0 && per_1000 > 0)
        r->node_mtbf_s = 1000 * day_s / per_1000;
    else if (r->node_gpus > 0 && gpus > 0 && days > 0 && failures > 0)
        r->node_mtbf_s = gpus / r->node_gpus * days * day_s / failures;
    if (!(r->node_mtbf_s > 0))
        return err_set(e, -EINVAL,
                       "%s:%d: a rate needs node_gpus, and gpus, days and failures or "
                       "per_1000_node_days",
                       row->file, row->csv.line);
    return 0;
}

static int read_texts(struct failures *f, const struct table_row *row, struct failure_row *r,
                      struct err *e)
{
    int rc;

    r->name = arena_strdup(&f->arena, table_text(row, "name"));
    r->gpu = arena_strdup(&f->arena, table_text(row, "gpu"));
    r->source = arena_strdup(&f->arena, table_text(row, "source"));
    r->notes = arena_strdup(&f->arena, table_text(row, "notes"));
    if (!r->name || !r->gpu || !r->source || !r->notes)
        return err_nomem(e);
    if (!*r->name || strchr(r->name, ' '))
        return err_set(e, -EINVAL, "%s:%d: a rate needs a name without blanks", row->file,
                       row->csv.line);
    rc = names_add(&f->names, &f->arena, r->name, f->n_rows - 1);
    if (rc == 0)
        rc = names_add(&f->names, &f->arena, table_text(row, "aliases"), f->n_rows - 1);
    if (rc == -EEXIST)
        return err_set(e, -EINVAL, "%s:%d: %s has a name that another rate has", row->file,
                       row->csv.line, r->name);
    return rc < 0 ? err_nomem(e) : 0;
}

static int add_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct failures *f = ctx;
    struct failure_row *r = ARENA_PUSH(&f->arena, &f->rows, &f->n_rows);
    int rc;

    if (!r)
        return err_nomem(e);
    rc = read_texts(f, row, r, e);
    return rc < 0 ? rc : read_rate(row, r, e);
}

int failures_load(struct failures *ret, const char *text, size_t len, struct err *e)
{
    struct failures f = { .n_rows = 0 };
    int rc = table_read(table_name, text, len, add_row, &f, e);

    if (rc == 0 && !f.n_rows)
        rc = err_set(e, -EINVAL, "%s: there is no row in it", table_name);
    if (rc < 0) {
        failures_done(&f);
        return rc;
    }
    *ret = f;
    return 0;
}

void failures_done(struct failures *f)
{
    arena_done(&f->arena);
    *f = (struct failures){ .n_rows = 0 };
}

int failures_find(const struct failures *f, const char *name, const struct failure_row **ret,
                  struct err *e)
{
    char near[NAMES_NEAR];
    size_t i;

    if (!names_find(&f->names, name, &i))
        return err_set(e, -EINVAL, "unknown failure rate '%.60s'%s", name,
                       names_near(&f->names, name, near));
    *ret = &f->rows[i];
    return 0;
}
