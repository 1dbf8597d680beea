/* What brim submit is asked for as an order to Slurm. Pure. */
#ifndef BRIM_CMD_QUEUE_SLURM_OPTIONS_H
#define BRIM_CMD_QUEUE_SLURM_OPTIONS_H
#include "base/err.h"
#include "cmd/queue/submit_opts.h"
#include "slurm/user/order.h"

/* What is not among the options. */
struct slurm_shell {
    const char *name;   /* of the job, where nobody said */
    const char *folder; /* that it runs in */
    const char *team;   /* BRIM_TEAM; NULL */
    bool root;
};

/* 0; ERR_USAGE with a sentence that names the option which Slurm cannot carry out, and the way out;
 * -ENOMEM. Options were checked before as for any engine. Texts are borrowed, or in the arena. */
int slurm_options(struct slurm_order *ret, const struct submit_opts *o, const struct slurm_shell *s,
                  struct arena *a, struct err *e) CHECK_RESULT;

/* What brim priority N is in Slurm: how much others go first. */
int64_t slurm_options_nice(int64_t priority);

#endif
