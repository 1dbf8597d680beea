/* Slurm's accounting, asked by its own sacct: jobs of the past, and why there are none. */
#ifndef BRIM_SLURM_ACCOUNT_SACCT_H
#define BRIM_SLURM_ACCOUNT_SACCT_H
#include "slurm/account/listing.h"

struct slurm_sacct {
    const char *conf;                   /* the path of slurm.conf; NULL: where Slurm looks for it */
    const char *since, *until;          /* as sacct takes them: "2026-11-13T09:00:00", "now" */
    int64_t patience_ms;                /* without a byte of it */
    int (*line)(void *ctx, char *line); /* the header first: struct slurm_listing */
    void *ctx;
};

enum { SLURM_SACCT_WORDS = 16 };

/* What is run: all users' jobs, each run of one that was requeued, no steps, and of them the fields
 * that releases 22.05 to 25.11 call the same, none of which a user may write. */
void slurm_sacct_argv(const struct slurm_sacct *s, const char *argv[SLURM_SACCT_WORDS]);

/* What it means that sacct ended with that status (not 0) and said that, as a sentence with the way
 * out: -ENOSYS: nothing is kept; -EACCES, -EHOSTDOWN, -E2BIG (too many days at a time), -EIO. */
int slurm_sacct_failed(int status, const char *said, struct err *e);

/* Run it. 0, what line() gave, or -errno with a sentence. */
int slurm_sacct_run(const struct slurm_sacct *s, struct err *e) CHECK_RESULT;

#endif
