/* What limits a run: its steps and moments in, a ranked verdict out. Pure. */
#ifndef BRIM_DIAGNOSE_VERDICT_JUDGE_H
#define BRIM_DIAGNOSE_VERDICT_JUDGE_H
#include "model/job/run.h"
#include "model/verdict/verdict.h"

/* Judge the steady part of a run. earlier is a run of the same job to compare with, NULL for none.
 * *v is empty (zeroed) before; afterwards it holds at least one item, and the caller ends it with
 * verdict_done(), also when this fails. 0 or -ENOMEM. */
int judge_run(const struct run *r, const struct run *earlier, struct verdict *v) CHECK_RESULT;

#endif
