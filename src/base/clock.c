#include "base/clock.h"

#include <stdbool.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t); /* cannot fail for the two clocks asked here */
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t system_monotonic_ns(void *arg)
{
    (void)arg;
    return read_ns(CLOCK_MONOTONIC);
}

static int64_t system_wall_ns(void *arg)
{
    (void)arg;
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_monotonic_ns(const struct clock *c)
{
    return c->monotonic_ns(c->arg);
}

int64_t clock_wall_ns(const struct clock *c)
{
    return c->wall_ns(c->arg);
}

void clock_add_iso(struct str *out, int64_t wall_ns)
{
    bool rounded_up = wall_ns % NS_PER_S < 0; /* division goes towards 0 */
    time_t seconds = wall_ns / NS_PER_S - rounded_up;
    struct tm t = { 0 };

    gmtime_r(&seconds, &t); /* every int64_t of nanoseconds is a year that fits: 1677 to 2262 */
    str_addf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
             t.tm_hour, t.tm_min, t.tm_sec);
}

const struct clock clock_system = { system_monotonic_ns, system_wall_ns, NULL };
