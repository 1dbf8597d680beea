/* What the commands that start a job have in common. */
#ifndef BRIM_CMD_JOB_H
#define BRIM_CMD_JOB_H
#include <stdbool.h>

#include "base/err.h"
#include "cmd/run_card.h"

/* Whose sentences they are: "brim run". */
struct job_talk {
    const char *command;
    bool quiet;
};

/* A line on stderr, without the control characters that a hostile name may bring. arg: a struct
 * job_talk. */
void job_tell(void *arg, const char *sentence);

/* How a card looks on stderr. */
struct run_card_look job_look(void);

/* Become the job, without observing it. Returns the exit status when that cannot be, with a
 * sentence. */
int job_step_aside(char **argv, struct err *e);

#endif
