#include "control/book_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/open.h"

enum { VERSION = 2, BUSY_MS = 5000 };

static const char first[] =
    "CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, start_ms INTEGER, used TEXT,"
    " seen_ms INTEGER, told_ms INTEGER);"
    "CREATE TABLE IF NOT EXISTS action (id INTEGER PRIMARY KEY AUTOINCREMENT, t INTEGER,"
    " kind INTEGER, job INTEGER, start_ms INTEGER, restarts INTEGER, other INTEGER,"
    " devices INTEGER, state INTEGER, user TEXT, reason TEXT, outcome TEXT);"
    "CREATE INDEX IF NOT EXISTS action_of ON action (job, start_ms, kind);"
    "CREATE INDEX IF NOT EXISTS action_at ON action (kind, t);"
    "CREATE TABLE IF NOT EXISTS switch (name TEXT PRIMARY KEY, value INTEGER);";

/* Since version 2 nodes are acted on as well. */
static const char second[] =
    "ALTER TABLE action ADD COLUMN node TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE node (name TEXT PRIMARY KEY, unfit_ms INTEGER, fit_ms INTEGER);";

static const char *const texts[BOOK_STATEMENTS] = {
    [BOOK_SEEN] = "SELECT start_ms, used, seen_ms, told_ms FROM job WHERE id = ?",
    [BOOK_SEE] = "INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?)",
    [BOOK_FORGET] = "DELETE FROM job WHERE seen_ms < ?",
    [BOOK_NODES] = "SELECT name, unfit_ms, fit_ms FROM node",
    [BOOK_DRAINS] = "SELECT node, count(*) FROM action WHERE kind = ? AND t >= ? AND state = ?"
                    " GROUP BY node",
    [BOOK_SEE_NODE] = "INSERT OR REPLACE INTO node (unfit_ms, fit_ms, name) VALUES (?, ?, ?)",
    [BOOK_FORGET_NODE] = "DELETE FROM node WHERE name = ?",
    [BOOK_ADD] =
        "INSERT INTO action (t, kind, job, start_ms, restarts, other, devices, state, user,"
        " reason, outcome, node) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [BOOK_BECAME] = "UPDATE action SET state = ?, outcome = ? WHERE id = ?",
    [BOOK_LAST] = "SELECT " BOOK_COLUMNS " FROM action WHERE job = ? AND start_ms = ? AND kind = ?"
                  " AND node = ? ORDER BY id DESC LIMIT 1",
    [BOOK_COUNT] = "SELECT count(*) FROM action WHERE kind = ? AND t >= ? AND state IN (3, 4)",
    [BOOK_STOPPED] = "SELECT value FROM switch WHERE name = 'stopped'",
    [BOOK_STOP] = "INSERT OR REPLACE INTO switch VALUES ('stopped', ?)",
};

int book_trouble(struct control_book *b, int code, struct err *e)
{
    return sql_error(b->db, code, b->path, e);
}

/* ---- opening ---- */

