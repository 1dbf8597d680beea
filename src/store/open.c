#include "store/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "base/clock.h"

enum { CHECK_BYTES = 16 << 20 }; /* a quick_check of so much takes about 0.1 s */

/* Pages of 2 KiB: a tick changes a page or two in each set, and all of it goes through the log. By
 * tests/bench/store.c 4 KiB cost a third more bytes written and a quarter more CPU, and 1 KiB cost
 * more CPU. */

int open_folder(const char *path, struct err *e)
{
    char folder[PATH_MAX];

    if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder) - 32)
        return err_set(e, -ENAMETOOLONG, "cannot use %s: the name is too long", path);
    for (char *at = folder + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
            int rc = -errno;

            if (access(folder, F_OK) < 0)
                return err_set(e, rc, "cannot make %s: %s", folder, strerror(-rc));
        }
        *at = '/';
    }
    return 0;
}

int open_lock(const char *path, struct err *e)
{
    char name[PATH_MAX];
    int fd, rc;

    snprintf(name, sizeof(name), "%s-lock", path);
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0)
        return err_set(e, -errno,
                       "cannot open %s: %s: give the store a path that this user may "
                       "write",
                       name, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
    close(fd);
    if (rc == -EBUSY)
        return err_set(e, rc,
                       "%s is in use by another agent: stop that one, or give this one "
                       "another path",
                       path);
    return err_set(e, rc, "cannot lock %s: %s", name, strerror(-rc));
}

int open_settings(sqlite3 *db)
{
    int code = sqlite3_busy_timeout(db, 1000);

    sqlite3_extended_result_codes(db, 1);
    if (code == SQLITE_OK)
        code = sql_run(db, "PRAGMA cache_size = -512; PRAGMA mmap_size = 0;"
                           "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;");
    return code;
}

/* A file whose log was left behind was not closed: look through it when that is quick. */
static int check_after_kill(sqlite3 *db, const char *path)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *check = NULL;
    char wal[PATH_MAX + 8];
    struct stat st, log;
    bool good = true;
    int code;

    snprintf(wal, sizeof(wal), "%s-wal", path);
    if (stat(path, &st) < 0 || st.st_size > CHECK_BYTES || stat(wal, &log) < 0 || !log.st_size)
        return SQLITE_OK;
    code = sql_prepare(db, "PRAGMA quick_check(1)", &check);
    if (code == SQLITE_OK)
        code = sqlite3_step(check);
    if (code == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(check, 0);

        good = said && !strcmp(said, "ok");
        code = said ? SQLITE_OK : SQLITE_NOMEM;
    }
    return code == SQLITE_OK && !good ? SQLITE_CORRUPT : code == SQLITE_DONE ? SQLITE_OK : code;
}

/* SQLITE_MISMATCH: it is of another program. */
static int check_owner(sqlite3 *db)
{
    int64_t owner = 0, tables = 0;
    char pragma[64];
    int code = sql_ask(db, "PRAGMA application_id", 0, &owner);

    if (code != SQLITE_OK || owner == STORE_APPLICATION)
        return code;
    code = sql_ask(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
    if (code == SQLITE_OK && (owner || tables))
        return SQLITE_MISMATCH;
    snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d", STORE_APPLICATION);
    if (code == SQLITE_OK)
        code = sql_run(db, "PRAGMA page_size = 2048; PRAGMA auto_vacuum = INCREMENTAL");
    return code == SQLITE_OK ? sql_run(db, pragma) : code;
}

static int start_log(struct store *s)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *mode = NULL;
    int code = sql_prepare(s->db, "PRAGMA journal_mode = WAL", &mode);

    if (code == SQLITE_OK)
        code = sqlite3_step(mode);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? SQLITE_OK : code;
    if (sqlite3_stricmp((const char *)sqlite3_column_text(mode, 0), "wal") != 0 && !s->note[0])
        snprintf(s->note, sizeof(s->note),
                 "%.300s is on a filesystem without shared memory: each "
                 "tick waits for the disk; a local disk does not",
                 s->path);
    sqlite3_reset(mode);
    return sql_run(s->db, "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 1536;"
                          "PRAGMA journal_size_limit = 4194304;");
}

