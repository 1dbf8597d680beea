#include "control/book.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/open.h"
#include "store/sql.h"

enum { VERSION = 1, BUSY_MS = 5000, USED = 192 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, start_ms INTEGER, used TEXT,"
    " seen_ms INTEGER, told_ms INTEGER);"
    "CREATE TABLE IF NOT EXISTS action (id INTEGER PRIMARY KEY AUTOINCREMENT, t INTEGER,"
    " kind INTEGER, job INTEGER, start_ms INTEGER, restarts INTEGER, other INTEGER,"
    " devices INTEGER, state INTEGER, user TEXT, reason TEXT, outcome TEXT);"
    "CREATE INDEX IF NOT EXISTS action_of ON action (job, start_ms, kind);"
    "CREATE INDEX IF NOT EXISTS action_at ON action (kind, t);"
    "CREATE TABLE IF NOT EXISTS switch (name TEXT PRIMARY KEY, value INTEGER);";

enum statement { SEEN, SEE, FORGET, ADD, BECAME, LAST, COUNT, STOPPED, STOP, STATEMENTS };

#define COLUMNS "id, t, kind, job, start_ms, restarts, other, devices, state, user, reason, outcome"

static const char *const texts[STATEMENTS] = {
    [SEEN] = "SELECT start_ms, used, seen_ms, told_ms FROM job WHERE id = ?",
    [SEE] = "INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?)",
    [FORGET] = "DELETE FROM job WHERE seen_ms < ?",
    [ADD] = "INSERT INTO action (t, kind, job, start_ms, restarts, other, devices, state, user,"
            " reason, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [BECAME] = "UPDATE action SET state = ?, outcome = ? WHERE id = ?",
    [LAST] = "SELECT " COLUMNS " FROM action WHERE job = ? AND start_ms = ? AND kind = ?"
             " ORDER BY id DESC LIMIT 1",
    [COUNT] = "SELECT count(*) FROM action WHERE kind = ? AND t >= ? AND state IN (3, 4)",
    [STOPPED] = "SELECT value FROM switch WHERE name = 'stopped'",
    [STOP] = "INSERT OR REPLACE INTO switch VALUES ('stopped', ?)",
};

const char *const control_state_names[] = { "said", "proposed", "approved", "due",
                                            "done", "failed",   "stale",    NULL };

const char *control_kind_name(uint8_t kind)
{
    return kind == CONTROL_WARN ? "warn" : "requeue";
}

struct control_book {
    sqlite3 *db;
    sqlite3_stmt *of[STATEMENTS];
    int lock; /* -1: to look only */
    char path[PATH_MAX];
};

static int trouble(struct control_book *b, int code, struct err *e)
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

static int prepare(struct control_book *b, struct err *e)
{
    int64_t version = 0;
    int code = sql_ask(b->db, "PRAGMA user_version", 0, &version);

    if (code == SQLITE_OK && version > VERSION)
        return err_set(e, -EUCLEAN, "%s is of a later brim: take another folder", b->path);
    if (code == SQLITE_OK && version < VERSION)
        code = sql_run(b->db, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK && version < VERSION)
        code = sql_run(b->db, schema);
    if (code == SQLITE_OK && version < VERSION)
        code = sql_run(b->db, "PRAGMA user_version = 1; COMMIT");
    for (int i = 0; i < STATEMENTS && code == SQLITE_OK; i++)
        code = sql_prepare(b->db, texts[i], &b->of[i]);
    return code == SQLITE_OK ? 0 : trouble(b, code, e);
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
    rc = code == SQLITE_OK ? prepare(b, e) : trouble(b, code, e);
    if (rc == 0)
        *ret = steal(&b);
    return rc;
}

void control_book_close(struct control_book *b)
{
    if (!b)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(b->of[i]);
    sqlite3_close(b->db);
    if (b->lock >= 0)
        close(b->lock);
    free(b);
}

int control_book_begin(struct control_book *b, struct err *e)
{
    int code = sql_run(b->db, "BEGIN IMMEDIATE");

    return code == SQLITE_OK ? 0 : trouble(b, code, e);
}

int control_book_commit(struct control_book *b, struct err *e)
{
    int code = sql_run(b->db, "COMMIT"), rc;

    if (code == SQLITE_OK)
        return 0;
    rc = trouble(b, code, e);
    (void)sql_run(b->db, "ROLLBACK");
    return rc;
}

/* ---- statements ---- */

static sqlite3_stmt *bind(struct control_book *b, enum statement which, const int64_t *values,
                          int n)
{
    sqlite3_stmt *s = b->of[which];

    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(s, i + 1, values[i]);
    return s;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static int step(struct control_book *b, sqlite3_stmt *s, struct err *e)
{
    int code = sql_step(s);

    return code == SQLITE_OK ? 0 : trouble(b, code, e);
}

static int number(struct control_book *b, sqlite3_stmt *s, int64_t *ret, struct err *e)
{
    int code = sql_number(s, 0, ret);

    return code == SQLITE_OK ? 0 : trouble(b, code, e);
}

static const char *text_at(sqlite3_stmt *s, int at)
{
    const unsigned char *text = sqlite3_column_text(s, at);

    return text ? (const char *)text : "";
}

/* ---- jobs ---- */

int control_book_seen(struct control_book *b, const struct site_job *j, struct control_seen *ret,
                      struct err *e)
{
    sqlite3_stmt *s = bind(b, SEEN, (const int64_t[]){ j->id }, 1);
    int code = sqlite3_step(s);

    *ret = (struct control_seen){ .told_ms = 0 };
    bursts_begin(&ret->bursts, j->start_ms);
    if (code == SQLITE_ROW && sqlite3_column_int64(s, 0) == j->start_ms) {
        bursts_read(&ret->bursts, text_at(s, 1), j->start_ms);
        ret->bursts.seen_ms = sqlite3_column_int64(s, 2);
        ret->told_ms = sqlite3_column_int64(s, 3);
    }
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : trouble(b, code, e);
}

int control_book_see(struct control_book *b, const struct site_job *j,
                     const struct control_seen *seen, struct err *e)
{
    const int64_t values[] = { j->id, j->start_ms, 0, seen->bursts.seen_ms, seen->told_ms };
    sqlite3_stmt *s = bind(b, SEE, values, ARRAY_SIZE(values));
    char used[USED];

    bursts_write(&seen->bursts, used, sizeof(used));
    bind_text(s, 3, used);
    return step(b, s, e);
}

int control_book_forget(struct control_book *b, int64_t before_ms, struct err *e)
{
    return step(b, bind(b, FORGET, &before_ms, 1), e);
}

/* ---- decisions ---- */

int control_book_add(struct control_book *b, struct control_row *row, struct err *e)
{
    const int64_t values[] = { row->time_ms,  row->kind,  row->job,     row->start_ms,
                               row->restarts, row->other, row->devices, row->state };
    sqlite3_stmt *s = bind(b, ADD, values, ARRAY_SIZE(values));
    int at = ARRAY_SIZE(values), rc;

    bind_text(s, at + 1, row->user);
    bind_text(s, at + 2, row->reason);
    bind_text(s, at + 3, row->outcome);
    rc = step(b, s, e);
    if (rc == 0)
        row->id = sqlite3_last_insert_rowid(b->db);
    return rc;
}

int control_book_became(struct control_book *b, int64_t id, enum control_state state,
                        const char *outcome, struct err *e)
{
    sqlite3_stmt *s = bind(b, BECAME, (const int64_t[]){ (int64_t)state, 0, id }, 3);

    bind_text(s, 2, outcome);
    return step(b, s, e);
}

static void row_of(sqlite3_stmt *s, struct control_row *row)
{
    *row = (struct control_row){
        .id = sqlite3_column_int64(s, 0),
        .time_ms = sqlite3_column_int64(s, 1),
        .kind = (uint8_t)sqlite3_column_int(s, 2),
        .job = (uint32_t)sqlite3_column_int64(s, 3),
        .start_ms = sqlite3_column_int64(s, 4),
        .restarts = (uint32_t)sqlite3_column_int64(s, 5),
        .other = (uint32_t)sqlite3_column_int64(s, 6),
        .devices = sqlite3_column_int(s, 7),
        .state = (uint8_t)MIN((unsigned)sqlite3_column_int(s, 8), CONTROL_STATES - 1U),
    };
    snprintf(row->user, sizeof(row->user), "%s", text_at(s, 9));
    snprintf(row->reason, sizeof(row->reason), "%s", text_at(s, 10));
    snprintf(row->outcome, sizeof(row->outcome), "%s", text_at(s, 11));
}

int control_book_last(struct control_book *b, uint32_t job, int64_t start_ms, uint8_t kind,
                      struct control_row *ret, struct err *e)
{
    sqlite3_stmt *s = bind(b, LAST, (const int64_t[]){ job, start_ms, kind }, 3);
    int code = sqlite3_step(s);

    if (code == SQLITE_ROW)
        row_of(s, ret);
    sqlite3_reset(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return trouble(b, code, e);
    return code == SQLITE_ROW;
}

int control_book_count(struct control_book *b, uint8_t kind, int64_t since_ms, int64_t *ret,
                       struct err *e)
{
    return number(b, bind(b, COUNT, (const int64_t[]){ kind, since_ms }, 2), ret, e);
}

int control_book_rows(struct control_book *b, unsigned states, int most, control_row_fn *fn,
                      void *arg, struct err *e)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *s = NULL;
    int code = sql_prepare(b->db,
                           "SELECT " COLUMNS " FROM action WHERE (1 << state) & ?"
                           " ORDER BY id DESC LIMIT ?",
                           &s);
    struct control_row row;
    int rc = 0;

    if (code != SQLITE_OK)
        return trouble(b, code, e);
    sqlite3_bind_int64(s, 1, states);
    sqlite3_bind_int(s, 2, most);
    while (rc == 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
        row_of(s, &row);
        rc = fn(arg, &row);
    }
    return rc != 0 || code == SQLITE_DONE ? rc : trouble(b, code, e);
}

/* ---- the switch ---- */

int control_book_stopped(struct control_book *b, bool *ret, struct err *e)
{
    int64_t value = 0;
    int rc = number(b, b->of[STOPPED], &value, e);

    if (rc == 0)
        *ret = value != 0;
    return rc;
}

int control_book_stop(struct control_book *b, bool stopped, struct err *e)
{
    return step(b, bind(b, STOP, (const int64_t[]){ stopped }, 1), e);
}
