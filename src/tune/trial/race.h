/* Racing over restarts, for knobs that need one: each round every setting that is still in the race
 * runs once, and the medians of a round's runs are compared as a trial compares blocks. Setting 0
 * is what the job has. Losers leave; nothing here allocates. */
#ifndef BRIM_TUNE_TRIAL_RACE_H
#define BRIM_TUNE_TRIAL_RACE_H
#include <stdbool.h>

#include "tune/trial/sequence.h"
#include "tune/trial/trial.h"

enum { RACE_MOST = 8 /* settings */, RACE_ROUNDS_MOST = 32 };

struct race_plan {
    unsigned rounds; /* most, RACE_ROUNDS_MOST at most */
    double alpha;    /* that a setting wins that is not faster than setting 0; all together */
    double futile;   /* that one with the least gain is dropped, for each */
    double least_gain;
    double spread; /* see sequence_half(): medians of whole runs spread little */
};

struct race_plan race_plan_usual(void);

struct race {
    struct race_plan plan;
    unsigned n, round, at; /* settings; the round that runs, and how many of it have run */
    bool in[RACE_MOST];
    double log_s[RACE_MOST][RACE_ROUNDS_MOST]; /* of each round; NaN: did not run */
    bool over;
    unsigned winner; /* 0: none is faster */
};

/* n settings with setting 0 (2 to RACE_MOST). plan NULL: the usual. */
void race_init(struct race *r, unsigned n, const struct race_plan *plan);

/* The setting to run next; -1 when the race is over. Rounds go up and down in turn, so that drift
 * over time hits all alike. */
int race_want(const struct race *r);

/* The wanted run's median step took so many seconds; NaN or 0: the run failed, which drops the
 * setting (setting 0: the race ends without a winner). */
void race_run(struct race *r, double seconds);

/* Of a setting against setting 0: as of a trial. */
struct trial_effect race_effect(const struct race *r, unsigned setting);

#endif
