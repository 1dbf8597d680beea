#include "queue/job/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/sql.h"

enum { VERSION = 8, BUSY_MS = 5000, OLD_ROWS = 1000 };

/* A column of the table, the member of struct queue_job that it holds, and the version of the file
 * that has it first. */
struct column {
    const char *name;
    int version;
    enum {
        COLUMN_I64,
        COLUMN_I32,
        COLUMN_U32,
        COLUMN_U8,
        COLUMN_I8,
        COLUMN_BOOL,
        COLUMN_TEXT
    } kind;
    size_t offset, size;
};

#define COLUMN_OF(version_, kind_, member) \
    { \
#member, version_, kind_, offsetof(struct queue_job, member), \
            sizeof(((struct queue_job *)NULL)->member) \
    }
#define COLUMN(kind_, member) COLUMN_OF(1, kind_, member)

/* "array" and the like are words of SQL: all are quoted. id comes first. */
static const struct column columns[] = {
    COLUMN(COLUMN_I64, id),
    COLUMN(COLUMN_I64, array),
    COLUMN(COLUMN_I32, task),
    COLUMN(COLUMN_I32, width),
    COLUMN(COLUMN_U32, uid),
    COLUMN(COLUMN_U32, gid),
    COLUMN(COLUMN_TEXT, user),
    COLUMN(COLUMN_TEXT, name),
    COLUMN(COLUMN_TEXT, after),
    COLUMN(COLUMN_I32, devices),
    COLUMN(COLUMN_I32, cpus),
    COLUMN(COLUMN_I32, priority),
    COLUMN(COLUMN_I64, limit_ms),
    COLUMN(COLUMN_I64, warn_ms),
    COLUMN(COLUMN_I64, grace_ms),
    COLUMN(COLUMN_I32, signal),
    COLUMN(COLUMN_BOOL, held),
    COLUMN(COLUMN_BOOL, requeue),
    COLUMN(COLUMN_I8, watch),
    COLUMN(COLUMN_U8, state),
    COLUMN(COLUMN_U8, outcome),
    COLUMN(COLUMN_U8, stop),
    COLUMN(COLUMN_I32, attempt),
    COLUMN(COLUMN_I32, status),
    COLUMN(COLUMN_I64, submit_ms),
    COLUMN(COLUMN_I64, start_ms),
    COLUMN(COLUMN_I64, end_ms),
    COLUMN(COLUMN_I64, since_ms),
    COLUMN(COLUMN_I64, ran_ms),
    COLUMN(COLUMN_TEXT, slots),
    COLUMN(COLUMN_TEXT, place),
    COLUMN(COLUMN_TEXT, reason),
    COLUMN(COLUMN_TEXT, token),
    COLUMN_OF(2, COLUMN_TEXT, bound),
    COLUMN_OF(2, COLUMN_TEXT, stopped),
    COLUMN_OF(2, COLUMN_TEXT, used),
    COLUMN_OF(2, COLUMN_I64, seen_ms),
    COLUMN_OF(2, COLUMN_I64, told_ms),
    COLUMN_OF(2, COLUMN_I64, yields),
    COLUMN_OF(3, COLUMN_I64, deadline_ms),
    COLUMN_OF(4, COLUMN_TEXT, team),
    COLUMN_OF(4, COLUMN_TEXT, class),
    COLUMN_OF(5, COLUMN_I32, least),
    COLUMN_OF(5, COLUMN_TEXT, next),
    COLUMN_OF(6, COLUMN_I64, device_ms),
    COLUMN_OF(7, COLUMN_BOOL, share),
    COLUMN_OF(7, COLUMN_I64, memory_b),
    COLUMN_OF(7, COLUMN_I64, host),
    COLUMN_OF(7, COLUMN_BOOL, apart),
    COLUMN_OF(7, COLUMN_I32, memory_milli),
    COLUMN_OF(7, COLUMN_I64, worked_ms),
    COLUMN_OF(7, COLUMN_I64, worked),
    COLUMN_OF(7, COLUMN_I64, alone_ms),
    COLUMN_OF(7, COLUMN_I64, alone),
    COLUMN_OF(8, COLUMN_I64, parked_ms),
};

