#include "base/parse.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* ASCII only: <ctype.h> asks the locale. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

static size_t count_digits(const char *text, int base)
{
    size_t n = 0;

    while (text[n] && digit_value(text[n]) < base)
        n++;
    return n;
}

/* The first n characters, which are digits. */
static int sum_digits(const char *digits, size_t n, int base, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_value(digits[i]), &value))
            return -ERANGE;
    *ret = value;
    return 0;
}

static int parse_unsigned(const char *text, int base, uint64_t *ret)
{
    size_t n = count_digits(text, base);

    if (n == 0 || text[n])
        return -EINVAL;
    return sum_digits(text, n, base, ret);
}

int parse_digits(const char *text, int base, int max, uint64_t *ret)
{
    size_t n = count_digits(text, base);

    if (n > (size_t)max)
        n = (size_t)max;
    return n && sum_digits(text, n, base, ret) == 0 ? (int)n : 0;
}

int parse_u64(const char *text, uint64_t *ret)
{
    return parse_unsigned(text, 10, ret);
}

int parse_i64(const char *text, int64_t *ret)
{
    bool negative = text[0] == '-';
    uint64_t size;
    int rc = parse_unsigned(text + negative, 10, &size);

    if (rc < 0)
        return rc;
    if (size > (uint64_t)INT64_MAX + negative)
        return -ERANGE;
    *ret = (int64_t)(negative ? 0 - size : size); /* INT64_MIN has no positive twin */
    return 0;
}

int parse_hex(const char *text, uint64_t *ret)
{
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    return parse_unsigned(text, 16, ret);
}

/* [-] digits [. digits] [e [+-] digits], with a digit before or after the point */
static bool is_decimal(const char *text)
{
    size_t before, after = 0, exponent;

    text += *text == '-';
    before = count_digits(text, 10);
    text += before;
    if (*text == '.') {
        after = count_digits(++text, 10);
        text += after;
    }
    if (before + after == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        exponent = count_digits(text, 10);
        if (exponent == 0)
            return false;
        text += exponent;
    }
    return !*text;
}

int parse_double(const char *text, double *ret)
{
    double value;

    if (!is_decimal(text))
        return -EINVAL;
    value = strtod(text, NULL);
    if (!isfinite(value))
        return -ERANGE;
    *ret = value;
    return 0;
}

int parse_duration_ns(const char *text, int64_t *ret)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        { "", NS_PER_S },       { "ms", NS_PER_MS },      { "s", NS_PER_S },
        { "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S }, { "d", 86400 * NS_PER_S },
    };
    size_t n = count_digits(text, 10);

    if (n == 0)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        uint64_t count;
        int64_t ns;

        if (strcmp(text + n, units[i].name) != 0)
            continue;
        if (sum_digits(text, n, 10, &count) < 0 || __builtin_mul_overflow(count, units[i].ns, &ns))
            return -ERANGE;
        *ret = ns;
        return 0;
    }
    return -EINVAL;
}
