/* The period of a loop, found in what a job does over time: for jobs that mark no steps. Pure. */
#ifndef BRIM_RUN_WATCH_INFER_H
#define BRIM_RUN_WATCH_INFER_H
#include <stddef.h>

/* How often series are sampled, and the least confidence that counts: below it there is no answer.
 * A white series of 600 samples stays below 0.35 (tests/unit/run/watch/infer.c). */
#define INFER_HZ 10.0
#define INFER_CONFIDENCE 0.5

struct infer {
    double period_s;   /* NaN: none was found */
    double confidence; /* 0 to 1: how much of the series repeats itself */
};

/* The shortest period at which the series of n samples, hz of them a second, repeats itself.
 * Periods above a quarter of the series are not seen, those
 * below 3 samples as a multiple, if at all. scratch: 2 * n doubles. */
struct infer infer_period(const double *series, size_t n, double hz, double *scratch);

#endif
