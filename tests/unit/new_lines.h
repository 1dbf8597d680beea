/* The lines of a text that another text lacks: for sweeps, which tell what a change makes other. */
#ifndef BRIM_TESTS_NEW_LINES_H
#define BRIM_TESTS_NEW_LINES_H
#include <string.h>

#include "base/str.h"

static inline const char *new_lines_find(const char *line, size_t len, const char *text)
{
    while (*text && strncmp(text, line, len) != 0)
        text += strcspn(text, "\n") + 1;
    return *text ? text : NULL;
}

/* Each line has its end. */
static inline void new_lines(struct str *out, const char *text, const char *before)
{
    const char *next = before; /* mostly a line stands behind the one that stood before it */

    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        size_t len = strcspn(at, "\n") + 1;
        const char *known = strncmp(next, at, len) ? new_lines_find(at, len, before) : next;

        if (known)
            next = known + len;
        else
            str_addf(out, "  %.*s", (int)len, at);
    }
}

#endif