enum { SQL_TEXT = 8192, LISTS = QUEUE_OLD + 1 };

struct queue_store {
    sqlite3 *db;
    char path[PATH_MAX];
    sqlite3_stmt *add, *put, *met, *remove, *had, *token, *begin, *commit, *rollback, *lists[LISTS];
};

/* ---- columns ---- */

static int bind(sqlite3_stmt *stmt, int at, const struct column *c, const struct queue_job *j)
{
    const void *from = (const char *)j + c->offset;

    switch (c->kind) {
    case COLUMN_I64:
        return sqlite3_bind_int64(stmt, at, *(const int64_t *)from);
    case COLUMN_I32:
        return sqlite3_bind_int64(stmt, at, *(const int32_t *)from);
    case COLUMN_U32:
        return sqlite3_bind_int64(stmt, at, *(const uint32_t *)from);
    case COLUMN_U8:
        return sqlite3_bind_int64(stmt, at, *(const uint8_t *)from);
    case COLUMN_I8:
        return sqlite3_bind_int64(stmt, at, *(const int8_t *)from);
    case COLUMN_BOOL:
        return sqlite3_bind_int64(stmt, at, *(const bool *)from);
    default:
        return sqlite3_bind_text(stmt, at, from, -1, SQLITE_STATIC);
    }
}

static void read_column(sqlite3_stmt *stmt, int at, const struct column *c, struct queue_job *j)
{
    void *to = (char *)j + c->offset;
    int64_t value = sqlite3_column_int64(stmt, at);
    const char *text;

    switch (c->kind) {
    case COLUMN_I64:
        *(int64_t *)to = value;
        break;
    case COLUMN_I32:
        *(int32_t *)to = (int32_t)value;
        break;
    case COLUMN_U32:
        *(uint32_t *)to = (uint32_t)value;
        break;
    case COLUMN_U8:
        *(uint8_t *)to = (uint8_t)value;
        break;
    case COLUMN_I8:
        *(int8_t *)to = (int8_t)value;
        break;
    case COLUMN_BOOL:
        *(bool *)to = value != 0;
        break;
    default:
        text = (const char *)sqlite3_column_text(stmt, at);
        snprintf(to, c->size, "%s", text ? text : "");
    }
}

/* "id", "array" ... with something before and behind each. */
static void add_columns(struct str *sql, size_t from, const char *format)
{
    for (size_t i = from; i < ARRAY_SIZE(columns); i++) {
        str_add(sql, i > from ? ", " : "");
        for (const char *at = format; *at; at++)
            if (*at == '%')
                str_addf(sql, "\"%s\"", columns[i].name);
            else if (*at == '#')
                str_addf(sql, "?%zu", i + 1);
            else
                str_add_char(sql, *at);
    }
}

/* ---- open ---- */

static int prepare_rows(struct queue_store *s)
{
    static const char *const where[LISTS] = {
        [QUEUE_LIVE] = "WHERE state < 2 ORDER BY id",
        [QUEUE_RECENT] = "WHERE (state < 2 OR end_ms >= ?1) AND id > ?2 ORDER BY id",
        [QUEUE_OF_ARRAY] = "WHERE \"array\" = ?1 OR id = ?1 ORDER BY id",
        [QUEUE_OLD] = "WHERE state = 2 AND end_ms < ?1 ORDER BY id LIMIT ?2",
    };
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_TEXT);
    int code;

    str_add(&sql, "INSERT INTO job(");
    add_columns(&sql, 0, "%");
    str_add(&sql, ") VALUES(");
    add_columns(&sql, 0, "#");
    str_add(&sql, ")");
    code = str_error(&sql) ? SQLITE_NOMEM : sql_prepare(s->db, str_text(&sql), &s->add);
    str_reset(&sql);
    str_add(&sql, "UPDATE job SET ");
    add_columns(&sql, 1, "% = #");
    str_add(&sql, " WHERE id = ?1");
    if (code == SQLITE_OK)
        code = str_error(&sql) ? SQLITE_NOMEM : sql_prepare(s->db, str_text(&sql), &s->put);
    for (size_t i = 0; i < LISTS && code == SQLITE_OK; i++) {
        str_reset(&sql);
        str_add(&sql, "SELECT ");
        add_columns(&sql, 0, "%");
        str_addf(&sql, " FROM job %s", where[i]);
        code = str_error(&sql) ? SQLITE_NOMEM : sql_prepare(s->db, str_text(&sql), &s->lists[i]);
    }
    return code;
}

