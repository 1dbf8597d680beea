/* A heat: one short run of a job in a race over restarts. What is measured of it, and when that is
 * enough. Pure; nothing here allocates. */
#ifndef BRIM_OPTIMIZE_RACE_RUN_H
#define BRIM_OPTIMIZE_RACE_RUN_H
#include "optimize/join.h"

enum { HEAT_STEPS = 2048, HEAT_LOSSES = 64, HEAT_TEXT = 160 };

struct race_run_plan {
    unsigned warm_up;              /* steps that are left out */
    unsigned least, steps;         /* steps that are needed; that are enough */
    double least_s, seconds;       /* of the steps that are enough; then the needed ones are */
    double slow_s;                 /* steps that are slower need no more than 'least'; NaN */
    double start_most, quiet_most; /* seconds without a step: until the first, later */
};

/* start_s, step_s: how long the job has taken to its first steps, and takes for one; NaN: not
 * known. */
struct race_run_plan race_run_plan_usual(double start_s, double step_s);

enum race_run_state {
    HEAT_RUNS,
    HEAT_ENOUGH,
    HEAT_FAILED,
    HEAT_SAVED, /* the job has written a checkpoint: others would start from that */
};

struct race_run {
    struct race_run_plan plan;
    enum race_run_state state;
    unsigned seen, n;          /* steps, and those that are measured */
    double values[HEAT_STEPS]; /* seconds of each */
    double samples[HEAT_STEPS];
    double total_s;
    double loss[HEAT_LOSSES]; /* by the number of the step; NaN: not told */
    double begin_s, last_s;   /* by the clock of race_run_tick(); last_s: of the last step */
    char why[HEAT_TEXT];      /* HEAT_FAILED */
};

void race_run_init(struct race_run *h, const struct race_run_plan *plan);

/* A step has ended; they come in their order. */
void race_run_step(struct race_run *h, const struct join_step *s);

/* The time now; from the heat's begin on. */
void race_run_tick(struct race_run *h, double now_s);

/* It cannot be measured, or can no more. */
void race_run_fail(struct race_run *h, const char *why);

/* The job has ended by itself; how: "exit status 3", or NULL when that was in order: what it has
 * measured counts then, if it is what is needed. */
void race_run_end(struct race_run *h, const char *how);

/* The median of up to 64 blocks of at least 8 steps (or a fifth of them), of each the mean: bursts
 * of loaders and steps without communication are a part of a block, what disturbs some steps is
 * not. Of a sample where all steps told theirs, else of a step; NaN when it failed. */
double race_run_seconds(const struct race_run *h, bool *per_sample);

#endif
