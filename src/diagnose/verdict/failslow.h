/* Fail-slow: when does a series of step times change its level? Streaming: O(1) time and memory per
 * step. A two-sided CUSUM over the logarithm of step times against a baseline of median and
 * median deviation, which both follow slowly.
 *
 * At 3 % noise a slowdown of 10 % is found within 10 steps in 99 % of the cases, with less than one
 * false alarm in 86,400 steps; at 8 % noise one of 20 % is found within 20
 * (tests/unit/diagnose/verdict/failslow.c). */
#ifndef BRIM_DIAGNOSE_VERDICT_FAILSLOW_H
#define BRIM_DIAGNOSE_VERDICT_FAILSLOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAILSLOW_BASE = 40 /* steps of which a baseline is made */, FAILSLOW_KEPT = 64 };

/* A change of level. */
struct failslow_change {
    uint64_t step;        /* the first of the new level, counted from 0 */
    uint64_t found;       /* the step at which the change was sure */
    double before, after; /* seconds */
};

struct failslow {
    uint64_t n;                  /* steps seen */
    double last[FAILSLOW_KEPT];  /* logarithms, a ring by n */
    uint64_t base_from;          /* the first step of the level */
    unsigned learned;            /* of the level's first FAILSLOW_BASE steps */
    double median, deviation;    /* of logarithms; the deviation as that of a normal distribution */
    double up, down;             /* sums of what steps are above and below the baseline */
    uint64_t up_from, down_from; /* the steps at which the sums left 0 */
};

void failslow_init(struct failslow *f);

/* The next step took that long: true when a change was found, which is then in *out. A time that is
 * not above 0 is left out. */
bool failslow_step(struct failslow *f, double seconds, struct failslow_change *out);

#endif
