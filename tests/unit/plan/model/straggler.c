#include "plan/model/straggler.h"

#include <math.h>

#include "tap.h"

static bool close_to(double got, double want, double most)
{
    return fabs(got - want) <= most;
}

/* The mean of the largest of n draws: x over its density, n pdf(x) cdf(x)^(n - 1). */
static double integral(int n)
{
    double sum = 0, step = .004;

    for (double x = -6; x < 9; x += step) {
        double log_cdf = log1p(-erfc(x / sqrt(2)) / 2);

        sum += x * n * exp((n - 1) * log_cdf - x * x / 2) * step;
    }
    return sum / sqrt(2 * acos(-1));
}

static void test_powers_of_2(void)
{
    for (int i = 1; i <= 20; i++)
        ok(close_to(largest_of_normal(1 << i), integral(1 << i), 1.5e-4),
           "the largest of 2^%d draws is what an integral gives", i);
    for (int i = 1; i < 19; i++)
        ok(close_to(largest_of_normal(3 << i), integral(3 << i), .06),
           "the largest of 3 times 2^%d draws is near what an integral gives", i);
}

static void test_largest(void)
{
    bool grows = true;

    ok(largest_of_normal(1) == 0, "the largest of one draw is its mean");
    ok(close_to(largest_of_normal(2), 1 / sqrt(acos(-1)), 1e-4),
       "the largest of two draws is 1 over the root of pi");
    /* Of three: 3 over twice the root of pi. */
    ok(close_to(largest_of_normal(3), 1.5 / sqrt(acos(-1)), .06),
       "the largest of three draws is near what integrals give");
    ok(close_to(largest_of_normal(1000), 3.2414, .01), "the largest of 1,000 draws is 3.24");
    ok(largest_of_normal(0) == 0, "the largest of no draw is 0");
    ok(largest_of_normal(1 << 30) == largest_of_normal(1 << 20),
       "the largest of more draws than the table has is its last");
    for (int n = 1; n < 5000; n++)
        grows &= largest_of_normal(n + 1) >= largest_of_normal(n);
    ok(grows, "the largest of more draws is never smaller");
}

static void test_share(void)
{
    ok(straggler_share(.02, 8, 1) == 0, "8 replicas wait no longer than what was fitted has");
    ok(straggler_share(.02, 1, 1) == 0, "one replica waits for nobody");
    /* 16 draws: 1.766 against 1.4236. */
    ok(close_to(straggler_share(.02, 16, 1), .02 * .3424, 1e-9),
       "16 replicas wait a third of a deviation longer than 8");
    ok(close_to(straggler_share(.02, 16, 4), .01 * .3424, 1e-9),
       "4 micro-batches between meetings halve the wait");
    ok(straggler_share(.02, 16, 0) == straggler_share(.02, 16, 1),
       "no micro-batch between meetings counts as one");
}

int main(void)
{
    test_largest();
    test_powers_of_2();
    test_share();
    return done();
}
