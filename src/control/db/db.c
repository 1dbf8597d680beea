#include "control/db/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/db/db_private.h"

/* One of them is there. */
struct db {
    struct db_file *file;
    struct db_postgres *postgres;
};

bool db_is_address(const char *name)
{
    static const char brief[] = "postgres://", full[] = "postgresql://";

    return !strncmp(name, brief, sizeof(brief) - 1) || !strncmp(name, full, sizeof(full) - 1);
}

int db_open(struct db **ret, const char *name, bool make, struct err *e)
{
    struct db *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return err_nomem(e);
    if (db_is_address(name))
        rc = db_postgres_open(&d->postgres, name, e);
    else
        rc = db_file_open(&d->file, name, make, e);
    if (rc < 0)
        free(d);
    else
        *ret = d;
    return rc;
}

void db_close(struct db *d)
{
    if (!d)
        return;
    db_file_close(d->file);
    db_postgres_close(d->postgres);
    free(d);
}

bool db_shared(const struct db *d)
{
    return d->postgres != NULL;
}

int db_script(struct db *d, const char *text, struct err *e)
{
    return d->file ? db_file_script(d->file, text, e) : db_postgres_script(d->postgres, text, e);
}

int db_call(struct db *d, const struct db_call *c, struct err *e)
{
    return d->file ? db_file_run(d->file, c, e) : db_postgres_run(d->postgres, c, e);
}

static int take_first(void *arg, const struct db_value *columns)
{
    *(int64_t *)arg = columns->number;
    return 1;
}

int db_number(struct db *d, const char *text, const struct db_value *values, size_t n, int64_t *ret,
              struct err *e)
{
    return db_run(d, text, values, n, take_first, ret, e);
}

int db_begin(struct db *d, struct err *e)
{
    return db_script(d, d->file ? "BEGIN IMMEDIATE" : "BEGIN", e);
}

int db_commit(struct db *d, struct err *e)
{
    int rc = db_script(d, "COMMIT", e);

    if (rc < 0)
        db_undo(d);
    return rc;
}

void db_undo(struct db *d)
{
    int rc = db_script(d, "ROLLBACK", NULL); /* nothing is open any more when this fails */

    (void)rc;
}
