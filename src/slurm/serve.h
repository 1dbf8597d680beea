/* What goes on in the process that Slurm's library runs in. */
#ifndef BRIM_SLURM_SERVE_H
#define BRIM_SLURM_SERVE_H
#include "slurm/slurm.h"

/* Answer what comes in at fd (worker.h) until it is closed. */
void slurm_serve(int fd, const struct slurm_config *config);

/* All n bytes, or a negative errno; -EPIPE when it was closed. */
int slurm_serve_get(int fd, void *to, size_t n) CHECK_RESULT;

#endif
