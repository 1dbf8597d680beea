#include "model/signal/sorted.h"

#include <math.h>

#include "tap.h"

static void test_median(void)
{
    double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 2, 100 };

    ok(isnan(sorted_median(NULL, 0)), "no values have no median");
    ok(sorted_median(odd, 3) == 3, "the median of three values is the second in order");
    ok(odd[0] == 1 && odd[2] == 5, "the values are in rising order afterwards");
    ok(sorted_median(even, 4) == 3, "the median of four values is the mean of the inner two");
}

static void test_quantiles(void)
{
    const double values[] = { 0, 10, 20, (double)INFINITY }, one[] = { 7 };

    ok(sorted_quantile(values, 4, 0) == 0, "the quantile 0 is the least value");
    ok(sorted_quantile(values, 3, 1) == 20, "the quantile 1 is the largest value");
    ok(sorted_quantile(values, 3, 0.25) == 5, "a quantile between two values lies in proportion");
    ok(sorted_quantile(values, 4, 2.0 / 3) == 20, "a value beside INFINITY is met exactly");
    ok(isinf(sorted_quantile(values, 4, 0.9)),
       "a quantile between a number and INFINITY is INFINITY");
    ok(sorted_quantile(one, 1, 0.5) == 7, "every quantile of one value is that value");
}

int main(void)
{
    test_median();
    test_quantiles();
    return done();
}
