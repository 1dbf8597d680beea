/* Times of steps as jobs have them, from a seed: 8 % lognormal noise, one step in a hundred three
 * times as long, and a drift: an AR(1) wander (0.995, 0.4 % a step) and a trend whose size differs
 * from job to job (3 %, deviation, over 300 steps). The shape is that of the simulation that
 * docs/optimize-internals.md names. */
#ifndef BRIM_TESTS_NOISE_H
#define BRIM_TESTS_NOISE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct noise {
    uint64_t state;
    bool drifts;
    double wander, trend;
    unsigned step;
};

/* Between 0 and 1, neither of them: splitmix64. */
static inline double noise_even(struct noise *n)
{
    uint64_t x = n->state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static inline double noise_normal(struct noise *n)
{
    double radius = sqrt(-2 * log(noise_even(n)));

    return radius * cos(6.283185307179586 * noise_even(n));
}

static inline struct noise noise_start(uint64_t seed, bool drifts)
{
    struct noise n = { .state = seed * 0x2545f4914f6cdd1dU + 1, .drifts = drifts };

    if (drifts)
        n.trend = 0.03 * noise_normal(&n) / 150;
    return n;
}

/* What the next step's time is multiplied with. */
static inline double noise_next(struct noise *n)
{
    double x = 0.08 * noise_normal(n);

    if (noise_even(n) < 0.01)
        x += log(3);
    if (n->drifts) {
        n->wander = 0.995 * n->wander + 0.004 * noise_normal(n);
        x += n->wander + n->trend * n->step;
    }
    n->step++;
    return exp(x);
}

#endif
