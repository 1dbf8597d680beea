/* Which processes of a job that marks nothing are its ranks: those that train, not those that
 * start them and not their loaders' workers. */
#ifndef BRIM_RUN_KIN_H
#define BRIM_RUN_KIN_H
#include <stdbool.h>

#include "run/family.h"

enum { KIN_MAX = 256 };

/* One process as it is told apart by. */
struct kin {
    pid_t pid, parent;
    double busy;         /* CPUs that it uses */
    const char *command; /* its words, each ending with a NUL, and a NUL behind them */
};

/* The ranks among n processes, of which all[0] is the first: from it downwards to the first that
 * has no children, has children of its own kind (forked ones have its command, others say that they
 * are of multiprocessing) or computes itself. Of several those that do nothing are left out. At
 * most KIN_MAX pids in ret. Pure. */
size_t kin_ranks(const struct kin *all, size_t n, pid_t ret[KIN_MAX]);

/* The same of a family, asking /proc for commands. before, n_before: what family_kin() told so many
 * seconds ago. */
size_t kin_of_family(int proc, const struct family *f, const struct family_kin *before,
                     size_t n_before, double seconds, pid_t ret[KIN_MAX]);

#endif
