/* The options of brim run, and what it does with them. */
#ifndef BRIM_CMD_RUN_OPTIONS_H
#define BRIM_CMD_RUN_OPTIONS_H
#include "cmd/common/cmd.h"
#include "cmd/common/meet_option.h"

struct run_opts {
    bool quiet, profile_anyway;
    const char *name, *json, *fake, *profile, *knobs;
    struct meet_option meet;
    int64_t interval_ns;
};

/* Run the command of operands under observation: its exit status, ERR_USAGE or a negative errno
 * with a sentence. */
int run_command(const struct app *app, const struct run_opts *o, char **operands, struct err *e)
    CHECK_RESULT;

#endif
