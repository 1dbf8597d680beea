/* What the readers share. */
#ifndef BRIM_STORE_READ_H
#define BRIM_STORE_READ_H
#include "store/store_private.h"

struct store_reader {
    sqlite3 *db; /* NULL after a failure: opened again by reader_ready() */
    char path[PATH_MAX];
    struct stat file;
};

/* Make sure that the connection is to the file that is there now. */
int reader_ready(struct store_reader *r, struct err *e) CHECK_RESULT;

#endif
