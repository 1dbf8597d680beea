#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Replace the end of a text that was cut by "...", not leaving half a UTF-8 character before it. */
static void end_in_dots(char *text, size_t size)
{
    static const char dots[] = "...";
    size_t at = size - sizeof(dots);

    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    memcpy(text + at, dots, sizeof(dots));
}

static void PRINTF(3, 0) format(char *text, size_t size, const char *fmt, va_list ap)
{
    int n = vsnprintf(text, size, fmt, ap);

    if (n < 0)
        text[0] = '\0';
    else if ((size_t)n >= size)
        end_in_dots(text, size);
}

static void PRINTF(2, 0) set(struct err *e, const char *fmt, va_list ap)
{
    int saved = errno;
    struct err new; /* an argument may be e->text itself */

    if (!e)
        return;
    format(new.text, sizeof(new.text), fmt, ap);
    *e = new;
    errno = saved;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(e, fmt, ap);
    va_end(ap);
    return code;
}

int err_usage(struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set(e, fmt, ap);
    va_end(ap);
    return ERR_USAGE;
}

int err_usage_of(int code)
{
    return code == -EINVAL ? ERR_USAGE : code;
}

int err_context(struct err *e, int code, const char *fmt, ...)
{
    int saved = errno;
    struct err context, old;
    va_list ap;
    int n;

    if (!e)
        return code;
    old = *e;
    va_start(ap, fmt);
    format(context.text, sizeof(context.text), fmt, ap);
    va_end(ap);
    n = snprintf(e->text, sizeof(e->text), "%s%s", context.text, old.text);
    if (n >= (int)sizeof(e->text))
        end_in_dots(e->text, sizeof(e->text));
    errno = saved;
    return code;
}

int err_nomem(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}
