#include "probe/kernel/scan.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void scan_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Add a digit to *n unless that is too large for it. */
static bool add_digit(uint64_t *n, char digit)
{
    uint64_t more;

    if (__builtin_mul_overflow(*n, 10U, &more) ||
        __builtin_add_overflow(more, (uint64_t)(digit - '0'), &more))
        return false;
    *n = more;
    return true;
}

double scan_number(const char **at)
{
    uint64_t n = 0;
    double scale = 1;
    bool fits = true;

    scan_blanks(at);
    if (!is_digit(**at))
        return (double)NAN;
    for (; is_digit(**at); ++*at)
        fits = fits && add_digit(&n, **at);
    if (!fits)
        scale = (double)NAN;
    if (**at != '.' || !is_digit((*at)[1]))
        return (double)n / scale;
    for (++*at; is_digit(**at); ++*at) {
        fits = fits && add_digit(&n, **at); /* digits that are too many are dropped */
        scale *= fits ? 10 : 1;
    }
    return (double)n / scale;
}

int scan_line(const char **at)
{
    const char *newline = strchr(*at, '\n');

    *at = newline ? newline + 1 : *at + strlen(*at);
    return **at != 0;
}

int scan_word(const char **at, const char *word)
{
    const char *p = *at;

    for (; *word && *p == *word; word++)
        p++;
    if (*word || (*p && *p != ' ' && *p != '\t' && *p != '\n'))
        return 0;
    *at = p;
    return 1;
}
