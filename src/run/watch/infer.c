#include "run/watch/infer.h"

#include <math.h>
#include <string.h>

enum { LAG_MIN = 3, REPEATS_MIN = 4, SAMPLES_MIN = 60 };

/* A period that is nearly as good as the best one and shorter is the loop; the best may be a
 * multiple of it. */
#define NEARLY 0.7

/* Take the mean and a straight line out: a slow drift correlates with itself at every lag. */
static double flatten(const double *from, double *to, size_t n)
{
    double mean = 0, slope = 0, weight = 0, power = 0, middle = ((double)n - 1) / 2;

    for (size_t i = 0; i < n; i++)
        mean += from[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        slope += ((double)i - middle) * (from[i] - mean);
        weight += ((double)i - middle) * ((double)i - middle);
    }
    slope /= weight;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i] - mean - slope * ((double)i - middle);
        power += to[i] * to[i];
    }
    return power / (double)n;
}

/* How alike the series and the same moved by a lag are: -1 to 1. */
static double alike(const double *x, size_t n, size_t lag)
{
    double both = 0, left = 0, right = 0;

    for (size_t i = 0; i + lag < n; i++) {
        both += x[i] * x[i + lag];
        left += x[i] * x[i];
        right += x[i + lag] * x[i + lag];
    }
    return left > 0 && right > 0 ? both / sqrt(left * right) : 0;
}

/* The top of the parabola through three points, from the middle one. */
static double top(double before, double at, double behind)
{
    double curve = before - 2 * at + behind;
    double shift = curve < 0 ? (before - behind) / (2 * curve) : 0;

    return fabs(shift) <= 1 ? shift : 0;
}

struct infer infer_period(const double *series, size_t n, double hz, double *scratch)
{
    struct infer none = { (double)NAN, 0 }, found = none;
    double *x = scratch, *r = scratch + n, best = 0, mean = 0, power;
    size_t last = n / REPEATS_MIN, lag = LAG_MIN;

    if (n < SAMPLES_MIN)
        return none;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(series[i]))
            return none;
        mean += series[i] / (double)n;
    }
    power = flatten(series, x, n);
    /* what varies by less than a thousandth of its mean is even */
    if (!(power > fmax(mean * mean * 1e-6, 1e-18)))
        return none;
    for (size_t i = 1; i <= last + 1; i++)
        r[i] = alike(x, n, i);
    /* from the first dip on: next to lag 0 everything is alike */
    while (lag <= last && r[lag - 1] > 0)
        lag++;
    for (size_t i = lag; i <= last; i++)
        if (r[i] >= r[i - 1] && r[i] >= r[i + 1] && r[i] > best)
            best = r[i];
    for (size_t i = lag; i <= last && isnan(found.period_s) && best > 0; i++) {
        if (r[i] < r[i - 1] || r[i] < r[i + 1] || r[i] < NEARLY * best)
            continue;
        found.period_s = ((double)i + top(r[i - 1], r[i], r[i + 1])) / hz;
        found.confidence = r[i];
    }
    return found.confidence >= INFER_CONFIDENCE ? found : none;
}
