#include "run/meet/clock_offset.h"

#include "base/compiler.h"

/* Times of a clock, from 0 to 292 years; differences of two never overflow. */
static bool is_time(int64_t ns)
{
    return ns >= 0;
}

bool clock_offset_add(struct clock_offset *c, int64_t sent_ns, int64_t theirs_ns, int64_t back_ns)
{
    unsigned at = c->n % CLOCK_OFFSET_LAST;

    if (!is_time(sent_ns) || !is_time(theirs_ns) || back_ns < sent_ns)
        return false;
    c->last[at].trip_ns = back_ns - sent_ns;
    c->last[at].offset_ns = theirs_ns - (sent_ns + (back_ns - sent_ns) / 2);
    c->n++;
    return true;
}

int64_t clock_offset_ours(const struct clock_offset *c, int64_t theirs_ns)
{
    unsigned n = MIN(c->n, CLOCK_OFFSET_LAST), best = 0;
    int64_t ours_ns;

    for (unsigned i = 1; i < n; i++)
        if (c->last[i].trip_ns < c->last[best].trip_ns)
            best = i;
    if (!n || __builtin_sub_overflow(theirs_ns, c->last[best].offset_ns, &ours_ns))
        return theirs_ns;
    return ours_ns;
}

int64_t clock_offset_trip_ns(const struct clock_offset *c)
{
    unsigned n = MIN(c->n, CLOCK_OFFSET_LAST);
    int64_t most_ns = 0;

    for (unsigned i = 0; i < n; i++)
        most_ns = MAX(most_ns, c->last[i].trip_ns);
    return most_ns;
}
