#include "render/names.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "render/text.h"

/* Longer numbers are not folded: they are no counters, and their successors could overflow. */
enum { DIGITS_MAX = 17 };

/* A name, or several that were folded into one, and how the current pass splits it: text up to
 * 'digits', a number, and the rest. */
struct folded {
    const char *text;
    size_t digits, n_digits; /* where the number is; n_digits 0: this pass leaves the name alone */
    uint64_t number;
};

struct names {
    struct arena arena;
    struct folded *list;
    size_t count;
};

/* The start of the which-th run of digits (from 0), its length in *len; 0 in *len when there is
 * none. Runs are counted from the front, and folding goes from the last to the first, so what was
 * folded already lies behind. */
static size_t find_run(const char *text, size_t which, size_t *len)
{
    size_t at = 0;

    for (;;) {
        at += strcspn(text + at, "0123456789");
        *len = strspn(text + at, "0123456789");
        if (!*len || which-- == 0)
            return at;
        at += *len;
    }
}

static size_t count_runs(const char *text)
{
    size_t count = 0, len;

    while (find_run(text, count, &len), len)
        count++;
    return count;
}

static void split(struct folded *f, size_t which)
{
    f->number = 0;
    f->digits = find_run(f->text, which, &f->n_digits);
    if (f->n_digits > DIGITS_MAX)
        f->n_digits = 0;
    for (size_t i = 0; i < f->n_digits; i++)
        f->number = f->number * 10 + (uint64_t)(f->text[f->digits + i] - '0');
}

/* 0 when two names differ in the number alone, else their order: those that can be folded first. */
static int compare_stems(const struct folded *a, const struct folded *b)
{
    int c;

    if (!a->n_digits != !b->n_digits)
        return a->n_digits ? -1 : 1;
    if (!a->n_digits)
        return strcmp(a->text, b->text);
    c = strncmp(a->text, b->text, MIN(a->digits, b->digits));
    if (c || a->digits != b->digits)
        return c ? c : a->digits < b->digits ? -1 : 1;
    return strcmp(a->text + a->digits + a->n_digits, b->text + b->digits + b->n_digits);
}

static int compare(const void *x, const void *y)
{
    const struct folded *a = x, *b = y;
    int c = compare_stems(a, b);

    if (c)
        return c;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* Whether b is what one writes after a when counting. */
static bool follows(const struct folded *a, const struct folded *b)
{
    char next[32];
    int n = snprintf(next, sizeof(next), "%0*llu", (int)a->n_digits,
                     (unsigned long long)a->number + 1);

    return (size_t)n == b->n_digits && !memcmp(next, b->text + b->digits, b->n_digits);
}

static bool same_stem(const struct folded *a, const struct folded *b)
{
    return a->n_digits && b->n_digits && !compare_stems(a, b);
}

/* Fold list[from..to), names of one stem, into one text. */
static const char *fold(struct names *n, size_t from, size_t to)
{
    const struct folded *first = &n->list[from];
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);

    str_add_n(&text, first->text, first->digits);
    str_add_char(&text, '[');
    for (size_t i = from; i < to;) {
        const struct folded *low = &n->list[i++], *high = low;

        while (i < to && follows(high, &n->list[i]))
            high = &n->list[i++];
        str_add(&text, low == first ? "" : ",");
        str_add_n(&text, low->text + low->digits, low->n_digits);
        if (high != low) {
            str_add_char(&text, '-');
            str_add_n(&text, high->text + high->digits, high->n_digits);
        }
    }
    str_add_char(&text, ']');
    str_add(&text, first->text + first->digits + first->n_digits);
    return str_error(&text) ? NULL : arena_strdup(&n->arena, str_text(&text));
}

/* Fold the which-th number of every name that has one. */
static int pass(struct names *n, size_t which)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->count; i++)
        split(&n->list[i], which);
    qsort(n->list, n->count, sizeof(*n->list), compare);
    for (size_t i = 0; i < n->count;) {
        size_t end = i + 1;
        const char *text = n->list[i].text;

        while (end < n->count && same_stem(&n->list[i], &n->list[end]))
            end++;
        if (end - i > 1)
            text = fold(n, i, end);
        if (!text)
            return -ENOMEM;
        n->list[kept++].text = text;
        i = end;
    }
    n->count = kept;
    return 0;
}

static void sort_as_text(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        n->list[i].n_digits = 0;
    qsort(n->list, n->count, sizeof(*n->list), compare);
}

/* Take the names over, sorted, each once; returns the most numbers that one has. */
static size_t take(struct names *n, const char *const *names, size_t count)
{
    size_t kept = 0, runs = 0;

    for (size_t i = 0; i < count; i++)
        n->list[i] = (struct folded){ .text = names[i] };
    n->count = count;
    sort_as_text(n);
    for (size_t i = 0; i < count; i++) {
        if (kept && !strcmp(n->list[kept - 1].text, n->list[i].text))
            continue;
        n->list[kept++] = n->list[i];
        runs = MAX(runs, count_runs(n->list[i].text));
    }
    n->count = kept;
    return runs;
}

int names_compress(struct str *out, const char *const *names, size_t count)
{
    CLEANUP(freep) struct folded *list = calloc(count + 1, sizeof(*list));
    struct names n = { .list = list };
    int rc = 0;

    if (!list)
        return -ENOMEM;
    for (size_t which = take(&n, names, count); which > 0 && rc == 0; which--)
        rc = pass(&n, which - 1);
    sort_as_text(&n);
    for (size_t i = 0; i < n.count && rc == 0; i++) {
        str_add(out, i ? "," : "");
        text_add(out, n.list[i].text);
    }
    arena_done(&n.arena);
    return rc;
}
