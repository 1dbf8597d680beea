/* What a share of the steps is at least. Private to src/diagnose/verdict.
 *
 * A run is cut into parts of equally many steps. What limits it is there in most of them: what
 * happened in one of them only (another process, a cold cache, a stop of the virtual machine) makes
 * the parts differ, and the share is that much less certain. */
#ifndef BRIM_DIAGNOSE_VERDICT_SURE_H
#define BRIM_DIAGNOSE_VERDICT_SURE_H
#include <stddef.h>

#include "base/compiler.h"

enum { JUDGE_PARTS = 10 };

/* Sums over the parts of a run of n steps; zero it and set n. */
struct judge_parts {
    size_t n;
    double part[JUDGE_PARTS], whole[JUDGE_PARTS];
};

/* The i-th step took 'whole', of which 'part' counts. */
void judge_parts_add(struct judge_parts *p, size_t i, double part, double whole);

/* The lower end of the share, which 19 of 20 stay above (Student's t over the parts), 0 at least;
 * NaN with fewer than four steps. */
double judge_parts_least(const struct judge_parts *p);

#endif
