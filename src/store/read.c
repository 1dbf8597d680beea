#include "store/read.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "store/open.h"

DEFINE_CLEANUP(struct store_reader, store_reader_close)

static int connect(struct store_reader *r, struct err *e)
{
    int code;

    if (stat(r->path, &r->file) < 0)
        return err_set(e, -errno, "cannot read %s: %s", r->path, strerror(errno));
    code = sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = open_settings(r->db);
    return code == SQLITE_OK ? 0 : sql_error(r->db, code, r->path, e);
}

static void disconnect(struct store_reader *r)
{
    sqlite3_close(r->db);
    r->db = NULL;
}

/* The file may have been begun anew since. */
int reader_ready(struct store_reader *r, struct err *e)
{
    struct stat now;

    if (r->db && stat(r->path, &now) == 0 && now.st_ino == r->file.st_ino &&
        now.st_dev == r->file.st_dev)
        return 0;
    disconnect(r);
    return connect(r, e);
}

int store_reader_open(struct store_reader **ret, const char *path, struct err *e)
{
    CLEANUP(store_reader_closep) struct store_reader *r = calloc(1, sizeof(*r));
    int rc;

    if (!r)
        return err_nomem(e);
    if (snprintf(r->path, sizeof(r->path), "%s", path) >= (int)sizeof(r->path))
        return err_set(e, -ENAMETOOLONG, "cannot read %s: the name is too long", path);
    rc = connect(r, e);
    if (rc == 0)
        *ret = steal(&r);
    return rc;
}

void store_reader_close(struct store_reader *r)
{
    if (!r)
        return;
    disconnect(r);
    free(r);
}

/* ---- lists ---- */

static const char *text(sqlite3_stmt *row, int column)
{
    const char *t = (const char *)sqlite3_column_text(row, column);

    return t ? t : "";
}

struct listing {
    const char *sql;
    const char *set; /* bound first; NULL: none */
    int (*row)(sqlite3_stmt *row, void *arg);
    void *arg;
};

static int list(struct store_reader *r, const struct listing *l, struct err *e)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *rows = NULL;
    int rc = reader_ready(r, e), code;

    if (rc < 0)
        return rc;
    code = sql_prepare(r->db, l->sql, &rows);
    if (code == SQLITE_OK && l->set)
        sqlite3_bind_text(rows, 1, l->set, -1, SQLITE_STATIC);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        rc = l->row(rows, l->arg);
        if (rc != 0)
            return rc;
        code = SQLITE_OK;
    }
    return code == SQLITE_DONE ? 0 : sql_error(r->db, code, r->path, e);
}

struct callback {
    store_thing_fn *thing;
    store_event_fn *event;
    void *arg;
};

static int thing_row(sqlite3_stmt *row, void *arg)
{
    const struct callback *c = arg;

    return c->thing(c->arg, text(row, 0), text(row, 1));
}

static int event_row(sqlite3_stmt *row, void *arg)
{
    const struct callback *c = arg;
    int severity = sqlite3_column_int(row, 5);
    struct event event = {
        .wall_ns = sqlite3_column_int64(row, 0) * NS_PER_MS,
        .kind = text(row, 1),
        .code = sqlite3_column_int(row, 2),
        .over = sqlite3_column_int(row, 4) != 0,
        .severity = severity < SEVERITY_UNKNOWN || severity > SEVERITY_CRITICAL
                        ? SEVERITY_UNKNOWN
                        : (enum severity)severity,
    };

    snprintf(event.thing, sizeof(event.thing), "%s", text(row, 3));
    snprintf(event.text, sizeof(event.text), "%s", text(row, 6));
    snprintf(event.action, sizeof(event.action), "%s", text(row, 7));
    return c->event(c->arg, &event);
}

int store_things(struct store_reader *r, const char *set, store_thing_fn *fn, void *arg,
                 struct err *e)
{
    struct callback c = { .thing = fn, .arg = arg };

    return list(r,
                &(struct listing){ "SELECT name, facts FROM thing WHERE set_name = ?1"
                                   " ORDER BY name",
                                   set, thing_row, &c },
                e);
}

int store_events(struct store_reader *r, int64_t since_ms, int limit, store_event_fn *fn, void *arg,
                 struct err *e)
{
    struct callback c = { .event = fn, .arg = arg };
    char sql[256];

    snprintf(sql, sizeof(sql),
             "SELECT t, kind, code, thing, over, severity, text, action FROM event"
             " WHERE t >= %lld ORDER BY t DESC LIMIT %d",
             (long long)since_ms, MAX(limit, 0));
    return list(r, &(struct listing){ sql, NULL, event_row, &c }, e);
}
