/* Ends a job that is to end, with all that it has started. */
#ifndef BRIM_RUN_JOB_SWEEP_H
#define BRIM_RUN_JOB_SWEEP_H
#include "run/job/family.h"

/* Ask the job's first process and its ranks to end, those of them that are members of the family.
 * What lives below a rank, as workers of loaders do, ends with it. */
void sweep_ask(struct family *f, pid_t first, const pid_t *ranks, size_t n);

/* Send a signal to each member of the family; 0: only look. How many there are. */
size_t sweep_all(struct family *f, int number);

#endif
