/* Comma-separated tables with a header line (data/ *.csv). A field may be quoted: commas in it are
 * kept, "" is a quote, and it ends on its line. Blanks around a field belong to it. Lines end in LF
 * or CRLF; a UTF-8 byte-order mark is skipped. */
#ifndef BRIM_BASE_CSV_H
#define BRIM_BASE_CSV_H
#include <stddef.h>

#include "base/compiler.h"

enum { CSV_FIELDS = 48 };

struct csv {
    const char *next, *end;
    int line; /* of the row just read, from 1 */
    size_t n_fields;
    char *fields[CSV_FIELDS]; /* point into buf */
    char buf[4096];
};

void csv_init(struct csv *c, const char *text, size_t len);

/* Read the next row; blank lines and lines that start with '#' are skipped. Returns 1, 0 at the
 * end, -EINVAL for a quote that is not closed, text behind a closed one or a NUL byte, -E2BIG for a
 * row with too many fields or bytes (c->line says which line). */
int csv_next(struct csv *c) CHECK_RESULT;

#endif
