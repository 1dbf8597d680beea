/* The page of a cluster, and its JSON, in a thread of its own: who looks at it slows nothing. */
#ifndef BRIM_CMD_CONTROL_SERVE_H
#define BRIM_CMD_CONTROL_SERVE_H
#include "control/board/board.h"

struct serve;

struct serve_config {
    const char *listen;    /* "127.0.0.1:9411" */
    const char *token;     /* of those who may read; NULL: none is needed, on a loopback address */
    const char *operators; /* of those who may act; NULL: nobody may from here */
    const char *where;     /* the book is, which is open elsewhere */
    const char *mode;      /* "propose" */
    bool own;              /* who looks is told names of its own jobs alone */
};

/* Listen, and serve from now on. The configuration is borrowed. 0, ERR_USAGE, or a negative errno
 * with a sentence. */
int serve_open(struct serve **ret, const struct serve_config *config, struct err *e) CHECK_RESULT;
void serve_close(struct serve *s);

/* Where: "127.0.0.1:9411". */
const char *serve_where(const struct serve *s);

/* Serve this board from now on. It is taken: 'board' is empty then. */
void serve_board(struct serve *s, struct board_text *board);

/* There is no new one: why. */
void serve_trouble(struct serve *s, const char *why);

#endif
