/* After a setting was adopted: does it still pay? A cumulative sum over blocks of steps notices
 * that they take longer than expected, and every so often a pair of blocks compares with the old
 * setting anyway. Either only asks for a trial, since the job itself may have changed: the answer
 * comes from comparing both settings at the same time. Nothing here allocates. */
#ifndef BRIM_TUNE_TRIAL_RECHECK_H
#define BRIM_TUNE_TRIAL_RECHECK_H
#include "tune/trial/trial.h"

enum recheck_verdict {
    GUARD_KEEP,
    GUARD_ROLL_BACK, /* the old setting is as fast, or faster */
};

struct recheck_plan {
    unsigned block;          /* values of a block */
    unsigned every;          /* blocks between two looks at the old setting, at least */
    double rest;             /* and that many times the time that the old setting has had */
    double slack;            /* logarithm: what a block may be slower than expected for nothing */
    double limit;            /* of the sum: 0.25 is five blocks 5 % over the slack */
    struct trial_plan check; /* A is the old setting */
};

struct recheck_plan recheck_plan_usual(void);

/* The same for values as in trial_plan_wild(): only a proof rolls back. */
struct recheck_plan recheck_plan_wild(uint64_t chance);

struct recheck {
    struct recheck_plan plan;
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
    enum recheck_verdict verdict;
};

/* Watch a new setting with steps of 'expected' seconds (NaN: not known). plan NULL: the usual. */
void recheck_init(struct recheck *g, double expected, const struct recheck_plan *plan);

/* What has to be in force now: true the new setting, false the old one for a comparison. */
bool recheck_want(const struct recheck *g);

/* So many steps, of which that is the mean in seconds, with that in force. Once it says roll back
 * it keeps saying so. */
enum recheck_verdict recheck_steps(struct recheck *g, bool adopted, double seconds, unsigned steps);

#endif
