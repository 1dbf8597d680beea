/* Errors: a function that can fail returns 0 (or a count) or a negative errno; one that can explain
 * itself also takes a last argument 'struct err *e'. The first function that knows something is an
 * error writes the text; library code never prints it. Only the command line (src/cmd/main.c) and
 * the daemon's request loop do. */
#ifndef BRIM_BASE_ERR_H
#define BRIM_BASE_ERR_H
#include "base/compiler.h"

struct err {
    char text[512];
};

/* Store a message in e (NULL is allowed) and return code, so that a caller can write
 *     return err_set(e, -EINVAL, "%s:%d: unknown key '%s'", path, line, key);
 * A text that does not fit ends in "...". errno is kept. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF(3, 4);

/* Put context in front of what is there: "cluster.ini: " + "line 3: bad number". Returns code. */
int err_context(struct err *e, int code, const char *fmt, ...) PRINTF(3, 4);

/* "out of memory", -ENOMEM: the one text for the one error that needs no explanation. */
int err_nomem(struct err *e);

/* The code of wrong usage, which no errno has: what was asked cannot be meant so, whatever the
 * machine and the files are. src/cmd/main.c alone turns it into an exit status. */
enum { ERR_USAGE = -4096 };

/* err_set() with ERR_USAGE. */
int err_usage(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* The code of a function that read a word of the command line: its -EINVAL is ERR_USAGE, all else
 * stays. */
int err_usage_of(int code);

#endif
