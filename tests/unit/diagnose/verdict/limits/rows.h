/* Runs just below and just above each threshold of a verdict. */
#ifndef BRIM_TESTS_LIMITS_H
#define BRIM_TESTS_LIMITS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "run_made.h"

/* What holds at the very value between both sides; not asked where sums round it. */
enum limit_at { AT_ROUNDED, AT_HOLDS, AT_HOLDS_NOT };

/* One use of a threshold: a run made for a value, and whether its verdict is the one looked for. */
struct limit_row {
    const char *name; /* of the threshold; NULL: a constant of the code */
    double no, yes;   /* on either side of it: where the verdict is not that one, and where it is */
    bool (*holds)(double x);
    const char *what; /* the verdict, as a sentence about "so much" of the value */
    enum limit_at at;
};

struct limit_rows {
    const struct limit_row *rows;
    size_t n;
};

/* All of them, by what they are about; ended by NULL. */
extern const struct limit_rows *const limits_all[];

/* ---- runs, without noise ---- */

/* One rank that computes on two CPUs: nothing limits it. */
struct made limits_plain(void);

/* The same, waiting for two workers that sleep, for that share of the step. */
struct made limits_waiting(double share);

/* ... that wait for a disk which gives no more. */
struct made limits_reading(void);

/* One rank on a GPU that is busy. */
struct made limits_gpu(void);

/* Two ranks like the plain one. */
struct made limits_group(void);

/* A share of the step for a stage, taken from the backward pass. */
void limits_stage(struct made *m, int stage, double share);

/* ---- verdicts ---- */

struct limits_said {
    uint64_t causes; /* bits of all that were found */
    struct verdict_item first;
    struct verdict_item of[CAUSES]; /* by cause; texts are in 'text' only */
    char text[8192];                /* all that is said */
};

/* Where limits_judge() writes each verdict, too; NULL: nowhere. */
extern FILE *limits_shown;

/* Whether limits_judge() keeps two steps of each rank and one moment: no mean is a sum that rounds,
 * and a value is judged to its last bit. */
extern bool limits_exact;

/* Judge a run; it is ended. earlier may be NULL. */
struct limits_said limits_judge(struct run *r, struct run *earlier);

bool limits_finds(struct made *m, enum cause cause);
bool limits_is_first(struct made *m, enum cause cause);
bool limits_says(struct made *m, const char *words);

#endif
