#include "model/signal/sorted.h"

#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return COMPARE(x, y);
}

void sorted_put(double *values, size_t n)
{
    if (n)
        qsort(values, n, sizeof(*values), compare);
}

double sorted_median(double *values, size_t n)
{
    if (!n)
        return (double)NAN;
    sorted_put(values, n);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double sorted_quantile(const double *values, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;

    if (below + 1 >= n || at <= (double)below)
        return values[below < n ? below : n - 1];
    return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
}