/* Who may write there may approve: nobody else is to. */
static int check_folder(const char *folder, struct err *e)
{
    struct stat st;

    if (stat(folder, &st) < 0)
        return err_set(e, -errno, "cannot look at %s: %m", folder);
    if (st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    return err_set(e, -EPERM,
                   "others may write in %s, and could approve what they want: chmod "
                   "700, or take another folder",
                   folder);
}

static int lock(struct control_book *b, const char *folder, struct err *e)
{
    char path[PATH_MAX];
    int rc;

    if (snprintf(path, sizeof(path), "%s/lock", folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "the name of %s is too long", folder);
    b->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (b->lock < 0)
        return err_set(e, -errno, "cannot open %s: %m", path);
    if (flock(b->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
    return rc == -EBUSY ? err_set(e, rc, "another brim control has %s and leads", folder)
                        : err_set(e, rc, "cannot lock %s: %m", path);
}

/* Another control may have done so meanwhile: its version is asked for again. */
static int upgrade(struct control_book *b)
{
    int64_t version = 0;
    int code = sql_run(b->db, "BEGIN IMMEDIATE");

    if (code != SQLITE_OK)
        return code;
    code = sql_ask(b->db, "PRAGMA user_version", 0, &version);
    if (code == SQLITE_OK && version < 1)
        code = sql_run(b->db, first);
    if (code == SQLITE_OK && version < 2)
        code = sql_run(b->db, second);
    if (code == SQLITE_OK)
        code = sql_run(b->db, "PRAGMA user_version = 2; COMMIT");
    if (code != SQLITE_OK)
        (void)sql_run(b->db, "ROLLBACK");
    return code;
}

static int prepare(struct control_book *b, struct err *e)
{
    int64_t version = 0;
    int code = sql_ask(b->db, "PRAGMA user_version", 0, &version);

    if (code == SQLITE_OK && version > VERSION)
        return err_set(e, -EUCLEAN, "%s is of a later brim: take another folder", b->path);
    if (code == SQLITE_OK && version < VERSION)
        code = upgrade(b);
    for (int i = 0; i < BOOK_STATEMENTS && code == SQLITE_OK; i++)
        code = sql_prepare(b->db, texts[i], &b->of[i]);
    return code == SQLITE_OK ? 0 : book_trouble(b, code, e);
}

int control_book_open(struct control_book **ret, const char *folder, bool act, struct err *e)
{
    CLEANUP(control_book_closep) struct control_book *b = calloc(1, sizeof(*b));
    int code, rc = 0;

    if (!b)
        return err_nomem(e);
    b->lock = -1;
    if (snprintf(b->path, sizeof(b->path), "%s/control.db", folder) >= (int)sizeof(b->path))
        return err_set(e, -ENAMETOOLONG, "the name of %s is too long", folder);
    rc = act ? open_folder(folder, e) : 0;
    if (rc < 0)
        return rc;
    if (act && mkdir(folder, 0700) < 0 && errno != EEXIST)
        return err_set(e, -errno, "cannot make %s: %m", folder);
    if (act)
        rc = check_folder(folder, e);
    if (act && rc == 0)
        rc = lock(b, folder, e);
    if (rc < 0)
        return rc;
    code = sqlite3_open_v2(
        b->path, &b->db,
        SQLITE_OPEN_READWRITE | (act ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_CANTOPEN && !act && access(b->path, F_OK) < 0)
        return err_set(e, -ENOENT, "there is no %s: brim control has not run with this folder",
                       b->path);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(b->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sql_run(b->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                              "PRAGMA trusted_schema = OFF");
    rc = code == SQLITE_OK ? prepare(b, e) : book_trouble(b, code, e);
    if (rc == 0)
        *ret = steal(&b);
    return rc;
}

void control_book_close(struct control_book *b)
{
    if (!b)
        return;
    for (int i = 0; i < BOOK_STATEMENTS; i++)
        sqlite3_finalize(b->of[i]);
    sqlite3_close(b->db);
    if (b->lock >= 0)
        close(b->lock);
    free(b);
}

int control_book_begin(struct control_book *b, struct err *e)
{
    int code = sql_run(b->db, "BEGIN IMMEDIATE");

    return code == SQLITE_OK ? 0 : book_trouble(b, code, e);
}

int control_book_commit(struct control_book *b, struct err *e)
{
    int code = sql_run(b->db, "COMMIT"), rc;

    if (code == SQLITE_OK)
        return 0;
    rc = book_trouble(b, code, e);
    (void)sql_run(b->db, "ROLLBACK");
    return rc;
}

/* ---- statements ---- */

sqlite3_stmt *book_bind(struct control_book *b, enum book_statement which, const int64_t *values,
                        int n)
{
    sqlite3_stmt *s = b->of[which];

    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(s, i + 1, values[i]);
    return s;
}

void book_bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

int book_step(struct control_book *b, sqlite3_stmt *s, struct err *e)
{
    int code = sql_step(s);

    return code == SQLITE_OK ? 0 : book_trouble(b, code, e);
}

int book_number(struct control_book *b, sqlite3_stmt *s, int64_t *ret, struct err *e)
{
    int code = sql_number(s, 0, ret);

    return code == SQLITE_OK ? 0 : book_trouble(b, code, e);
}

const char *book_text(sqlite3_stmt *s, int at)
{
    const unsigned char *text = sqlite3_column_text(s, at);

    return text ? (const char *)text : "";
}

/* ---- the switch ---- */

int control_book_stopped(struct control_book *b, bool *ret, struct err *e)
{
    int64_t value = 0;
    int rc = book_number(b, b->of[BOOK_STOPPED], &value, e);

    if (rc == 0)
        *ret = value != 0;
    return rc;
}

int control_book_stop(struct control_book *b, bool stopped, struct err *e)
{
    return book_step(b, book_bind(b, BOOK_STOP, (const int64_t[]){ stopped }, 1), e);
}
