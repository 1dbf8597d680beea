#include "base/opt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63 };

/* ASCII only: <ctype.h> asks the locale. */
static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool same(char a, char b)
{
    return lower(a) == lower(b);
}

/* The fewest letters to add, drop, change or swap with their neighbour that turn a into b; both are
 * at most WORD_MAX long. Row i holds the distances from the first i letters of a to the first j of
 * b, and only three rows are looked at. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1] = { { 0 } };
    size_t *row = rows[0], *above = rows[1], *two_above = rows[2];
    size_t a_len = strlen(a), b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *oldest = two_above;

        two_above = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = MIN(above[j], row[j - 1]) + 1;
            row[j] = MIN(row[j], above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = MIN(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b_len];
}

/* To the candidate, or to its part before the first dash; of a long one its beginning counts. */
static size_t distance_to(const char *word, const char *candidate, bool family)
{
    char head[WORD_MAX + 1];

    snprintf(head, sizeof(head), "%.*s", (int)(family ? strcspn(candidate, "-") : WORD_MAX),
             candidate);
    return edit_distance(word, head);
}

static bool begins(const char *text, const char *with)
{
    while (*with && same(*text, *with)) {
        text++;
        with++;
    }
    return !*with;
}

static const char *nearest_of(const char *word, size_t n,
                              const char *(*word_at)(const void *ctx, size_t i), const void *ctx,
                              bool family)
{
    size_t limit = strlen(word) / 3;
    const char *nearest = NULL;

    if (strlen(word) > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = word_at(ctx, i);
        size_t distance = distance_to(word, candidate, family);
        bool tie = nearest && distance == limit && begins(candidate, word) &&
                   !begins(nearest, word);

        if (tie || (nearest ? distance < limit : distance <= limit)) {
            nearest = candidate;
            limit = distance;
        }
    }
    return nearest;
}

const char *opt_nearest(const char *word, size_t n,
                        const char *(*word_at)(const void *ctx, size_t i), const void *ctx)
{
    return nearest_of(word, n, word_at, ctx, false);
}

const char *opt_nearest_family(const char *word, size_t n,
                               const char *(*word_at)(const void *ctx, size_t i), const void *ctx)
{
    return nearest_of(word, n, word_at, ctx, true);
}

static const char *word_of(const void *words, size_t i)
{
    return ((const char *const *)words)[i];
}

int opt_unknown(const char *what, const char *word, const char *const *words, struct err *e)
{
    CLEANUP(str_done) struct str all = STR_INIT(sizeof(e->text));
    const char *near;
    size_t n = 0;

    for (; words[n]; n++)
        str_addf(&all, "%s%s", n ? ", " : "", words[n]);
    near = opt_nearest(word, n, word_of, words);
    if (near)
        return err_usage(e, "unknown %s '%.100s' (did you mean '%s'?)", what, word, near);
    return err_usage(e, "unknown %s '%.100s' (there are %s)", what, word,
                     str_error(&all) ? "others, see --help" : str_text(&all));
}
