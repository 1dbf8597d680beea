#include "plan/model/straggler.h"

#include <math.h>
#include <stddef.h>

#include "base/compiler.h"

/* Of 2^i draws: the integral of x over the density of the largest, in steps of 0.001. */
static const double largest[] = {
    0,      0.5642, 1.0294, 1.4236, 1.7660, 2.0697, 2.3437, 2.5946, 2.8269, 3.0439, 3.2482,
    3.4418, 3.6261, 3.8023, 3.9714, 4.1341, 4.2911, 4.4430, 4.5903, 4.7332, 4.8723,
};

/* Replicas of the runs that figures of a GPU are fitted to, for the most: 1 << 3. */
enum { FITTED = 3 };

double largest_of_normal(int n)
{
    size_t i;

    if (n < 1)
        return 0;
    i = 31 - (size_t)__builtin_clz((unsigned)n);
    if (i + 1 >= ARRAY_SIZE(largest))
        return largest[ARRAY_SIZE(largest) - 1];
    return largest[i] + (largest[i + 1] - largest[i]) * ((double)n / (1 << i) - 1);
}

double straggler_share(double spread, int replicas, int between)
{
    if (replicas <= 1 << FITTED)
        return 0;
    return spread * (largest_of_normal(replicas) - largest[FITTED]) /
           sqrt(between > 1 ? between : 1);
}
