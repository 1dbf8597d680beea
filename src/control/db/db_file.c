#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/db/db_private.h"
#include "store/sql.h"

enum { BUSY_MS = 5000 };

struct db_file {
    sqlite3 *db;
    struct {
        const char *text;
        sqlite3_stmt *stmt;
    } kept[DB_STATEMENTS];
    size_t n_kept;
    char path[PATH_MAX];
};

static int trouble(struct db_file *f, int code, struct err *e)
{
    return sql_error(f->db, code, f->path, e);
}

int db_file_open(struct db_file **ret, const char *path, bool make, struct err *e)
{
    struct db_file *f = calloc(1, sizeof(*f));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, code, rc;

    if (!f)
        return err_nomem(e);
    snprintf(f->path, sizeof(f->path), "%s", path);
    code = sqlite3_open_v2(path, &f->db, flags | (make ? SQLITE_OPEN_CREATE : 0), NULL);
    if (code == SQLITE_CANTOPEN && !make && access(path, F_OK) < 0) {
        rc = err_set(e, -ENOENT, "there is no %s", path);
        db_file_close(f);
        return rc;
    }
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(f->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sql_run(f->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                              "PRAGMA trusted_schema = OFF");
    rc = code == SQLITE_OK ? 0 : trouble(f, code, e);
    if (rc < 0)
        db_file_close(f);
    else
        *ret = f;
    return rc;
}

void db_file_close(struct db_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_kept; i++)
        sqlite3_finalize(f->kept[i].stmt);
    sqlite3_close(f->db);
    free(f);
}

int db_file_script(struct db_file *f, const char *text, struct err *e)
{
    int code = sql_run(f->db, text);

    return code == SQLITE_OK ? 0 : trouble(f, code, e);
}

static int prepared(struct db_file *f, const char *text, sqlite3_stmt **ret, struct err *e)
{
    size_t i = 0;
    int code;

    while (i < f->n_kept && f->kept[i].text != text)
        i++;
    if (i == DB_STATEMENTS)
        return err_set(e, -ENOSPC, "more statements than %d", DB_STATEMENTS);
    if (i == f->n_kept) {
        code = sql_prepare(f->db, text, &f->kept[i].stmt);
        if (code != SQLITE_OK)
            return trouble(f, code, e);
        f->kept[i].text = text;
        f->n_kept++;
    }
    *ret = f->kept[i].stmt;
    return 0;
}

/* A parameter is called as PostgreSQL calls it; SQLite numbers names as they come. */
static void bind(sqlite3_stmt *s, size_t i, const struct db_value *v)
{
    char name[24];
    int at;

    snprintf(name, sizeof(name), "$%zu", i + 1);
    at = sqlite3_bind_parameter_index(s, name);
    if (at > 0 && v->text)
        sqlite3_bind_text(s, at, v->text, -1, SQLITE_TRANSIENT);
    else if (at > 0)
        sqlite3_bind_int64(s, at, v->number);
}

static void take_row(sqlite3_stmt *s, struct db_value *columns)
{
    for (int i = 0; i < MIN(sqlite3_column_count(s), DB_COLUMNS); i++) {
        columns[i].number = sqlite3_column_int64(s, i);
        columns[i].text = (const char *)sqlite3_column_text(s, i);
        if (!columns[i].text)
            columns[i].text = "";
    }
}

int db_file_run(struct db_file *f, const struct db_call *c, struct err *e)
{
    struct db_value columns[DB_COLUMNS];
    sqlite3_stmt *s = NULL;
    int rc = prepared(f, c->text, &s, e), code;

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < c->n; i++)
        bind(s, i, &c->values[i]);
    while (rc == 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
        take_row(s, columns);
        rc = c->fn ? c->fn(c->arg, columns) : 0;
    }
    if (rc == 0 && code != SQLITE_DONE)
        rc = trouble(f, code, e);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return rc;
}
