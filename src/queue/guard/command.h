/* The command of a job, in the process that becomes it: its user, folder, files, CPUs and
 * environment. */
#ifndef BRIM_QUEUE_GUARD_COMMAND_H
#define BRIM_QUEUE_GUARD_COMMAND_H
#include "base/arena.h"
#include "queue/guard/guard.h"

struct queue_command {
    char **argv, **env;
    const struct str *order; /* borrowed */
    const char *cwd;
    const char *out, *err; /* files, with %j, %A and %a replaced; err NULL: where out goes */
    int umask;
    int output; /* a descriptor, where out is NULL */
};

/* Make it of the order. The order is borrowed. -EINVAL, -ENOMEM with a sentence. */
int queue_command_make(struct queue_command *ret, struct arena *a, const struct queue_guard *g,
                       const struct str *order, struct err *e) CHECK_RESULT;

/* Become it. Returns only on failure, a negative errno with a sentence; -ENOENT: there is no such
 * command. */
int queue_command_become(const struct queue_command *c, const struct queue_guard *g, struct err *e);

#endif
