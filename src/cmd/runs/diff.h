/* What differs between two runs. */
#ifndef BRIM_CMD_RUNS_DIFF_H
#define BRIM_CMD_RUNS_DIFF_H
#include "base/str.h"
#include "model/job/run.h"

/* Rates, the split of the step, and the environment; as a table, or as one JSON object. 0 or
 * -ENOMEM. */
int runs_diff(const struct run *a, const struct run *b, bool json, struct str *out) CHECK_RESULT;

#endif
