/* One of Slurm's client commands, run for a user: with a limit of time, as they try for minutes to
 * reach a controller that is away. */
#ifndef BRIM_SLURM_USER_CLIENT_H
#define BRIM_SLURM_USER_CLIENT_H
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct slurm_client {
    const char *name;
    pid_t pid;           /* 0: there is none */
    int fds[2];          /* its stdout and stderr; -1 at their ends */
    struct str texts[2]; /* what it wrote to them so far */
};

#define SLURM_CLIENT_INIT \
    { \
        .fds = { -1, -1 } \
    }

/* Run argv (NULL-terminated) in an environment. script: what it finds at the descriptor
 * SLURM_ORDER_FD; NULL. */
int slurm_client_start(struct slurm_client *ret, const char *const *argv, char *const *env,
                       const char *script, struct err *e) CHECK_RESULT;

/* Take in what it writes, until the first line of its stdout is whole, or (line false) it has
 * ended. patience_ms below 0: however long that takes. -ETIMEDOUT with a sentence that has what it
 * wrote last. */
int slurm_client_hear(struct slurm_client *c, bool line, int64_t patience_ms, struct err *e)
    CHECK_RESULT;

/* Wait for its end: its exit status, or a negative errno with a sentence: -ENOENT, there is no such
 * command. */
int slurm_client_end(struct slurm_client *c, struct err *e) CHECK_RESULT;

/* Kills it where it has not ended; SLURM_CLIENT_INIT is left. */
void slurm_client_done(struct slurm_client *c);

#endif
