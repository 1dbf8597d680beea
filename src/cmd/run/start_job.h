/* What the commands that start a job have in common. */
#ifndef BRIM_CMD_RUN_START_JOB_H
#define BRIM_CMD_RUN_START_JOB_H
#include <stdbool.h>

#include "base/err.h"
#include "cmd/run/card.h"
#include "run/profile/settings.h"

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

/* Become the job, without observing it. Only comes back when it cannot be executed, with the exit
 * status that a shell would tell, and a sentence. */
int job_step_aside(const struct profile_settings *job, struct err *e);

#endif
