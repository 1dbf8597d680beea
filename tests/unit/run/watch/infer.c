/* Periods in series with known ones, and none where there is none. */
#include "run/watch/infer.h"

#include <math.h>
#include <stdint.h>

#include "tap.h"

enum { N = 600, PIECES = 20 };

static double series[N], scratch[2 * N];

/* Numbers that look random and are the same each time: -1 to 1. */
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(int64_t)*state / 9.3e18;
}

static struct infer look(size_t n)
{
    return infer_period(series, n, INFER_HZ, scratch);
}

/* Work for a share of each period, with noise. */
static void make_loop(double period_s, double share, double amount, uint64_t seed)
{
    for (size_t i = 0; i < N; i++) {
        series[i] = 1 + amount * noise(&seed);
        for (size_t k = 0; k < PIECES; k++) { /* a sample is what was done since the one before */
            double s = ((double)i + (double)k / PIECES) / INFER_HZ;

            series[i] += fmod(s, period_s) / period_s < share ? 1.0 / PIECES : 0;
        }
    }
}

static void test_loops(void)
{
    static const double periods[] = { 0.45, 0.8, 1.3, 2.5, 7, 12 };

    for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
        struct infer found;

        make_loop(periods[i], 0.5, 0.3, i + 1);
        found = look(N);
        ok(fabs(found.period_s / periods[i] - 1) < 0.03, "%.2f s is found as %.3f", periods[i],
           found.period_s);
        ok(found.confidence >= INFER_CONFIDENCE && found.confidence <= 1,
           "a period of %.2f s is found with confidence %.2f", periods[i], found.confidence);
    }
}

static void test_nothing(void)
{
    double most = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t state = seed;

        for (size_t i = 0; i < N; i++)
            series[i] = noise(&state);
        most = fmax(most, look(N).confidence);
    }
    ok(most < 0.35, "noise repeats nothing");
    for (size_t i = 0; i < N; i++)
        series[i] = 3;
    ok(isnan(look(N).period_s), "what never changes has no period");
    for (size_t i = 0; i < N; i++)
        series[i] = (double)i;
    ok(isnan(look(N).period_s), "a slope has no period");
    for (size_t i = 0; i < N; i++)
        series[i] = i > N / 2;
    ok(isnan(look(N).period_s), "a single step has no period");
    make_loop(1, 0.5, 0, 1);
    ok(isnan(look(59).period_s), "a series may be too short");
    series[7] = (double)NAN;
    ok(isnan(look(N).period_s), "a series with a gap has no period");
}

/* A wave of two seconds around a mean. */
static struct infer wave(double mean, double amplitude)
{
    for (size_t i = 0; i < N; i++)
        series[i] = mean + amplitude * sin(acos(-1) * (double)i / INFER_HZ);
    return look(N);
}

/* The variance of a wave is half its amplitude squared. */
static void test_even(void)
{
    ok(isnan(wave(1, 1.3e-3).period_s), "what varies by 0.9 thousandths of its mean is even");
    ok(fabs(wave(1, 1.5e-3).period_s - 2) < 0.1, "what varies by 1.1 thousandths has a period");
    ok(isnan(wave(-5, 6.5e-3).period_s), "the mean of what is even may be below 0");
    ok(isnan(wave(0, 1.3e-9).period_s), "what varies by rounding around 0 is even");
    ok(fabs(wave(0, 1.5e-9).period_s - 2) < 0.1, "what varies by more around 0 has a period");
}

int main(void)
{
    test_loops();
    test_even();
    test_nothing();
    return done();
}
