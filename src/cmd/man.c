/* brim man: the manual page, from the same tables that parse the command line. */
#include "cmd/table.h"

static const struct opt no_opts[] = { { .kind = OPT_END } };

/* Text for roff: a line that starts with a dot or a quote would be a request. */
static void add_roff(struct str *out, const char *text)
{
    bool start = true;

    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            str_add(out, "\\&");
        if (*text == '\\')
            str_add(out, "\\e");
        else if (*text == '-')
            str_add(out, "\\-");
        else
            str_add_char(out, *text);
        start = *text == '\n';
    }
}

static void man_command(const struct cmd *c, struct str *out)
{
    str_addf(out, ".SS brim %s", c->name);
    str_addf(out, " %s%s\n", c->opts->kind == OPT_END ? "" : "[OPTIONS] ", c->args);
    add_roff(out, c->about ? c->about : c->summary);
    str_add_char(out, '\n');
    opt_man(c->opts, out);
}

static void add_end(struct str *out)
{
    str_add(out, ".SH EXIT STATUS\n.TP\n0\nall went well\n.TP\n1\n"
                 "something failed, or could not be found out: standard error says what\n"
                 ".TP\n2\nwrong usage\n.SH FILES\n.TP\n.I /etc/brim/brim.conf, "
                 "~/.config/brim/brim.conf\n"
                 "options that are always wanted: a section for each command, long options as "
                 "keys\n");
}

static void man_all(struct str *out)
{
    str_add(out, ".TH BRIM 1 \"\" \"brim " BRIM_VERSION "\" \"User Commands\"\n"
                 ".SH NAME\nbrim \\- find what keeps accelerators waiting\n"
                 ".SH SYNOPSIS\n.B brim\nCOMMAND [OPTIONS]\n.SH COMMANDS\n");
    for (size_t i = 0; cmd_at(i); i++)
        man_command(cmd_at(i), out);
    add_end(out);
}

static void man_one(const struct cmd *c, struct str *out)
{
    str_addf(out,
             ".TH BRIM-%s 1 \"\" \"brim " BRIM_VERSION "\" \"User Commands\"\n"
             ".SH NAME\nbrim\\-%s \\- %s\n.SH DESCRIPTION\n",
             c->name, c->name, c->summary);
    man_command(c, out);
    add_end(out);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    const struct cmd *c = operands[0] ? cmd_find(operands[0]) : NULL;

    (void)app;
    (void)values;
    if (operands[0] && !c)
        return cmd_unknown(operands[0], e);
    if (c)
        man_one(c, &out);
    else
        man_all(&out);
    return cmd_print(&out, NULL, e);
}

const struct cmd cmd_man = {
    .name = "man",
    .args = "[COMMAND]",
    .summary = "print the manual page, or that of a command: brim man run | man -l -",
    .opts = no_opts,
    .max_operands = 1,
    .run = run,
};
