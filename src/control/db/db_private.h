/* The two kinds of databases. For src/control/db*.c. */
#ifndef BRIM_CONTROL_DB_DB_PRIVATE_H
#define BRIM_CONTROL_DB_DB_PRIVATE_H
#include "control/db/db.h"

/* ---- SQLite ---- */

struct db_file;

int db_file_open(struct db_file **ret, const char *path, bool make, struct err *e) CHECK_RESULT;
void db_file_close(struct db_file *f);
int db_file_script(struct db_file *f, const char *text, struct err *e) CHECK_RESULT;
int db_file_run(struct db_file *f, const struct db_call *c, struct err *e) CHECK_RESULT;

/* ---- PostgreSQL ---- */

struct db_postgres;

/* A connection that is lost is made anew, but not in a transaction. */
int db_postgres_open(struct db_postgres **ret, const char *address, struct err *e) CHECK_RESULT;
void db_postgres_close(struct db_postgres *p);
int db_postgres_script(struct db_postgres *p, const char *text, struct err *e) CHECK_RESULT;
int db_postgres_run(struct db_postgres *p, const struct db_call *c, struct err *e) CHECK_RESULT;

#endif
