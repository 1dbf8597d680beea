/* Slurm's lists of nodes: "n[0-2,07],gpu3" and with several brackets, "r[1-2]n[0-3]". */
#ifndef BRIM_SLURM_HOSTS_H
#define BRIM_SLURM_HOSTS_H
#include "base/compiler.h"

enum { SLURM_HOSTS_MOST = 1 << 17, SLURM_HOST_NAME = 256 };

/* Call each() with each name, in their order. 0, what each() gave that was not 0, or -EINVAL for
 * what is no such list, and for one of more than SLURM_HOSTS_MOST. */
int slurm_hosts_each(const char *list, int (*each)(const char *name, void *arg), void *arg)
    CHECK_RESULT;

#endif