static int prepare(struct queue_store *s)
{
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } all[] = {
        { &s->begin, "BEGIN IMMEDIATE" },
        { &s->commit, "COMMIT" },
        { &s->rollback, "ROLLBACK" },
        { &s->remove, "DELETE FROM job WHERE id = ?1" },
        /* outcome 1 is QUEUE_DONE; a job has started when it has had an attempt */
        { &s->met, "SELECT count(*), sum(state < 2 AND attempt > 0), sum(state = 2),"
                   " sum(state = 2 AND outcome = 1) FROM job WHERE \"array\" = ?1 OR id = ?1" },
        { &s->token, "SELECT min(id) FROM job WHERE token = ?1 AND uid = ?2" },
        { &s->had, "SELECT \"user\", end_ms, device_ms FROM job"
                   " WHERE state = 2 AND device_ms > 0 AND end_ms > ?1"
                   " ORDER BY \"user\"" },
    };
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_SIZE(all) && code == SQLITE_OK; i++)
        code = sql_prepare(s->db, all[i].sql, all[i].stmt);
    return code == SQLITE_OK ? prepare_rows(s) : code;
}

static void add_type(struct str *sql, const struct column *c)
{
    str_addf(sql, "\"%s\" %s NOT NULL", c->name, c->kind == COLUMN_TEXT ? "TEXT" : "INTEGER");
}

static void make_table(struct str *sql)
{
    str_add(sql, "CREATE TABLE job(id INTEGER PRIMARY KEY AUTOINCREMENT");
    for (size_t i = 1; i < ARRAY_SIZE(columns); i++) {
        str_add(sql, ", ");
        add_type(sql, &columns[i]);
    }
    str_add(sql, ") STRICT; CREATE INDEX job_array ON job(\"array\");"
                 "CREATE INDEX job_token ON job(token);"
                 "CREATE INDEX job_live ON job(state, end_ms);");
}

/* Add what a file of an earlier brim has not. */
static void extend_table(struct str *sql, int64_t version)
{
    for (size_t i = 1; i < ARRAY_SIZE(columns); i++) {
        if (columns[i].version <= version)
            continue;
        str_add(sql, "ALTER TABLE job ADD COLUMN ");
        add_type(sql, &columns[i]);
        str_add(sql, columns[i].kind == COLUMN_TEXT ? " DEFAULT '';" : " DEFAULT 0;");
    }
    if (version < 6) /* until then a job had all of its devices */
        str_add(sql, "UPDATE job SET device_ms = ran_ms * devices;");
}

static int migrate(sqlite3 *db)
{
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_TEXT);
    int64_t version = 0;
    int code = sql_ask(db, "PRAGMA user_version", 0, &version);

    if (code != SQLITE_OK || version == VERSION)
        return code;
    if (version > VERSION)
        return SQLITE_SCHEMA;
    str_add(&sql, "BEGIN IMMEDIATE;");
    if (version > 0)
        extend_table(&sql, version);
    else
        make_table(&sql);
    str_addf(&sql, "PRAGMA user_version = %d; COMMIT;", VERSION);
    code = str_error(&sql) ? SQLITE_NOMEM : sql_run(db, str_text(&sql));
    if (code != SQLITE_OK && !sqlite3_get_autocommit(db))
        (void)sql_run(db, "ROLLBACK");
    return code;
}

static int failed(const struct queue_store *s, int code, struct err *e)
{
    int rc = sql_error(s->db, code, s->path, e);

    if (rc == -ENOSPC)
        return err_set(e, rc, "cannot write %s: the disk is full: make room there", s->path);
    if (rc == -EUCLEAN)
        return err_context(e, rc, "the queue cannot go on; move that file away to begin anew: ");
    return rc;
}

