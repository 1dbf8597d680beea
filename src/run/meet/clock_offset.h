/* How far another host's CLOCK_MONOTONIC is from ours, by asking it for its time again and again:
 * the answer that was there soonest tells best. Pure. */
#ifndef BRIM_RUN_MEET_CLOCK_OFFSET_H
#define BRIM_RUN_MEET_CLOCK_OFFSET_H
#include <stdbool.h>
#include <stdint.h>

/* Clocks drift, so that only the last ones count. */
enum { CLOCK_OFFSET_LAST = 16 };

struct clock_offset {
    struct {
        int64_t trip_ns, offset_ns;
    } last[CLOCK_OFFSET_LAST];
    unsigned n; /* so far */
};

/* Asked at sent_ns and answered at back_ns of our clock, between these at theirs_ns of the other
 * one. False for what can not be: it is not taken. */
bool clock_offset_add(struct clock_offset *c, int64_t sent_ns, int64_t theirs_ns, int64_t back_ns);

/* The other clock's time in ours; without an answer it stays as it is. */
int64_t clock_offset_ours(const struct clock_offset *c, int64_t theirs_ns);

/* The longest way there and back of the last ones; 0: there was none. */
int64_t clock_offset_trip_ns(const struct clock_offset *c);

#endif
