/* What the files of the book share. */
#ifndef BRIM_CONTROL_BOOK_PRIVATE_H
#define BRIM_CONTROL_BOOK_PRIVATE_H
#include <limits.h>

#include "control/book.h"
#include "control/db/db.h"
#include "control/lease.h"

struct control_book {
    struct db *db;
    int lock; /* -1: to look only, or a database that is shared */
    char path[PATH_MAX];
    bool leased; /* it acts, and others may: it stores what it does while it has the lease */
    bool begun;  /* a transaction */
    struct lease lease;
};

/* A statement of its own is a whole transaction where it counts who leads. */
int book_begin_alone(struct control_book *b, bool *alone, struct err *e) CHECK_RESULT;
int book_end_alone(struct control_book *b, bool alone, int rc, struct err *e) CHECK_RESULT;

#endif
