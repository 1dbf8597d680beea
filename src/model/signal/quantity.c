#include "model/signal/quantity.h"

#include <math.h>
#include <stdio.h>

#include "base/compiler.h"

/* The value in the largest unit that it fills; below 10 with a decimal. */
static struct quantity in_units(double value, const char *const *units, size_t n, const char *per)
{
    struct quantity q;
    size_t i = 0;

    if (!isfinite(value))
        return (struct quantity){ "?" };
    for (; fabs(value) >= 999.5 && i + 1 < n; i++)
        value /= 1000;
    if (fabs(value) >= 1e9) /* no unit is large enough */
        snprintf(q.text, sizeof(q.text), "%.1e%s%s", value, units[i], per);
    else
        snprintf(q.text, sizeof(q.text), "%.*f%s%s", fabs(value) < 9.95 && i > 0, value, units[i],
                 per);
    return q;
}

static const char *const bytes_units[] = { " B", " kB", " MB", " GB", " TB", " PB" };

struct quantity quantity_bytes(double bytes)
{
    return in_units(bytes, bytes_units, ARRAY_SIZE(bytes_units), "");
}

struct quantity quantity_rate(double bytes)
{
    return in_units(bytes, bytes_units, ARRAY_SIZE(bytes_units), "/s");
}

struct quantity quantity_seconds(double seconds)
{
    static const char *const units[] = { " us", " ms", " s" };

    if (fabs(seconds) < 0.5e-6) /* no microsecond: 0 has the unit of times at large */
        return (struct quantity){ "0 s" };
    return in_units(seconds * 1e6, units, ARRAY_SIZE(units), "");
}

/* Three digits that count. */
static struct quantity in_three_digits(double value, const char *unit)
{
    struct quantity q;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(q.text, sizeof(q.text), "%.*f %s", decimals, value, unit);
    return q;
}

struct quantity quantity_span(double seconds)
{
    static const double minute = 60, hour = 3600, day = 86400;

    if (isinf(seconds))
        return (struct quantity){ "for ever" };
    if (seconds >= 3 * day)
        return in_three_digits(seconds / day, "d");
    if (seconds >= 2 * hour)
        return in_three_digits(seconds / hour, "h");
    return seconds >= 2 * minute ? in_three_digits(seconds / minute, "min")
                                 : quantity_seconds(seconds);
}

struct quantity quantity_share(double share)
{
    static const char *const units[] = { " %" };

    return in_units(share * 100, units, ARRAY_SIZE(units), "");
}

struct quantity quantity_count(double count)
{
    static const char *const units[] = { "", "k", "M", "G" };
    struct quantity q;

    if (fabs(count) < 9.95 && count != (double)(int)count) {
        snprintf(q.text, sizeof(q.text), "%.1f", count);
        return q;
    }
    return in_units(count, units, ARRAY_SIZE(units), "");
}

struct quantity quantity_number(double value, int digits)
{
    struct quantity q;
    double size = fabs(value);

    if (!isfinite(value))
        return (struct quantity){ "?" };
    if (size >= 1e15) /* more digits than there is room for */
        return quantity_count(value);
    if (size >= pow(10, digits) - .5)
        snprintf(q.text, sizeof(q.text), "%.0f", value);
    else if (size < 1e-4 && size > 0)
        snprintf(q.text, sizeof(q.text), "%.*f", 9, value);
    else
        snprintf(q.text, sizeof(q.text), "%.*g", digits, value);
    return q;
}
