/* Which processes of a job that marks nothing are its ranks: those that train, not those that
 * start them and not their loaders' workers. */
#ifndef BRIM_RUN_JOB_FIND_RANKS_H
#define BRIM_RUN_JOB_FIND_RANKS_H
#include <stdbool.h>

#include "run/job/family.h"

enum { KIN_MAX = 256 };

/* One process as it is told apart by. */
struct find_ranks {
    pid_t pid, parent;
    double busy;         /* CPUs that it uses */
    const char *command; /* its words, each ending with a NUL, and a NUL behind them */
};

/* The ranks among n processes, of which all[0] is the first: from it downwards to the first that
 * has no children, has children of its own kind (forked ones have its command, others say that they
 * are of multiprocessing) or computes itself. Of several those that do nothing are left out. At
 * most KIN_MAX pids in ret. Pure. */
size_t find_ranks_list(const struct find_ranks *all, size_t n, pid_t ret[KIN_MAX]);

/* The same of a family that is sampled again and again. */
struct find_ranks_watch {
    struct family_kin before[KIN_MAX]; /* by the last sample */
    size_t n_before;
    unsigned samples;
    pid_t ranks[KIN_MAX];
    size_t n;
};

/* Behind a sample, so many seconds after the one before. Looks from the second one on, then now and
 * then: who the ranks are is in ranks, for family_ranks(). */
void find_ranks_look(struct find_ranks_watch *w, int proc, const struct family *f, double seconds);

#endif
