/* Rates: how fast counters grew between two ticks. Time is the monotonic one: a step of the wall
 * clock makes no gap and no negative rate. */
#ifndef BRIM_MODEL_SIGNAL_RATE_H
#define BRIM_MODEL_SIGNAL_RATE_H
#include "model/signal/signal.h"

/* The row that the same thing had in an earlier tick; NULL when it had none. row is one of now. */
const struct signal_row *tick_before(const struct tick *before, const struct tick *now,
                                     const struct signal_row *row);

/* Per second, how much value i of a row of now grew since the earlier tick. NaN when it cannot be
 * told: absent in one of the two, no row then, no time between them, or a counter that went back
 * (its owner was started anew). */
double signal_rate(const struct tick *before, const struct tick *now, const struct signal_row *row,
                   size_t i);

/* The growth itself, under the same conditions. */
double signal_growth(const struct tick *before, const struct tick *now,
                     const struct signal_row *row, size_t i);

#endif
