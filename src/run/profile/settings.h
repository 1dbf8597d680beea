/* A profile put to use when a job starts: what of it goes into the job's environment, its command
 * and its CPUs. What the user has set is never overwritten. */
#ifndef BRIM_RUN_PROFILE_SETTINGS_H
#define BRIM_RUN_PROFILE_SETTINGS_H
#include <stdbool.h>

#include "model/job/profile.h"
#include "probe/kernel/tree.h"

struct profile_settings_about {
    const struct knobs *knobs;
    struct tree *tree;          /* the machine's files, for NUMA nodes and cores */
    const char *const *folders; /* that libraries are in, ends with NULL; NULL: the system's */
    const char *cpus;           /* that the job may use, as the kernel lists them */
    bool shim;                  /* there is one for Python: else what it sets is left */
    bool safe_only;             /* leave what may change the numbers that come out */
    bool alone;                 /* ranks elsewhere may not have it: leave what all must have */
};

/* In: env and argv, of the job as it is. Out: all of it; what is new is in the arena, the rest is
 * borrowed from what was handed in. */
struct profile_settings {
    char *const *env, *const *argv;
    const char *cpus;     /* bind the job to these; NULL: leave it as it is */
    const char **applied; /* "loader.workers=13" */
    size_t n_applied;
    const char **left; /* "nccl.algorithm=Ring is left: NCCL_ALGO is 'Tree' in the environment" */
    size_t n_left;
};

/* Apply each setting of the profile to *io, or tell in io->left why not:
 *   env       a variable, unless the user has set it to something else
 *   shim      an item of BRIM_KNOBS, unless it is there with another value
 *   flag      flag and value behind the command, unless it is there; not behind a shell's -c
 *   binding   blas: the library's folder on LD_LIBRARY_PATH; malloc: LD_PRELOAD; cpus: io->cpus
 *   launcher, device: told only
 * Settings of knobs that there are not, or with values that these do not take, are left, too.
 * 0 or -ENOMEM. */
int profile_settings_apply(struct arena *a, const struct profile *p,
                           const struct profile_settings_about *about, struct profile_settings *io,
                           struct err *e) CHECK_RESULT;

/* "a=1, b=2" or "the sentences, one after the other": for notes and messages. */
void profile_settings_join(struct str *out, const char *const *texts, size_t n,
                           const char *between);

#endif
