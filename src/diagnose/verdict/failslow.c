#include "diagnose/verdict/failslow.h"

#include <math.h>

#include "base/compiler.h"
#include "model/signal/sorted.h"

/* The least change to find, and the mean number of steps between false alarms: out of these the
 * theory of CUSUM (Siegmund 1985) gives the threshold of the sums. */
static const double shift = 0.0953;       /* log(1.1) */
static const double between_alarms = 2e6; /* steps */
static const double least_sum = 6;
static const double least_noise = 0.01;  /* less is not believed */
static const double least_change = 0.05; /* of the level, in logarithms: less is drift */
static const double clip = 2.5;          /* what one step may add: a spike is no change */
static const double slowest = 1.0 / 500; /* how fast the baseline follows */

void failslow_init(struct failslow *f)
{
    *f = (struct failslow){ .n = 0 };
}

static double kept(const struct failslow *f, uint64_t step)
{
    return f->last[step % FAILSLOW_KEPT];
}

/* The median of the steps from one to before another, both of which are kept. */
static double median_of(const struct failslow *f, uint64_t from, uint64_t to)
{
    double values[FAILSLOW_KEPT];
    size_t n = 0;

    for (uint64_t i = from; i < to && n < FAILSLOW_KEPT; i++)
        values[n++] = kept(f, i);
    return sorted_median(values, n);
}

/* Make the baseline of the level's steps so far. */
static void learn(struct failslow *f)
{
    double values[FAILSLOW_KEPT];
    size_t n = 0;

    f->median = median_of(f, f->base_from, f->n);
    for (uint64_t i = f->base_from; i < f->n && n < FAILSLOW_KEPT; i++)
        values[n++] = fabs(kept(f, i) - f->median);
    f->deviation = fmax(least_noise, 1.4826 * sorted_median(values, n));
    f->up = f->down = 0;
}

/* Follow slowly: each step moves the median by a share of the deviation, and the deviation by a
 * share of itself. */
static void follow(struct failslow *f, double x)
{
    double gain = fmax(slowest, 1.0 / (double)f->learned), off = fabs(x - f->median);

    f->median += gain * f->deviation * (x > f->median ? 1 : -1);
    f->deviation *= 1 + gain * (off * 1.4826 > f->deviation ? 1 : -1);
    f->deviation = fmax(least_noise, f->deviation);
    f->learned += f->learned < 1 / slowest;
}

/* Add to a sum; where it leaves 0 the level may have changed. */
static void add(double *sum, uint64_t *from, uint64_t n, double x)
{
    if (*sum <= 0)
        *from = n;
    *sum = fmax(0, *sum + fmin(x, clip));
}

/* The change that began there, unless it is too little to be one. */
static bool change(struct failslow *f, uint64_t from, struct failslow_change *out)
{
    uint64_t oldest = f->n > FAILSLOW_KEPT ? f->n - FAILSLOW_KEPT : 0;
    double after;

    from = MAX(from, oldest);
    after = median_of(f, from, f->n);
    if (fabs(after - f->median) < least_change) {
        f->up = f->down = 0;
        return false;
    }
    *out = (struct failslow_change){ from, f->n - 1, exp(f->median), exp(after) };
    f->base_from = from;
    f->learned = 0;
    f->median = after;
    f->up = f->down = 0;
    return true;
}

bool failslow_step(struct failslow *f, double seconds, struct failslow_change *out)
{
    double x, k, limit, z;

    if (!(seconds > 0) || !isfinite(seconds))
        return false;
    x = log(seconds);
    f->last[f->n++ % FAILSLOW_KEPT] = x;
    if (!f->learned) {
        if (f->n - f->base_from < FAILSLOW_BASE)
            return false;
        f->learned = FAILSLOW_BASE;
        learn(f);
        return false;
    }
    k = shift / 2 / f->deviation;
    limit = fmax(least_sum, log(between_alarms * 2 * k * k) / (2 * k) - 1.166);
    z = (x - f->median) / f->deviation;
    add(&f->up, &f->up_from, f->n - 1, z - k);
    add(&f->down, &f->down_from, f->n - 1, -z - k);
    if (f->up > limit)
        return change(f, f->up_from, out);
    if (f->down > limit)
        return change(f, f->down_from, out);
    if (f->up < limit / 2 && f->down < limit / 2)
        follow(f, x);
    return false;
}
