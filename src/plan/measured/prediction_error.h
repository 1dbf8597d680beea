/* How far predictions are from measurements, and whether they put layouts in the same order. */
#ifndef BRIM_PLAN_MEASURED_PREDICTION_ERROR_H
#define BRIM_PLAN_MEASURED_PREDICTION_ERROR_H
#include <stddef.h>
#include <stdint.h>

struct prediction_pair {
    uint64_t sweep; /* pairs of the same number are compared with each other; 0: none */
    double measured, predicted;
};

/* Errors are predicted / measured - 1. NaN where there is nothing to say. */
struct prediction_error {
    size_t n;
    double mean, median, max; /* of the absolute errors */
    double bias;              /* mean with sign */
    size_t sweeps;            /* with two pairs or more */
    double regret; /* mean over sweeps: the one predicted best over the best measured - 1 */
    double worst_regret;
    double tau; /* Kendall's, mean over sweeps */
};

/* Sorts the pairs. */
struct prediction_error prediction_error_make(struct prediction_pair *pairs, size_t n);

#endif
