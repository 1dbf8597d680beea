#include "plan/shape/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"

enum { SHOWN = 5 };

static bool is_filler(char c)
{
    return c == '-' || c == '_' || c == ' ';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static const char *skip_filler(const char *c)
{
    while (is_filler(*c))
        c++;
    return c;
}

/* How many letters both begin with; *same is whether they are alike to the end. */
static size_t compare(const char *a, const char *b, bool *same)
{
    size_t n = 0;

    for (a = skip_filler(a), b = skip_filler(b); *a && lower(*a) == lower(*b); n++) {
        a = skip_filler(a + 1);
        b = skip_filler(b + 1);
    }
    *same = !*a && !*b;
    return n;
}

bool names_find(const struct names *n, const char *name, size_t *ret)
{
    bool same = false;

    for (size_t i = 0; i < n->count && !same; i++) {
        compare(n->list[i].text, name, &same);
        *ret = same ? n->list[i].row : *ret;
    }
    return same;
}

int names_add(struct names *n, struct arena *a, const char *words, size_t row)
{
    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        size_t len = strcspn(words, " "), other = row;
        char *text = arena_strndup(a, words, len);
        struct name *name;

        if (!text)
            return -ENOMEM;
        if (names_find(n, text, &other) && other != row)
            return -EEXIST;
        name = ARENA_PUSH(a, &n->list, &n->count);
        if (!name)
            return -ENOMEM;
        *name = (struct name){ .text = text, .row = row };
        words += len;
    }
    return 0;
}

static const char *name_at(const void *ctx, size_t i)
{
    const struct names *n = ctx;

    return n->list[i].text;
}

/* The longest beginning that a name shares with any. */
static size_t longest(const struct names *n, const char *name)
{
    size_t most = 0;
    bool same;

    for (size_t i = 0; i < n->count; i++) {
        size_t len = compare(n->list[i].text, name, &same);

        most = MAX(most, len);
    }
    return most;
}

const char *names_near(const struct names *n, const char *name, char buf[NAMES_NEAR])
{
    const char *near = opt_nearest(name, n->count, name_at, n);
    size_t most = longest(n, name), used = 0, shown = 0, row = SIZE_MAX;
    bool same;

    buf[0] = '\0';
    if (near) {
        snprintf(buf, NAMES_NEAR, " (did you mean %s?)", near);
        return buf;
    }
    if (most < 2)
        return buf;
    for (size_t i = 0; i < n->count && shown < SHOWN; i++) {
        const struct name *one = &n->list[i];

        if (one->row == row || compare(one->text, name, &same) < most || strlen(one->text) > 40)
            continue;
        row = one->row; /* one name of a row is enough: the first is its proper one */
        used += (size_t)snprintf(buf + used, NAMES_NEAR - used, "%s%s",
                                 shown++ ? ", " : " (there is ", one->text);
    }
    if (shown)
        snprintf(buf + used, NAMES_NEAR - used, ")");
    return buf;
}
