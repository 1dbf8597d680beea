/* Which CPUs a rank is bound to. */
#ifndef BRIM_RUN_JOB_BINDING_H
#define BRIM_RUN_JOB_BINDING_H
#include "base/arena.h"
#include "probe/kernel/tree.h"

struct binding_about {
    struct tree *tree;
    const char *cpus;               /* that we may use, as the kernel lists them */
    char *const *env, *const *argv; /* of the job */
};

enum { BINDING_WHY = 256 };

/* "numa": the CPUs of one NUMA node: of a single rank that of its GPU, else the node on which it
 * may use most; of several ranks on this node each its share of the nodes, by local rank. "cores":
 * one CPU of each core of the rank's share. *ret: the list, in the arena; NULL when nothing is to
 * be bound, and why says why. 0 or -ENOMEM. */
int binding_cpus(struct arena *a, const struct binding_about *about, const char *how,
                 const char **ret, char why[BINDING_WHY]) CHECK_RESULT;

/* The CPUs that this process may use, as the kernel lists them; "" when that is not known. NULL
 * when out of memory. */
const char *binding_allowed(struct arena *a) CHECK_RESULT;

/* One CPU of each core among those of a list, as a list. NULL when out of memory. */
const char *binding_cores(struct arena *a, struct tree *tree, const char *cpus) CHECK_RESULT;

/* What starts the ranks of a job itself (torchrun, mpirun ...): its name, else NULL. */
const char *binding_launcher(char *const *argv);

/* Bind the calling process to a list of CPUs: 0 or -1 with errno. Safe in a forked child. */
int binding_bind(const char *cpus);

#endif
