#include "tune/trial/sequence.h"

#include <math.h>

#include "model/signal/sorted.h"

/* Differences are logarithms of ratios: a clock that tells 10 us of a step of 0.1 s cannot show
 * less, and equal ones are no proof of no spread. */
static const double spread_least = 1e-4;

void sequence_add(struct sequence *s, double difference)
{
    double from = difference - s->mean;

    if (!isfinite(difference))
        return;
    s->n++;
    s->mean += from / (double)s->n;
    s->squares += from * (difference - s->mean);
}

/* With q = t^2 / (n - 1) and k = 1 + n g the ratio is k^(-1/2) ((1 + q) / (1 + q / k))^(n/2); it is
 * 1 / (2 alpha) at the q that is solved for. */
double sequence_half(const struct sequence *s, double alpha, double spread)
{
    double n = (double)s->n, k = 1 + n * spread, root, q, variance;

    if (s->n < 2)
        return (double)INFINITY;
    root = fmax(1, pow(sqrt(k) / (2 * alpha), 2 / n));
    if (root >= k)
        return (double)INFINITY;
    q = (root - 1) / (1 - root / k);
    variance = fmax(s->squares / (n - 1), spread_least * spread_least);
    return sqrt(q * (n - 1) * variance / n);
}
