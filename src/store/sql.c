#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

static int of_io(int code, int system)
{
    if (code == SQLITE_IOERR_NOMEM)
        return -ENOMEM;
    if (system == ENOSPC || system == EDQUOT)
        return -ENOSPC;
    return system == EROFS ? -EROFS : -EIO;
}

int sql_errno(int code, int system)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_IOERR:
        return of_io(code, system);
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EUCLEAN;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return system ? -system : -EACCES;
    default:
        return -EIO;
    }
}

/* SQLite tells no more than that a file could not grow. */
static bool is_limited(rlim_t *most)
{
    struct rlimit files;

    *most = getrlimit(RLIMIT_FSIZE, &files) == 0 ? files.rlim_cur : RLIM_INFINITY;
    return *most != RLIM_INFINITY;
}

int sql_error(sqlite3 *db, int code, const char *path, struct err *e)
{
    int rc = db ? sql_errno(code, sqlite3_system_errno(db)) : -ENOMEM;
    rlim_t most;

    if (rc == -EIO && (code & 0xff) == SQLITE_IOERR && is_limited(&most))
        return err_set(e, rc,
                       "cannot use %s: %s: raise ulimit -f, by which files have %llu bytes at most",
                       path, sqlite3_errmsg(db), (unsigned long long)most);
    switch (rc) {
    case -ENOMEM:
        return err_nomem(e);
    case -ENOSPC:
        return err_set(e, rc,
                       "cannot write %s: the disk is full: make room there, or let the "
                       "store keep less",
                       path);
    case -EROFS:
        return err_set(e, rc,
                       "cannot write %s: it is read-only: remount it, or give the store "
                       "another path",
                       path);
    case -EBUSY:
        return err_set(e, rc,
                       "cannot write %s: another program has locked it: end its "
                       "transaction",
                       path);
    case -EUCLEAN:
        return err_set(e, rc, "cannot use %s: it is damaged (%s)", path, sqlite3_errstr(code));
    case -EACCES:
        return err_set(e, rc,
                       "cannot open %s: permission denied: let this user write there, or "
                       "give the store another path",
                       path);
    case -EMFILE:
        return err_set(e, rc,
                       "cannot open %s: too many files are open: raise the limit, with ulimit -n",
                       path);
    default:
        return err_set(e, rc, "cannot use %s: %s (%s): %s", path, sqlite3_errmsg(db), strerror(-rc),
                       rc == -EIO ? "look into the kernel's log" : "look at what is there");
    }
}

int sql_run(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **ret)
{
    return sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
}

void sql_bind_double(sqlite3_stmt *stmt, int at, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(stmt, at, value);
    else
        sqlite3_bind_null(stmt, at);
}

int sql_step(sqlite3_stmt *stmt)
{
    int code = sqlite3_step(stmt);
    int end = sqlite3_reset(stmt);

    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : end ? end : code;
}

int sql_number(sqlite3_stmt *stmt, int64_t fallback, int64_t *ret)
{
    int code = sqlite3_step(stmt);

    *ret = fallback;
    if (code == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
        *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int sql_ask(sqlite3 *db, const char *text, int64_t fallback, int64_t *ret)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *stmt = NULL;
    int code = sql_prepare(db, text, &stmt);

    return code == SQLITE_OK ? sql_number(stmt, fallback, ret) : code;
}

void sql_finalizep(sqlite3_stmt **stmt)
{
    sqlite3_finalize(*stmt); /* NULL is allowed */
}