int queue_store_open(struct queue_store **ret, const char *path, struct err *e)
{
    CLEANUP(queue_store_closep) struct queue_store *s = calloc(1, sizeof(*s));
    int fd, code;

    if (!s)
        return err_nomem(e);
    if (snprintf(s->path, sizeof(s->path), "%s", path) >= (int)sizeof(s->path))
        return err_set(e, -ENAMETOOLONG, "cannot use %s: the name is too long", path);
    /* SQLite would make it for all to read. One that is there is not opened: closing it would end
     * locks. */
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    closep(&fd);
    code = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(s->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sql_run(s->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                              "PRAGMA trusted_schema = OFF;");
    if (code == SQLITE_OK)
        code = migrate(s->db);
    if (code == SQLITE_SCHEMA)
        return err_set(e, -EUCLEAN, "%s was written by a later brim: use that one", path);
    if (code == SQLITE_OK)
        code = prepare(s);
    if (code != SQLITE_OK)
        return failed(s, code, e);
    *ret = steal(&s);
    return 0;
}

void queue_store_close(struct queue_store *s)
{
    if (!s)
        return;
    sqlite3_stmt *all[] = { s->add,   s->put,   s->met,    s->remove,  s->had,
                            s->token, s->begin, s->commit, s->rollback };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        sqlite3_finalize(all[i]);
    for (size_t i = 0; i < LISTS; i++)
        sqlite3_finalize(s->lists[i]);
    sqlite3_close(s->db);
    free(s);
}

/* ---- writing ---- */

static int step(struct queue_store *s, sqlite3_stmt *stmt, struct err *e)
{
    int code = sql_step(stmt);

    return code == SQLITE_OK ? 0 : failed(s, code, e);
}

int queue_store_begin(struct queue_store *s, struct err *e)
{
    return step(s, s->begin, e);
}

int queue_store_commit(struct queue_store *s, struct err *e)
{
    int rc = step(s, s->commit, e);

    if (rc < 0)
        queue_store_rollback(s);
    return rc;
}

void queue_store_rollback(struct queue_store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        (void)sql_step(s->rollback);
}

static int write_job(struct queue_store *s, sqlite3_stmt *stmt, const struct queue_job *j,
                     bool with_id, struct err *e)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_SIZE(columns) && code == SQLITE_OK; i++)
        code = i == 0 && !with_id ? sqlite3_bind_null(stmt, 1)
                                  : bind(stmt, (int)i + 1, &columns[i], j);
    return code == SQLITE_OK ? step(s, stmt, e) : failed(s, code, e);
}

int queue_store_add(struct queue_store *s, struct queue_job *j, struct err *e)
{
    int rc = write_job(s, s->add, j, false, e);

    if (rc == 0)
        j->id = sqlite3_last_insert_rowid(s->db);
    return rc;
}

int queue_store_last(struct queue_store *s, int64_t *ret, struct err *e)
{
    int code = sql_ask(s->db, "SELECT max(seq) FROM sqlite_sequence WHERE name = 'job'", 0, ret);

    return code == SQLITE_OK ? 0 : failed(s, code, e);
}

int queue_store_pass(struct queue_store *s, int64_t id, struct err *e)
{
    char sql[160];
    int rc = queue_store_begin(s, e), code;

    if (rc < 0)
        return rc;
    snprintf(sql, sizeof(sql),
             "DELETE FROM sqlite_sequence WHERE name = 'job';"
             "INSERT INTO sqlite_sequence(name, seq) VALUES('job', %lld)",
             (long long)id);
    code = sql_run(s->db, sql);
    if (code == SQLITE_OK)
        return queue_store_commit(s, e);
    rc = failed(s, code, e);
    queue_store_rollback(s);
    return rc;
}

int queue_store_put(struct queue_store *s, const struct queue_job *j, struct err *e)
{
    return write_job(s, s->put, j, true, e);
}

int queue_store_remove(struct queue_store *s, int64_t id, struct err *e)
{
    int code = sqlite3_bind_int64(s->remove, 1, id);

    return code == SQLITE_OK ? step(s, s->remove, e) : failed(s, code, e);
}

