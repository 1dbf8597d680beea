/* What SQLite answers, as error numbers and sentences, and the small calls around it. */
#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <sys/resource.h>

#include "tap.h"

static void test_numbers(void)
{
    static const struct {
        int code, system, want;
    } rows[] = {
        { SQLITE_OK, 0, 0 },
        { SQLITE_ROW, ENOSPC, 0 },
        { SQLITE_DONE, EROFS, 0 },
        { SQLITE_NOMEM, 0, -ENOMEM },
        { SQLITE_FULL, 0, -ENOSPC },
        { SQLITE_IOERR, 0, -EIO },
        { SQLITE_IOERR, EIO, -EIO },
        { SQLITE_IOERR, ENOSPC, -ENOSPC },
        { SQLITE_IOERR, EDQUOT, -ENOSPC },
        { SQLITE_IOERR, EROFS, -EROFS },
        { SQLITE_IOERR_WRITE, ENOSPC, -ENOSPC },
        { SQLITE_IOERR_NOMEM, ENOSPC, -ENOMEM },
        { SQLITE_READONLY, 0, -EROFS },
        { SQLITE_READONLY_DBMOVED, 0, -EROFS },
        { SQLITE_BUSY, 0, -EBUSY },
        { SQLITE_LOCKED, 0, -EBUSY },
        { SQLITE_CORRUPT, 0, -EUCLEAN },
        { SQLITE_NOTADB, 0, -EUCLEAN },
        { SQLITE_CANTOPEN, 0, -EACCES },
        { SQLITE_CANTOPEN, ENOENT, -ENOENT },
        { SQLITE_CANTOPEN, EMFILE, -EMFILE },
        { SQLITE_PERM, 0, -EACCES },
        { SQLITE_PERM, EACCES, -EACCES },
        { SQLITE_ERROR, ENOSPC, -EIO },
        { SQLITE_MISUSE, 0, -EIO },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        is_int(sql_errno(rows[i].code, rows[i].system), rows[i].want,
               "SQLite's code %d with error %d of the system is %d", rows[i].code, rows[i].system,
               rows[i].want);
}

static void test_sentences(sqlite3 *db)
{
    static const struct {
        int code;
        const char *want;
    } rows[] = {
        { SQLITE_FULL, "cannot write p: the disk is full: make room there, or let the store keep "
                       "less" },
        { SQLITE_READONLY, "cannot write p: it is read-only: remount it, or give the store another "
                           "path" },
        { SQLITE_BUSY, "cannot write p: another program has locked it: end its transaction" },
        { SQLITE_LOCKED, "cannot write p: another program has locked it: end its transaction" },
        { SQLITE_CORRUPT, "cannot use p: it is damaged (database disk image is malformed)" },
        { SQLITE_NOTADB, "cannot use p: it is damaged (file is not a database)" },
        { SQLITE_PERM, "cannot open p: permission denied: let this user write there, or give the "
                       "store another path" },
        { SQLITE_MISUSE, "cannot use p: not an error (Input/output error): look into the kernel's "
                         "log" },
    };
    struct err memory = { "" }, e = { "" };
    struct rlimit was, limit;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        is_int(sql_error(db, rows[i].code, "p", &e), sql_errno(rows[i].code, 0),
               "sql_error returns the number of code %d", rows[i].code);
        is_str(e.text, rows[i].want, "sql_error has a sentence for code %d", rows[i].code);
    }
    is_int(getrlimit(RLIMIT_FSIZE, &was), 0, "the limit of files is known");
    limit = (struct rlimit){ .rlim_cur = 1 << 20, .rlim_max = was.rlim_max };
    is_int(setrlimit(RLIMIT_FSIZE, &limit), 0, "files are limited to 1 MiB");
    sql_error(db, SQLITE_IOERR_SHMSIZE, "p", &e);
    is_int(setrlimit(RLIMIT_FSIZE, &was), 0, "files are limited as before");
    is_str(e.text,
           "cannot use p: not an error: raise ulimit -f, by which files have 1048576 bytes at most",
           "sql_error says that files are limited where a file could not grow");
    is_int(err_nomem(&memory), -ENOMEM, "there is a sentence for memory that ran out");
    is_int(sql_error(db, SQLITE_NOMEM, "p", &e), -ENOMEM, "sql_error knows memory that ran out");
    is_str(e.text, memory.text, "sql_error says that memory ran out");
    is_int(sql_error(NULL, SQLITE_CANTOPEN, "p", &e), -ENOMEM,
           "a database that there is not is out of memory");
}

static void test_steps(sqlite3 *db)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *put = NULL, *get = NULL;
    int64_t n = 0;

    is_int(sql_run(db, "CREATE TABLE t(x UNIQUE)"), SQLITE_OK, "sql_run makes a table");
    is_int(sql_run(db, "nonsense"), SQLITE_ERROR, "sql_run refuses nonsense");
    is_int(sql_ask(db, "SELECT x FROM t", 7, &n), SQLITE_OK, "sql_ask asks an empty table");
    is_int(n, 7, "without a row there is what is to be said then");
    is_int(sql_ask(db, "nonsense", 8, &n), SQLITE_ERROR, "sql_ask refuses nonsense");
    is_int(n, 7, "nonsense leaves the number as it is");
    is_int(sql_prepare(db, "INSERT INTO t VALUES(?1)", &put), SQLITE_OK, "an insertion is made");
    sql_bind_double(put, 1, 5);
    is_int(sql_step(put), SQLITE_OK, "sql_step puts a row");
    is_int(sql_step(put), SQLITE_CONSTRAINT, "sql_step tells of a row that may not be put");
    is_int(sql_ask(db, "SELECT x FROM t", 7, &n), SQLITE_OK, "sql_ask asks a table with a row");
    is_int(n, 5, "the number of the row is told");
    sql_bind_double(put, 1, (double)NAN);
    is_int(sql_step(put), SQLITE_OK, "sql_step puts what is no number");
    sql_bind_double(put, 1, (double)INFINITY);
    is_int(sql_step(put), SQLITE_OK, "sql_step puts what is not finite");
    is_int(sql_ask(db, "SELECT count(*) FROM t WHERE x IS NULL", 0, &n), SQLITE_OK,
           "rows without a number are counted");
    is_int(n, 2, "what is no number is kept as none");
    is_int(sql_ask(db, "SELECT x FROM t WHERE x IS NULL", 9, &n), SQLITE_OK,
           "a row without a number is asked");
    is_int(n, 9, "a row without a number has what is to be said then");
    is_int(sql_prepare(db, "SELECT x FROM t", &get), SQLITE_OK, "a question is made");
    is_int(sql_step(get), SQLITE_OK, "sql_step passes where there is a row");
    is_int(sql_number(get, 0, &n), SQLITE_OK, "a question can be asked again");
    is_int(n, 5, "a question that is asked again begins anew");
}

int main(void)
{
    sqlite3 *db = NULL;

    test_numbers();
    if (!ok(sqlite3_open(":memory:", &db) == SQLITE_OK, "a database is opened in memory"))
        return done();
    test_sentences(db);
    test_steps(db);
    sqlite3_close(db);
    return done();
}
