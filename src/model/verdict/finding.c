#include "model/verdict/finding.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 1024 };

void findings_done(struct findings *f)
{
    arena_done(&f->arena);
    *f = (struct findings){ .count = 0 };
}

struct finding *findings_add(struct findings *f, const char *check, enum severity severity,
                             const char *node)
{
    struct finding *one = ARENA_PUSH(&f->arena, &f->list, &f->count);

    if (!one) {
        f->no_memory = true;
        one = &f->scratch;
    }
    *one = (struct finding){ .check = check, .severity = severity, .node = node, .sentence = "" };
    return one;
}

void findings_text(struct findings *f, const char **to, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    *to = arena_strdup(&f->arena, text);
    if (!*to) {
        f->no_memory = true;
        *to = "";
    }
}
