/* A database in which a control keeps what it must not forget: a file of SQLite, or one of a
 * PostgreSQL that several controls share. The same statements go to both; they have parameters $1,
 * $2 ..., and each text is prepared once for its address: a constant. What differs between the two
 * is asked with db_shared(). */
#ifndef BRIM_CONTROL_DB_DB_H
#define BRIM_CONTROL_DB_DB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { DB_STATEMENTS = 40, DB_COLUMNS = 24 }; /* texts, and parameters or columns of one */

/* A parameter: a text, or where that is NULL the number. A column has both: 0 where it is no
 * number, "" where it is NULL. */
struct db_value {
    int64_t number;
    const char *text;
};

/* Called for each row; its texts stay until it returns: 0 to go on, another value to end. */
typedef int db_row_fn(void *arg, const struct db_value *columns);

struct db;

/* Whether a name is of a PostgreSQL: "postgres://..." or "postgresql://...". */
bool db_is_address(const char *name);

/* Open what a name is of; 'make': a file that is not there is made. 0, or a negative errno with a
 * sentence. */
int db_open(struct db **ret, const char *name, bool make, struct err *e) CHECK_RESULT;
void db_close(struct db *d);
DEFINE_CLEANUP(struct db, db_close)

/* Whether others on other machines may have it too: it is PostgreSQL. */
bool db_shared(const struct db *d);

/* Run statements without parameters and rows. */
int db_script(struct db *d, const char *text, struct err *e) CHECK_RESULT;

/* A statement to be run. fn NULL: no rows are wanted. */
struct db_call {
    const char *text;
    const struct db_value *values; /* n of them */
    size_t n;
    db_row_fn *fn;
    void *arg;
};

/* Run a statement: 0, what fn ended with, or a negative errno with a sentence. */
int db_call(struct db *d, const struct db_call *c, struct err *e) CHECK_RESULT;
#define db_run(d, text, values, n, fn, arg, e) \
    db_call((d), &(const struct db_call){ (text), (values), (n), (fn), (arg) }, (e))

/* A row that is there or not: 1 and its first column, 0, or a negative errno. */
int db_number(struct db *d, const char *text, const struct db_value *values, size_t n, int64_t *ret,
              struct err *e) CHECK_RESULT;

/* What stands between these is stored whole or not at all. A commit that fails has undone it. */
int db_begin(struct db *d, struct err *e) CHECK_RESULT;
int db_commit(struct db *d, struct err *e) CHECK_RESULT;
void db_undo(struct db *d);

#endif
