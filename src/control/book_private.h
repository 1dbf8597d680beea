/* What the files of the book share. */
#ifndef BRIM_CONTROL_BOOK_PRIVATE_H
#define BRIM_CONTROL_BOOK_PRIVATE_H
#include <limits.h>

#include "control/book.h"
#include "store/sql.h"

enum book_statement {
    BOOK_SEEN,
    BOOK_SEE,
    BOOK_FORGET,
    BOOK_NODES,
    BOOK_DRAINS,
    BOOK_SEE_NODE,
    BOOK_FORGET_NODE,
    BOOK_ADD,
    BOOK_BECAME,
    BOOK_LAST,
    BOOK_COUNT,
    BOOK_STOPPED,
    BOOK_STOP,
    BOOK_STATEMENTS
};

/* Of a row of decisions, in the order in which they are read. */
#define BOOK_COLUMNS \
    "id, t, kind, job, start_ms, restarts, other, devices, state, user, reason, outcome, node"

struct control_book {
    sqlite3 *db;
    sqlite3_stmt *of[BOOK_STATEMENTS];
    int lock; /* -1: to look only */
    char path[PATH_MAX];
};

/* The error of a code, with a sentence. */
int book_trouble(struct control_book *b, int code, struct err *e);

/* A statement with its numbers; n of them, from the first place on. Texts follow. */
sqlite3_stmt *book_bind(struct control_book *b, enum book_statement which, const int64_t *values,
                        int n);
void book_bind_text(sqlite3_stmt *s, int at, const char *text);

/* Run one without results, or one whose result is a number. */
int book_step(struct control_book *b, sqlite3_stmt *s, struct err *e);
int book_number(struct control_book *b, sqlite3_stmt *s, int64_t *ret, struct err *e);

/* A text of the row; never NULL. */
const char *book_text(sqlite3_stmt *s, int at);

#endif
