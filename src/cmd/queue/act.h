/* What brim cancel, hold, release and priority have in common: each asks the queue's engine to do
 * one thing to some jobs. */
#ifndef BRIM_CMD_QUEUE_ACT_H
#define BRIM_CMD_QUEUE_ACT_H
#include "cmd/common/cmd.h"

enum { ACT_JOBS = 1000 }; /* that one command may name */

struct act_opts {
    const char *directory; /* the queue's folder; NULL: the usual one */
    const char *engine;    /* NULL: the usual one */
};

extern const struct opt act_opts[];
extern const struct act_opts act_defaults;

/* Ask for verb ("cancel", "hold" ...) on each job that is named, whatever becomes of the others;
 * the list ends with NULL. priority is for the verb of that name, else NULL. The error is that of
 * the last job that failed; those before it have been printed. */
int act_on_jobs(const struct act_opts *o, const char *verb, const char *priority, char **jobs,
                struct err *e) CHECK_RESULT;

#endif
