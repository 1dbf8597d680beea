/* Numbers in order, and what stands in their middle. */
#ifndef BRIM_MODEL_SIGNAL_SORTED_H
#define BRIM_MODEL_SIGNAL_SORTED_H
#include <stddef.h>

/* Put n values into rising order. None is NaN. */
void sorted_put(double *values, size_t n);

/* The median of n values, which are put into order; NaN for none. */
double sorted_median(double *values, size_t n);

/* The value below which a share of n values lies, which are in order and at least one: between two
 * of them in proportion; between a number and INFINITY it is INFINITY. */
double sorted_quantile(const double *values, size_t n, double share);

#endif
