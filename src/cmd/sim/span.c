/* Times as the tables and sentences of brim sim have them. */
#include <math.h>
#include <stdio.h>

#include "cmd/sim/show.h"

static const double minute = 60, hour = 3600, day = 86400;

/* Three digits that count. */
static struct quantity of(double value, const char *unit)
{
    struct quantity q;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(q.text, sizeof(q.text), "%.*f %s", decimals, value, unit);
    return q;
}

struct quantity sim_show_span(double s)
{
    if (isinf(s))
        return (struct quantity){ "for ever" };
    if (s >= 3 * day)
        return of(s / day, "d");
    if (s >= 2 * hour)
        return of(s / hour, "h");
    return s >= 2 * minute ? of(s / minute, "min") : quantity_seconds(s);
}
