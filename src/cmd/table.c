#include "cmd/table.h"

#include <string.h>

enum { OPTIONS_MAX = 62 };

extern const struct cmd cmd_up, cmd_top, cmd_machine, cmd_agent, cmd_bench, cmd_alerts, cmd_xid,
    cmd_run, cmd_optimize, cmd_runs, cmd_profile, cmd_why, cmd_report, cmd_plan, cmd_sim, cmd_cost,
    cmd_submit, cmd_jobs, cmd_cancel, cmd_hold, cmd_release, cmd_priority, cmd_queue,
    cmd_help_command, cmd_man, cmd_completion, cmd_version;

static const struct cmd *const cmds[] = {
    &cmd_up,     &cmd_top,        &cmd_machine,  &cmd_bench,    &cmd_agent,   &cmd_alerts,
    &cmd_xid,    &cmd_run,        &cmd_optimize, &cmd_runs,     &cmd_profile, &cmd_why,
    &cmd_report, &cmd_plan,       &cmd_sim,      &cmd_cost,     &cmd_submit,  &cmd_jobs,
    &cmd_cancel, &cmd_hold,       &cmd_release,  &cmd_priority, &cmd_queue,   &cmd_help_command,
    &cmd_man,    &cmd_completion, &cmd_version,
};

const struct cmd *cmd_at(size_t i)
{
    return i < ARRAY_SIZE(cmds) ? cmds[i] : NULL;
}

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(cmds); i++)
        if (!strcmp(cmds[i]->name, name))
            return cmds[i];
    return NULL;
}

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return cmds[i]->name;
}

int cmd_unknown(const char *name, struct err *e)
{
    const char *near = opt_nearest(name, ARRAY_SIZE(cmds), name_at, NULL);

    return err_usage(e, "no command '%.100s' (%s%s%s)", name,
                     near ? "did you mean '" : "'brim help' lists them", near ? near : "",
                     near ? "'?" : "");
}

void cmd_help_all(struct str *out)
{
    str_add(out, "brim " BRIM_VERSION ": finds what keeps accelerators waiting\n\n"
                 "usage: brim COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < ARRAY_SIZE(cmds); i++)
        str_addf(out, "  %-11s %s\n", cmds[i]->name, cmds[i]->summary);
    str_add(out, "\n'brim COMMAND --help' says what a command takes.\n");
}

/* The options with --help, which main() sees to for every command, so that all are aligned. */
static void add_options(const struct cmd *c, struct str *out)
{
    struct opt all[OPTIONS_MAX + 2] = { { .kind = OPT_END } };
    size_t n = 0;

    for (; c->opts[n].kind != OPT_END && n < OPTIONS_MAX; n++)
        all[n] = c->opts[n];
    all[n] = (struct opt){ OPT_FLAG, 'h', "help", 0, NULL, "this text" };
    all[n + 1] = (struct opt){ .kind = OPT_END };
    opt_help(all, out);
}

void cmd_help(const struct cmd *c, struct str *out)
{
    str_addf(out, "usage: brim %s [OPTIONS]%s%s\n\n%s\n", c->name, *c->args ? " " : "", c->args,
             c->about ? c->about : c->summary);
    str_add(out, "\noptions:\n");
    add_options(c, out);
}
