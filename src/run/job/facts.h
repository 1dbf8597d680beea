/* What is worth knowing of where a run happened, to compare runs: notes of its environment. */
#ifndef BRIM_RUN_JOB_FACTS_H
#define BRIM_RUN_JOB_FACTS_H
#include "model/job/run.h"

/* Add notes to r->environment: kernel, CPUs, memory, limits, the git commit of the folder, and
 * those variables of env that change how jobs run; never one that may hold a secret. root: a
 * descriptor of / . 0 or -ENOMEM; what cannot be read is left out. */
int facts_take(struct run *r, int root, const char *folder, char *const *env) CHECK_RESULT;

/* Add one note. 0 or -ENOMEM. */
int facts_add(struct run *r, const char *name, const char *value) CHECK_RESULT;

#endif
