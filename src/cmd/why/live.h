/* brim why --live: what limits a job that runs. */
#ifndef BRIM_CMD_WHY_LIVE_H
#define BRIM_CMD_WHY_LIVE_H
#include "cmd/common/cmd.h"

struct why_live_opts {
    const char *json; /* where it goes, as cmd_print() has it; NULL: text */
    int pid;
    int64_t for_ns;   /* how long to watch what 'brim run' did not start */
    const char *with; /* the run to compare with; NULL */
};

/* Judge and print. An exit status, or a negative errno with a sentence. */
int why_live(const struct app *app, const struct why_live_opts *o, struct err *e) CHECK_RESULT;

#endif
