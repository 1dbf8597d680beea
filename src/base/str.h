/* A growing string with a ceiling.
 *
 *     CLEANUP(str_done) struct str s = STR_INIT(64 << 10);
 *     str_addf(&s, "%d GPUs", n);
 *     if (str_error(&s)) return ...;
 *
 * Errors stick: after the first failure every further addition is ignored, so a renderer checks
 * once, at its end. The text is always NUL-terminated and never partly written by a failed call. */
#ifndef BRIM_BASE_STR_H
#define BRIM_BASE_STR_H
#include <stddef.h>

#include "base/compiler.h"

struct str {
    char *data; /* NULL while empty: read it with str_text() */
    size_t len;
    size_t cap;
    size_t max; /* the longest text allowed, in bytes */
    int error;  /* 0, -ENOMEM or -EFBIG */
};

#define STR_INIT(max_) \
    { \
        .max = (max_) \
    }

void str_done(struct str *s);

/* Forget the text and any error, keep the memory. */
void str_reset(struct str *s);

void str_add(struct str *s, const char *text);
void str_add_n(struct str *s, const char *bytes, size_t n);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) PRINTF(2, 3);

/* Add n copies of c; n <= 0 adds nothing. */
void str_fill(struct str *s, char c, int n);

/* Add spaces until the current line (after the last newline) is width columns wide. Columns are
 * counted in UTF-8 characters. */
void str_pad(struct str *s, size_t width);

/* 0, or the first failure: -ENOMEM, or -EFBIG when the ceiling was reached. */
int str_error(const struct str *s);

/* Let s fail with code, unless it has failed already; 0 does nothing. For text that was made aside:
 * str_fail(out, str_error(&part)). */
void str_fail(struct str *s, int code);

/* The text; "" when empty. Valid until the next addition. */
const char *str_text(const struct str *s);

/* What a noun ends with behind a count: "" for one, else "s". */
const char *str_plural_of(double count);
#define str_plural(count) str_plural_of((double)(count))

#endif
