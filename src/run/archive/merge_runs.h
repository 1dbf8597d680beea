/* Parts of one run, each seen by an observer of its own, as one. */
#ifndef BRIM_RUN_ARCHIVE_MERGE_RUNS_H
#define BRIM_RUN_ARCHIVE_MERGE_RUNS_H
#include "run/archive/archive.h"

/* Add a further part to the run that the first part became; what it takes is copied. Ranks of
 * other nodes get times of the first part's clock. Of moments, what the job's processes did is
 * added where both are of one node; those of other nodes are left out. 0 or -ENOMEM. */
int merge_runs_add(struct run *r, const struct archive_part *first, const struct run *more,
                   const struct archive_part *about) CHECK_RESULT;

#endif
