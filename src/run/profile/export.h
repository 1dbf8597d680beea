/* A profile as text for those who start jobs. */
#ifndef BRIM_RUN_PROFILE_EXPORT_H
#define BRIM_RUN_PROFILE_EXPORT_H
#include "model/job/profile.h"

enum export_form {
    EXPORT_ENV,      /* lines for a shell */
    EXPORT_SLURM,    /* the same below #SBATCH lines, for a batch script */
    EXPORT_TORCHRUN, /* a script that starts torchrun with it */
};

/* Append it. Settings that cannot be handed over so are comments. folders: where libraries are,
 * ends with NULL; NULL: the system's. Text for /bin/sh in any case, whatever the profile holds. 0
 * or -ENOMEM. */
int profile_export(const struct profile *p, const struct knobs *knobs, enum export_form form,
                   const char *const *folders, struct str *out) CHECK_RESULT;

#endif
