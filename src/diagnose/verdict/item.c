/* The items of a verdict while it is made: a cause each, with its evidence. */
#include <stdarg.h>
#include <stdio.h>

#include "diagnose/verdict/judge_private.h"

enum { TEXT_MAX = 4096 };

struct verdict_item *judge_add(struct judge *j, enum cause cause, int rank, double share)
{
    struct verdict *v = j->v;
    struct verdict_item *to = ARENA_PUSH(&v->arena, &v->items, &v->count);

    if (!to) {
        v->no_memory = true;
        to = &j->lost;
    }
    *to = (struct verdict_item){ .cause = cause, .rank = rank, .share = share };
    to->least = (double)NAN;
    to->sentence = to->evidence = "";
    return to;
}

PRINTF(5, 0)
static void add_text(struct judge *j, const char **to, const char *was, const char *between,
                     const char *fmt, va_list ap)
{
    char text[TEXT_MAX];
    int len = vsnprintf(text, sizeof(text), fmt, ap);
    char *whole = len < 0 ? NULL : arena_printf(&j->v->arena, "%s%s%s", was, between, text);

    if (whole)
        *to = whole;
    else
        j->v->no_memory = true;
}

void judge_agrees(struct judge *j, struct verdict_item *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_text(j, &to->evidence, to->evidence, *to->evidence ? "; " : "", fmt, ap);
    va_end(ap);
    to->confidence++;
}

void judge_tells(struct judge *j, struct verdict_item *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_text(j, &to->evidence, to->evidence, *to->evidence ? "; " : "", fmt, ap);
    va_end(ap);
}

void judge_says(struct judge *j, struct verdict_item *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_text(j, &to->sentence, "", "", fmt, ap);
    va_end(ap);
}

void judge_advises(struct judge *j, struct verdict_item *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_text(j, &to->action, "", "", fmt, ap);
    va_end(ap);
}

struct verdict_item *judge_find(const struct judge *j, enum cause cause)
{
    for (size_t i = 0; i < j->v->count; i++)
        if (j->v->items[i].cause == cause)
            return &j->v->items[i];
    return NULL;
}

double judge_gain(double share)
{
    return share >= 0 && share < 1 ? 1 / (1 - share) : (double)NAN;
}
