/* A command of Slurm that lists, read line by line while it runs: however much it prints, what is
 * kept is one line. It runs in a process group of its own, which is killed when it falls silent. */
#ifndef BRIM_SLURM_ACCOUNT_LISTING_H
#define BRIM_SLURM_ACCOUNT_LISTING_H
#include <stdint.h>

#include "base/err.h"

enum { SLURM_LISTING_LINE = 64 << 10, SLURM_LISTING_SAID = 4096 };

struct slurm_listing {
    const char *const *argv; /* NULL behind the last */
    const char *conf;        /* the path of slurm.conf; NULL: where Slurm looks for it */
    int64_t patience_ms;     /* without a byte of it */
    /* A line without its end, which may be changed; NULL for one that is longer than
     * SLURM_LISTING_LINE. What is below 0 ends the command. */
    int (*line)(void *ctx, char *line);
    void *ctx;
};

/* Run it. Its exit status; -ENOENT: there is no such command; -ETIMEDOUT: it fell silent; what
 * line() gave; others, with a sentence but for the last two. said: what it wrote to stderr, cut.
 * Times are printed as seconds since 1970 (SLURM_TIME_FORMAT). */
int slurm_listing_run(const struct slurm_listing *l, char said[SLURM_LISTING_SAID], struct err *e)
    CHECK_RESULT;

#endif
