/* Slurm's commands: run without a shell, and what they print. */
#ifndef BRIM_SLURM_COMMANDS_H
#define BRIM_SLURM_COMMANDS_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/site/deed.h"
#include "model/site/site.h"

/* Run argv, the output into out (emptied first). Its exit status, or a negative errno with a
 * sentence; said (of that size) is the last line that it wrote to stderr. It ends with the process
 * that calls this, which has no time limit of its own. */
int slurm_command(const char *const *argv, struct str *out, char *said, size_t size, struct err *e)
    CHECK_RESULT;

/* Add the nodes, or jobs, that a command printed as JSON: of data_parser-less 22.05, and of later
 * releases, in which numbers are objects and states lists. Texts are in s->arena. 0, -EINVAL with a
 * sentence, -ENOMEM; -ENODATA when there is no list of nodes. Nodes before jobs. */
int slurm_json_nodes(struct site *s, const char *text, size_t len, struct err *e) CHECK_RESULT;
int slurm_json_jobs(struct site *s, const char *text, size_t len, struct err *e) CHECK_RESULT;

/* What to run for a deed: arguments with NULL behind them, in the arena; NULL: out of memory. */
const char *const *slurm_command_of(const struct site_deed *d, struct arena *a);

#endif