static int prepare(struct store *s)
{
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } all[] = {
        { &s->begin, "BEGIN IMMEDIATE" },
        { &s->commit, "COMMIT" },
        { &s->rollback, "ROLLBACK" },
        { &s->thing_find, "SELECT id FROM thing WHERE set_name = ?1 AND name = ?2" },
        { &s->thing_add,
          "INSERT INTO thing(set_name, name, facts, seen) VALUES(?1, ?2, '{}', ?3)" },
        { &s->thing_facts, "UPDATE thing SET facts = ?2 WHERE id = ?1 AND facts <> ?2" },
        { &s->thing_seen, "UPDATE thing SET seen = ?2 WHERE id = ?1" },
        { &s->event_add, "INSERT OR IGNORE INTO event(t, kind, code, thing, over, severity, text,"
                         " action) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)" },
        { &s->pages, "PRAGMA page_count" },
        { &s->free_pages, "PRAGMA freelist_count" },
        { &s->next_thing, "SELECT id, set_name FROM thing WHERE id > ?1 ORDER BY id LIMIT 1" },
    };
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_SIZE(all) && code == SQLITE_OK; i++)
        code = sql_prepare(s->db, all[i].sql, all[i].stmt);
    return code;
}

void open_undo(struct store *s)
{
    sqlite3_stmt **all[] = { &s->begin,     &s->commit,      &s->rollback,   &s->thing_find,
                             &s->thing_add, &s->thing_facts, &s->thing_seen, &s->event_add,
                             &s->pages,     &s->free_pages,  &s->next_thing };

    sets_drop(s);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        sqlite3_finalize(*all[i]);
        *all[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

/* The steps of opening; SQLite's code, with s->db for its words. */
static int try_open(struct store *s)
{
    /* SQLite would make it 0644. Never one that is there: closing it would end the locks that this
     * process has on it. */
    int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    int code;

    if (fd >= 0)
        close(fd);
    code = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = open_settings(s->db);
    if (code == SQLITE_OK)
        code = check_after_kill(s->db, s->path);
    if (code == SQLITE_OK)
        code = check_owner(s->db);
    if (code == SQLITE_OK)
        code = start_log(s);
    if (code == SQLITE_OK)
        code = schema_migrate(s->db);
    if (code == SQLITE_OK)
        code = prepare(s);
    if (code == SQLITE_OK)
        code = sets_tables(s);
    if (code == SQLITE_OK)
        code = sql_ask(s->db, "PRAGMA page_size", 4096, &s->page_bytes);
    return code;
}

static int move(const char *from, const char *to)
{
    return rename(from, to) == 0 || errno == ENOENT ? 0 : -errno;
}

int open_aside(struct store *s, const char *why, int64_t wall_ns, struct err *e)
{
    static const char *const parts[] = { "-wal", "-shm", "" };
    char from[PATH_MAX + 8], to[PATH_MAX + 64];

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        int rc;

        snprintf(from, sizeof(from), "%s%s", s->path, parts[i]);
        snprintf(to, sizeof(to), "%s.%s-%lld%s", s->path, why, (long long)(wall_ns / NS_PER_S),
                 parts[i]);
        rc = move(from, to);
        if (rc < 0)
            return err_set(e, rc, "cannot move %s aside, which is %s: %s: delete it", from, why,
                           strerror(-rc));
    }
    snprintf(s->note, sizeof(s->note), "%.200s was %s: it is kept as %.200s, and a new one begun",
             s->path, strcmp(why, "later") ? why : "written by a later version", to);
    return 0;
}

int open_file(struct store *s, int64_t wall_ns, struct err *e)
{
    int code = try_open(s);

    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB ||
        code == SQLITE_SCHEMA) {
        int rc;

        open_undo(s);
        rc = open_aside(s, code == SQLITE_SCHEMA ? "later" : "damaged", wall_ns, e);
        if (rc < 0)
            return rc;
        code = try_open(s);
    }
    if (code == SQLITE_OK && stat(s->path, &s->file) < 0)
        code = SQLITE_CANTOPEN;
    if (code == SQLITE_OK)
        return 0;
    code = code == SQLITE_MISMATCH
               ? err_set(e, -EEXIST,
                         "%s is a database of another program: give the store another "
                         "path",
                         s->path)
               : sql_error(s->db, code, s->path, e);
    open_undo(s);
    return code;
}
