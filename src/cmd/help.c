
#include "cmd/table.h"

static const struct opt opts[] = { { .kind = OPT_END } };

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    const struct cmd *c = operands[0] ? cmd_find(operands[0]) : NULL;
    const struct cmd_sub *s = c && operands[1] ? cmd_sub_find(c, operands[1]) : NULL;

    (void)app;
    (void)values;
    if (operands[0] && !c)
        return cmd_unknown(operands[0], e);
    if (c && operands[1] && !s)
        return cmd_sub_unknown(c, operands[1], e);
    if (s)
        cmd_sub_help(c, s, &out);
    else if (c)
        cmd_help(c, &out);
    else
        cmd_help_all(&out);
    return cmd_print(&out, NULL, e);
}

const struct cmd cmd_help_command = {
    .name = "help",
    .args = "[COMMAND [SUBCOMMAND]]",
    .summary = "list the commands, or say what one takes",
    .opts = opts,
    .max_operands = 2,
    .run = run,
};
