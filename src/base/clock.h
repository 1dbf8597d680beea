/* Time is handed down, never asked for: production passes clock_system, tests pass one of their
 * own. */
#ifndef BRIM_BASE_CLOCK_H
#define BRIM_BASE_CLOCK_H
#include <stdint.h>

#include "base/str.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct clock {
    int64_t (*monotonic_ns)(void *arg); /* never steps; for intervals */
    int64_t (*wall_ns)(void *arg);      /* since 1970, UTC; may step */
    void *arg;
};

extern const struct clock clock_system;

int64_t clock_monotonic_ns(const struct clock *c);
int64_t clock_wall_ns(const struct clock *c);

/* A span in seconds, and back. */
static inline double clock_seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static inline int64_t clock_ns(double seconds)
{
    return (int64_t)(seconds * (double)NS_PER_S);
}

/* Add "2026-11-20T23:59:59Z" for a wall time. */
void clock_add_iso(struct str *out, int64_t wall_ns);

#endif
