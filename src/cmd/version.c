#include "cmd/common/cmd.h"
#include "commit.h"

static const struct opt opts[] = { { .kind = OPT_END } };

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(256);

    (void)app;
    (void)values;
    (void)operands;
    str_add(&out, "brim " BRIM_VERSION);
    if (*BRIM_COMMIT)
        str_add(&out, " (commit " BRIM_COMMIT ")");
    str_add_char(&out, '\n');
    return cmd_print(&out, NULL, e);
}

const struct cmd cmd_version = {
    .name = "version",
    .args = "",
    .summary = "print the version",
    .opts = opts,
    .run = run,
};
