/* After a setting was adopted: does it still pay? A cumulative sum over blocks of steps notices
 * that they take longer than expected, and every so often a pair of blocks compares with the old
 * setting anyway. Either only asks for a trial, since the job itself may have changed: the answer
 * comes from comparing both settings at the same time. Nothing here allocates. */
#ifndef BRIM_TUNE_TRIAL_RECHECK_H
#define BRIM_TUNE_TRIAL_RECHECK_H
#include "tune/trial/trial.h"

enum guard_verdict {
    GUARD_KEEP,
    GUARD_ROLL_BACK, /* the old setting is as fast, or faster */
};

struct guard_plan {
    unsigned block;          /* values of a block */
    unsigned every;          /* blocks between two looks at the old setting, at least */
    double rest;             /* and that many times the time that the old setting has had */
    double slack;            /* logarithm: what a block may be slower than expected for nothing */
    double limit;            /* of the sum: 0.25 is five blocks 5 % over the slack */
    struct trial_plan check; /* A is the old setting */
};

struct guard_plan guard_plan_usual(void);

struct guard {
    struct guard_plan plan;
    double expected; /* seconds of a step; NaN: the first block tells */
    double sum;
    double values[TRIAL_BLOCK_MOST];
    unsigned n, blocks; /* since the last look */
    double since_s;     /* ... and seconds */
    double old_s;       /* that the old setting had in the last look, or would have */
    bool checking;
    bool alarmed; /* the last check was for steps that took longer than expected */
    unsigned checks;
    struct trial check;
    enum guard_verdict verdict;
};

/* Watch a new setting with steps of 'expected' seconds (NaN: not known). plan NULL: the usual. */
void guard_init(struct guard *g, double expected, const struct guard_plan *plan);

/* What has to be in force now: true the new setting, false the old one for a comparison. */
bool guard_want(const struct guard *g);

/* A step with that in force. Once it says roll back it keeps saying so. */
enum guard_verdict guard_step(struct guard *g, bool adopted, double seconds);

/* So many steps, whose mean that is: where they come in bursts. */
enum guard_verdict guard_steps(struct guard *g, bool adopted, double seconds, unsigned steps);

#endif
