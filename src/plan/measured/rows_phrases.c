#include "plan/measured/rows_phrases.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

static const char fill[] = " -_.", parting[] = ",;()[]+|";

static bool is_alnum(char c)
{
    return isalnum((unsigned char)c) != 0;
}

static bool is_one_of(const char *word, size_t n, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == n && strncasecmp(word, words[i], n) == 0)
            return true;
    return false;
}

/* Where the phrase that begins at 'at' ends; NULL: it is another text. */
static const char *phrase_end(const char *at, const char *phrase)
{
    char last = phrase[strlen(phrase) - 1];

    for (; *phrase; phrase++) {
        if (*phrase == ' ') {
            at += strspn(at, fill);
            continue;
        }
        if (strncasecmp(at, phrase, 1) != 0)
            return NULL;
        at++;
    }
    if (isalpha((unsigned char)*at) ||
        (isdigit((unsigned char)last) && isdigit((unsigned char)*at)))
        return NULL;
    return at;
}

/* The word before 'at' in the same clause; its length, 0: none. *at moves to its begin. */
static size_t word_before(const char *text, const char **at)
{
    const char *end = *at, *c;

    while (end > text && !is_alnum(end[-1]) && !strchr(parting, end[-1]))
        end--;
    for (c = end; c > text && is_alnum(c[-1]);)
        c--;
    *at = c;
    return (size_t)(end - c);
}

/* Whether words beside a phrase deny it. */
static bool is_denied(const char *text, const char *from, const char *end)
{
    static const char *const before[] = { "no",      "not",      "without", "non",
                                          "unlike",  "than",     "vs",      "versus",
                                          "instead", "compared", "disable", "disabled" };
    static const char *const behind[] = { "off", "false", "disabled" };
    static const char *const value[] = { "0", "no", "none" };
    bool equals;
    size_t n;

    for (int i = 0; i < 3; i++) {
        n = word_before(text, &from);
        if (n && is_one_of(from, n, before, ARRAY_SIZE(before)))
            return true;
    }
    n = strspn(end, " =:_-");
    equals = memchr(end, '=', n) || memchr(end, ':', n);
    end += n;
    if (strncasecmp(end, "is ", 3) == 0)
        end += 3;
    for (n = 0; is_alnum(end[n]);)
        n++;
    return is_one_of(end, n, behind, ARRAY_SIZE(behind)) ||
           (equals && is_one_of(end, n, value, ARRAY_SIZE(value)));
}

bool row_phrase(const char *text, const char *phrase)
{
    for (const char *at = text; *at; at++) {
        const char *end;

        if (at > text && is_alnum(at[-1]))
            continue;
        end = phrase_end(at, phrase);
        if (end && !is_denied(text, at, end))
            return true;
    }
    return false;
}

const char *row_phrases(const char *text, const char *const *phrases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row_phrase(text, phrases[i]))
            return phrases[i];
    return NULL;
}

bool row_names_program(const char *text, const char *name)
{
    static const char *const with[] = { "with",  "via",     "using",  "by",
                                        "on",    "under",   "engine", "framework",
                                        "stack", "trainer", "program" };

    for (const char *at = text; *at; at++) {
        const char *end, *word = at;
        size_t n;

        if (at > text && is_alnum(at[-1]))
            continue;
        end = phrase_end(at, name);
        if (!end || is_denied(text, at, end))
            continue;
        n = word_before(text, &word);
        if (!n || is_one_of(word, n, with, ARRAY_SIZE(with)))
            return true;
    }
    return false;
}

int row_yes_no(const char *text)
{
    static const char *const yes[] = { "yes", "true", "on", "1", "1.0", "y", "enabled" };
    static const char *const no[] = { "no", "false", "off", "0", "0.0", "n", "none", "disabled" };
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == ' ')
        n--;
    if (n == 0 || (n == 1 && *text == '-'))
        return -1;
    if (is_one_of(text, n, yes, ARRAY_SIZE(yes)))
        return 1;
    return is_one_of(text, n, no, ARRAY_SIZE(no)) ? 0 : -2;
}
