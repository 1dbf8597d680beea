/* brim optimize --once: what was found for a job before is enough. */
#ifndef BRIM_CMD_OPTIMIZE_ONCE_H
#define BRIM_CMD_OPTIMIZE_ONCE_H
#include "base/arena.h"
#include "cmd/optimize/options.h"

/* The profile to run the job with, in the arena: that of --profile, else of this command, if it
 * has settings and was found on this machine with these versions; on several nodes, if each rank
 * may have its settings for itself. NULL: there is none, which is to
 * be sought. 0, or a negative errno with a sentence: not for a profile that cannot be read, which
 * brim optimize tells of. */
int optimize_once(struct arena *a, const struct optimize_opts *o, char *const *argv, bool several,
                  const char **ret, struct err *e) CHECK_RESULT;

#endif
