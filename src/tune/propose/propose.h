/* From what limits a run to settings that are worth a trial: a model of each bottleneck proposes a
 * value and what it would gain; the trial decides. */
#ifndef BRIM_TUNE_PROPOSE_PROPOSE_H
#define BRIM_TUNE_PROPOSE_PROPOSE_H
#include <stdbool.h>

#include "base/arena.h"
#include "model/job/knob.h"
#include "model/job/profile.h"
#include "model/job/run.h"
#include "model/verdict/verdict.h"

struct propose_about {
    const struct run *run;
    const struct verdict *verdict; /* of this run */
    const struct knobs *knobs;
    const char *const *named;  /* by the user: "KNOB" or "KNOB=VALUE", ends with NULL; NULL: none */
    const struct profile *won; /* settings that won before: proposed first; NULL: none are known */
    bool numeric;              /* the user allows knobs that change numbers */
    bool privileged;           /* an operator allows those that need one */
    bool energy;               /* joules count, not time alone */
    bool exact;                /* not even the last digits may change */
    double least_gain;         /* 0.02: less is not worth a trial */
    double shm_free_b;         /* of /dev/shm; NaN: not known */
    double mtbf_s;             /* mean time between failures of this job; NaN: not known */
};

struct candidate {
    const struct knob *knob;
    const char *value;
    const char *before; /* NULL: not known */
    double gain;        /* expected speed-up, 1.8; NaN: not known (declared by the user) */
    const char *why;    /* "fetching takes 163 ms and computing 16 ms: 12 workers keep up" */
    /* A knob that is set to yes with it, and back to no: alone it would change nothing. NULL. */
    const struct knob *also;
};

struct proposals {
    struct arena arena;     /* owns lists and texts; knobs are the caller's */
    struct candidate *list; /* those that won before, then the others; of both the largest gain
                             * first, those not known last */
    size_t count;
    struct candidate *barred; /* would be worth a trial, but need the user's or operator's word */
    size_t n_barred;
    const char *sentence; /* "3 settings are worth a trial" or why there are none */
};

/* Whether a word names a knob, or a value that it takes: 0, or -EINVAL with a sentence. */
int propose_check(const struct knobs *knobs, const char *word, struct err *e) CHECK_RESULT;

/* 0 or -ENOMEM; *ret is set on success only, and ended with proposals_done(). */
int propose(struct proposals *ret, const struct propose_about *about) CHECK_RESULT;

void proposals_done(struct proposals *p);

#endif
