#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 64 };

/* No text gets near this, and below it sizes can be doubled without a check. */
static const size_t LEN_MAX = SIZE_MAX / 4;

/* Make room for n more bytes and the NUL; false, and the error set, when there is none. */
static bool reserve(struct str *s, size_t n)
{
    size_t max = MIN(s->max, LEN_MAX);
    size_t cap = MAX(s->cap, (size_t)FIRST_CAP);
    char *data;

    if (s->error)
        return false;
    if (s->len > max || n > max - s->len) {
        s->error = -EFBIG;
        return false;
    }
    if (s->len + n < s->cap)
        return true;
    while (cap <= s->len + n)
        cap *= 2;
    data = realloc(s->data, MIN(cap, max + 1));
    if (!data) {
        s->error = -ENOMEM;
        return false;
    }
    s->data = data;
    s->cap = MIN(cap, max + 1);
    return true;
}

static void add_copies(struct str *s, char c, size_t n)
{
    if (!reserve(s, n))
        return;
    memset(s->data + s->len, c, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void str_done(struct str *s)
{
    free(s->data);
    s->data = NULL;
    s->len = 0;
    s->cap = 0;
    s->error = 0;
}

void str_reset(struct str *s)
{
    s->len = 0;
    s->error = 0;
    if (s->data)
        s->data[0] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_add_n(s, text, strlen(text));
}

void str_add_n(struct str *s, const char *bytes, size_t n)
{
    if (n == 0 || !reserve(s, n))
        return;
    memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void str_add_char(struct str *s, char c)
{
    add_copies(s, c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
    size_t room = s->cap - s->len; /* at most what the ceiling leaves, and a NUL */
    va_list ap;
    int n;

    if (s->error)
        return;
    va_start(ap, fmt);
    n = vsnprintf(s->data ? s->data + s->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n < room) { /* mostly: and formatting is what costs */
        s->len += (size_t)n;
        return;
    }
    if (s->data)
        s->data[s->len] = '\0';
    if (n < 0)
        s->error = -EFBIG; /* over INT_MAX bytes: printf's own ceiling */
    if (n <= 0 || !reserve(s, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    s->len += (size_t)n;
}

void str_fill(struct str *s, char c, int n)
{
    if (n > 0)
        add_copies(s, c, (size_t)n);
}

void str_pad(struct str *s, size_t width)
{
    size_t columns = 0;

    for (size_t i = s->len; i > 0 && s->data[i - 1] != '\n'; i--)
        if (((unsigned char)s->data[i - 1] & 0xc0) != 0x80)
            columns++;
    if (columns < width)
        add_copies(s, ' ', width - columns);
}

int str_error(const struct str *s)
{
    return s->error;
}

void str_fail(struct str *s, int code)
{
    if (!s->error)
        s->error = code;
}

const char *str_text(const struct str *s)
{
    return s->data ? s->data : "";
}

const char *str_plural_of(double count)
{
    return count == 1 ? "" : "s";
}
