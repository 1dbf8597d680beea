/* A job as it is handed to sbatch. The command is not put into a script: it goes behind one that is
 * always the same, as arguments, which Slurm keeps byte for byte. No shell ever reads it, and no
 * line of it is taken for an option ("#SBATCH"). Pure. */
#ifndef BRIM_SLURM_USER_ORDER_H
#define BRIM_SLURM_USER_ORDER_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { SLURM_ORDER_FD = 3 }; /* where sbatch finds the script */

/* What is asked for; a text that is NULL, and a number that is 0, was not said. */
struct slurm_order {
    const char *name, *folder; /* never NULL */
    const char *account, *qos;
    const char *array;          /* "0-9%2" */
    const char *after;          /* "afterok:12,afterany:7" */
    const char *output, *error; /* with %j, %A and %a as brim's queue has them; no backslash */
    int64_t devices, cpus;
    int64_t limit_s; /* Slurm counts minutes: it is rounded up */
    int64_t warn_s;  /* before the limit */
    int signal;      /* that is sent then */
    int64_t nice;    /* above 0: others go first */
    bool hold, requeue;
    bool watch; /* by srun --brim, which the plugin of plugins/slurm gives it */
    bool wait;  /* sbatch ends with the job, and with its status */
    bool test;  /* it only says when it would start */
};

/* The script: sets the variables of a job (BRIM_JOB ...) from Slurm's, and becomes the command. */
extern const char slurm_order_script[];

/* The arguments of sbatch, NULL behind them, in the arena; the command's are borrowed. NULL: out of
 * memory. */
const char *const *slurm_order_argv(const struct slurm_order *o, char *const *command,
                                    struct arena *a) CHECK_RESULT;

/* The environment that the job gets: that of this shell, without what tells of the job that it is
 * submitted from. NULL: out of memory. */
char *const *slurm_order_env(const struct slurm_order *o, char *const *env, struct arena *a)
    CHECK_RESULT;

/* What sbatch, scancel or scontrol wrote to stderr, without its name in front of each line, on one
 * line. errors: only those lines that tell of errors. */
void slurm_order_words(const char *said, bool errors, struct str *out);

/* Of what it wrote for a test: "would start at 2026-11-27T09:03:53, on n0 (partition batch)"; in
 * its own words where they are other ones. now_ms tells that Slurm means never. */
void slurm_order_forecast(const char *said, int64_t now_ms, struct str *out);

#endif
