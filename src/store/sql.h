/* The few calls of SQLite that the store makes, with our errors. */
#ifndef BRIM_STORE_SQL_H
#define BRIM_STORE_SQL_H
#include <sqlite3.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The negative errno of a result code; 0 for SQLITE_OK, _ROW and _DONE. system is what
 * sqlite3_system_errno() says, or 0. */
int sql_errno(int code, int system);

/* The same for the last call on db, with "cannot VERB PATH: why: way out". db may be NULL: out of
 * memory. */
int sql_error(sqlite3 *db, int code, const char *path, struct err *e);

/* Run statements without results; returns SQLite's code. */
int sql_run(sqlite3 *db, const char *text);

/* Prepare; persistent: it is kept. Returns SQLite's code; *ret is NULL on failure. */
int sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **ret);

/* Bind NULL for what is not a finite number. */
void sql_bind_double(sqlite3_stmt *stmt, int at, double value);

/* Step a statement without results and reset it; SQLITE_OK or the code. */
int sql_step(sqlite3_stmt *stmt);

/* The first column of the first row of a statement as a number, fallback when there is no row or it
 * is NULL; resets it. */
int sql_number(sqlite3_stmt *stmt, int64_t fallback, int64_t *ret);

/* The same for a text that is used once. */
int sql_ask(sqlite3 *db, const char *text, int64_t fallback, int64_t *ret);

void sql_finalizep(sqlite3_stmt **stmt);

#endif
