/* One A/B trial on a job that runs: is B faster than A? Blocks of steps in the order A B B A, their
 * medians, the logarithms of the ratios of neighbours, and a test that may be looked at whenever
 * four blocks are whole (sequence.h).
 *
 *     trial_init(&t, NULL);
 *     while (trial_verdict(&t) == TRIAL_RUNS) {
 *         put trial_want(&t) in force if it is not;
 *         trial_steps(&t, that, seconds of a step, 1);
 *     }
 *
 * Neighbours share their moment, so that drift goes out; medians are deaf to spikes. Measured in
 * docs/optimize-internals.md. Nothing here allocates. */
#ifndef BRIM_TUNE_TRIAL_TRIAL_H
#define BRIM_TUNE_TRIAL_TRIAL_H
#include <stdbool.h>
#include <stdint.h>

#include "tune/trial/sequence.h"

enum { TRIAL_BLOCK_MOST = 512 /* values */, TRIAL_VALUES_LEAST = 2, TRIAL_PAIRS_MOST = 256 };

enum trial_verdict {
    TRIAL_RUNS,
    TRIAL_ACCEPT,    /* B is faster, and by more than the least gain as far as one can tell */
    TRIAL_REJECT,    /* B is slower, or not faster by the least gain */
    TRIAL_UNDECIDED, /* the pairs are used up */
};

struct trial_plan {
    unsigned block;    /* steps of a block, at least; and TRIAL_VALUES_LEAST values */
    double block_s;    /* seconds of a block, at least, or what its steps would take with A; it ends
                        * with TRIAL_BLOCK_MOST values */
    unsigned discard;  /* steps left out after each change of the setting */
    unsigned pairs;    /* most, TRIAL_PAIRS_MOST at most */
    double alpha;      /* probability of accepting a B that is not faster */
    double futile;     /* of giving up a B that has the least gain */
    double least_gain; /* 0.02 */
    double spread;     /* of the gain to be found, see sequence_half() */
    bool at_once;      /* two pairs may do, see trial.c */
    double promise;    /* gain that B was proposed with; a B that is far below it after one or two
                        * pairs is given up, see trial.c. 0: not known; NaN: never */
    double hurry;      /* a first pair beyond this factor has A looked at next, and that may do */
    /* 0: A B B A, by medians of blocks. Else a seed: of each pair chance says what is first, and
     * means of blocks count, for what goes up and down by itself (power); see trial.c. */
    uint64_t chance;
};

/* What a session takes; candidates is how many trials share the probability of 5 %. */
struct trial_plan trial_plan_usual(unsigned candidates);

/* The same where values are looks at something that goes up and down by itself, such as power. */
struct trial_plan trial_plan_wild(unsigned candidates, uint64_t chance);

struct trial {
    struct trial_plan plan;
    struct sequence pairs;         /* log(A / B) */
    unsigned blocks;               /* that are whole */
    unsigned left_out;             /* steps of this block's discards */
    double wild[TRIAL_PAIRS_MOST]; /* with a plan of chance: pairs as they were */
    unsigned n_wild;
    double least;          /* the smallest of the pairs */
    double without, with;  /* medians of the last blocks of A and of B; 0 before */
    bool hurries, hurried; /* A B A is under way, and not A B B A; or was, in vain */
    double noise;          /* sum over blocks of the squared spread of a step */
    double values[TRIAL_BLOCK_MOST];
    unsigned n, counted; /* values, and the steps that they are the means of */
    double seconds;      /* of those */
    unsigned steps;      /* all that were fed */
    enum trial_verdict verdict;
    bool at_once; /* two pairs did, or A B A */
};

/* plan NULL: trial_plan_usual(1). */
void trial_init(struct trial *t, const struct trial_plan *plan);

/* The first block, of A, was measured before: n values (TRIAL_VALUES_LEAST or more). B is in
 * force since some steps ago. Right behind trial_init(). */
void trial_begun(struct trial *t, const double *values, unsigned n);

/* What has to be in force now: false A, true B. */
bool trial_want(const struct trial *t);

/* Whether the next step is left out whatever it takes, since the setting has just changed. */
bool trial_skips(const struct trial *t);

/* So many steps, of which that is the mean in seconds, with B (or A) in force. What was run with
 * what is not wanted, or with no time, is left out. */
enum trial_verdict trial_steps(struct trial *t, bool b, double seconds, unsigned steps);

/* What came out: the gain of B (0.05: B does 5 % more steps in a second) and its bounds, each
 * wrong with probability alpha at most; infinite bounds while too little is known. */
struct trial_effect {
    double gain, low, high;
};
struct trial_effect trial_effect(const struct trial *t);

/* The same of a trial that ended early, with bounds of 95 % by the spread of steps within blocks:
 * no proof, but what it looked like. */
struct trial_effect trial_so_far(const struct trial *t);

#endif
