/* The commands of the queue where Slurm is the engine: what they ask, and what comes of it, in the
 * form of the queue's own answers (queue_client.h). */
#ifndef BRIM_CMD_QUEUE_ON_SLURM_H
#define BRIM_CMD_QUEUE_ON_SLURM_H
#include "base/err.h"
#include "base/str.h"
#include "cmd/queue/queue_client.h"
#include "cmd/queue/slurm_options.h"
#include "slurm/user/client.h"

/* Hand a job to sbatch: answer gets its "id", or with --dry-run a "text" that says when it would
 * start. With --wait sbatch goes on, for on_slurm_wait(). 0 or a negative errno with a sentence, in
 * Slurm's words where it refuses. */
int on_slurm_submit(const struct slurm_order *o, char **command, struct slurm_client *sbatch,
                    struct str *answer, struct err *e) CHECK_RESULT;

/* The exit status of the job, or EXIT_FAILED of an array of which one failed, when it has ended. */
int on_slurm_wait(struct slurm_client *sbatch, bool array, struct err *e) CHECK_RESULT;

/* As queue_client_jobs(); label: one job or array, NULL: all of what. Without a user: those of the
 * user who asks, or all for root. */
int on_slurm_jobs(const struct queue_listing *what, const char *label, int64_t now_ms,
                  struct str *answer, int64_t *next, struct err *e) CHECK_RESULT;

/* "cancel", "hold", "release", "priority": one job or array. */
int on_slurm_act(const char *verb, const char *label, int64_t priority, struct err *e) CHECK_RESULT;

/* All jobs of a user that have not ended. */
int on_slurm_cancel_user(const char *user, struct err *e) CHECK_RESULT;

#endif
