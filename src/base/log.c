#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The two settings of a process that are no use as arguments; set once, at start. */
static enum log_level max_level = LOG_LEVEL_INFO;
static bool for_journal;

/* The order is that of log_level_names. */
static const enum log_level levels[] = { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO,
                                         LOG_LEVEL_DEBUG };
const char *const log_level_names[] = { "error", "warning", "info", "debug", NULL };

static const char *level_name(enum log_level level)
{
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE(levels) && levels[i] != level)
        i++;
    return log_level_names[i];
}

/* Terminals act on control characters; in ASCII they are these. */
static void mask_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void log_set_level(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
        if (!strcmp(log_level_names[i], name))
            max_level = levels[i];
}

void log_set_journal(bool journal)
{
    for_journal = journal;
}

void log_write(enum log_level level, const char *fmt, ...)
{
    int saved = errno;
    char text[1024];
    const char *cut = "";
    va_list ap;
    int n;

    if (level > max_level)
        return;
    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n < 0)
        text[0] = '\0';
    else if ((size_t)n >= sizeof(text))
        cut = "...";
    mask_controls(text);
    if (for_journal)
        fprintf(stderr, "<%d>%s%s\n", (int)level, text, cut);
    else
        fprintf(stderr, "brim: %s: %s%s\n", level_name(level), text, cut);
    errno = saved;
}