/* ---- reading ---- */

static int list(struct queue_store *s, sqlite3_stmt *stmt, queue_job_fn *fn, void *arg,
                struct err *e)
{
    struct queue_job j;
    int code = SQLITE_OK, rc = 0;

    while (code == SQLITE_OK && rc == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        memset(&j, 0, sizeof(j));
        j.milli = -1;
        j.steps = -1;
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
            read_column(stmt, (int)i, &columns[i], &j);
        rc = fn(arg, &j);
        code = SQLITE_OK;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE)
        rc = failed(s, code, e);
    sqlite3_reset(stmt);
    return rc;
}

/* Numbers for the first parameters of a statement, as many as it has. */
static int bind_numbers(struct queue_store *s, sqlite3_stmt *stmt, int64_t first, int64_t second,
                        struct err *e)
{
    int n = sqlite3_bind_parameter_count(stmt);
    int code = n > 0 ? sqlite3_bind_int64(stmt, 1, first) : SQLITE_OK;

    if (code == SQLITE_OK && n > 1)
        code = sqlite3_bind_int64(stmt, 2, second);
    return code == SQLITE_OK ? 0 : failed(s, code, e);
}

int queue_store_list(struct queue_store *s, enum queue_which which, int64_t argument,
                     queue_job_fn *fn, void *arg, struct err *e)
{
    int rc = bind_numbers(s, s->lists[which], argument, OLD_ROWS, e);

    return rc < 0 ? rc : list(s, s->lists[which], fn, arg, e);
}

int queue_store_recent(struct queue_store *s, int64_t since_ms, int64_t from, queue_job_fn *fn,
                       void *arg, struct err *e)
{
    int rc = bind_numbers(s, s->lists[QUEUE_RECENT], since_ms, from - 1, e);

    return rc < 0 ? rc : list(s, s->lists[QUEUE_RECENT], fn, arg, e);
}

int queue_store_met(struct queue_store *s, int64_t id, struct queue_met *ret, struct err *e)
{
    int code = sqlite3_bind_int64(s->met, 1, id), rc = 0;

    if (code == SQLITE_OK)
        code = sqlite3_step(s->met);
    if (code == SQLITE_ROW)
        *ret = (struct queue_met){
            sqlite3_column_int64(s->met, 0),
            sqlite3_column_int64(s->met, 1),
            sqlite3_column_int64(s->met, 2),
            sqlite3_column_int64(s->met, 3),
        };
    else
        rc = failed(s, code, e);
    sqlite3_reset(s->met);
    return rc;
}

int queue_store_had(struct queue_store *s, int64_t now_ms, int64_t half_life_ms, queue_had_fn *fn,
                    void *arg, struct err *e)
{
    enum { HALF_LIVES = 20 };
    int64_t from = half_life_ms > 0 ? now_ms - HALF_LIVES * half_life_ms : 0;
    int code = sqlite3_bind_int64(s->had, 1, from), rc = 0;

    while (code == SQLITE_OK && rc == 0 && (code = sqlite3_step(s->had)) == SQLITE_ROW) {
        double age = (double)(now_ms - sqlite3_column_int64(s->had, 1));
        double keep = half_life_ms > 0 ? exp2(-age / (double)half_life_ms) : 1;
        const char *user = (const char *)sqlite3_column_text(s->had, 0);

        rc = user ? fn(arg, user, sqlite3_column_double(s->had, 2) * keep) : -ENOMEM;
        code = SQLITE_OK;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE)
        rc = failed(s, code, e);
    sqlite3_reset(s->had);
    return rc;
}

int queue_store_token(struct queue_store *s, const char *token, uint32_t uid, int64_t *ret,
                      struct err *e)
{
    int code = sqlite3_bind_text(s->token, 1, token, -1, SQLITE_STATIC);

    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(s->token, 2, uid);
    if (code == SQLITE_OK)
        code = sql_number(s->token, 0, ret);
    return code == SQLITE_OK ? 0 : failed(s, code, e);
}
