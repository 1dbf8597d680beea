/* What the time of GPUs went into since the book began: rows of an hour in the file of the book.
 * With the sqlite3 shell:
 *
 *     SELECT datetime(t / 1000, 'unixepoch'), kind, use, gpu_ms / 3600000.0 FROM waste; */
#ifndef BRIM_CONTROL_BOARD_WASTE_BOOK_H
#define BRIM_CONTROL_BOARD_WASTE_BOOK_H
#include "control/board/board.h"

enum { WASTE_KIND = 64 };

/* Of GPUs of a kind. */
struct waste_sum {
    char kind[WASTE_KIND];
    double hours[BOARD_USES];
};

struct waste_sums {
    int64_t since_ms;                    /* of the first row; 0: there is none */
    struct waste_sum kinds[BOARD_KINDS]; /* the last one stands for all others */
    size_t n;
};

struct waste_book;

/* Open the folder's file, or make it. */
int waste_book_open(struct waste_book **ret, const char *folder, struct err *e) CHECK_RESULT;
void waste_book_close(struct waste_book *w);
DEFINE_CLEANUP(struct waste_book, waste_book_close)

/* GPUs have done this since the last call; longer than a few minutes ago, nobody knows what they
 * did. */
int waste_book_add(struct waste_book *w, const struct board *b, struct err *e) CHECK_RESULT;

/* Since the book began; since then, in whole hours. */
const struct waste_sums *waste_book_all(const struct waste_book *w);
int waste_book_since(struct waste_book *w, int64_t since_ms, struct waste_sums *ret, struct err *e)
    CHECK_RESULT;

#endif
