#include "cmd/table.h"

#include <string.h>

enum { SUBS_MAX = 8 };

extern const struct cmd cmd_up, cmd_demo, cmd_top, cmd_machine, cmd_agent, cmd_bench, cmd_alerts,
    cmd_xid, cmd_health, cmd_run, cmd_optimize, cmd_runs, cmd_profile, cmd_why, cmd_report,
    cmd_plan, cmd_sim, cmd_cost, cmd_control, cmd_submit, cmd_jobs, cmd_cancel, cmd_hold,
    cmd_release, cmd_priority, cmd_queue, cmd_mcp, cmd_help_command, cmd_man, cmd_completion,
    cmd_version;

static const struct cmd *const cmds[] = {
    &cmd_up,       &cmd_demo,   &cmd_top,    &cmd_machine,      &cmd_bench,    &cmd_agent,
    &cmd_alerts,   &cmd_xid,    &cmd_health, &cmd_run,          &cmd_optimize, &cmd_runs,
    &cmd_profile,  &cmd_why,    &cmd_report, &cmd_plan,         &cmd_sim,      &cmd_cost,
    &cmd_control,  &cmd_submit, &cmd_jobs,   &cmd_cancel,       &cmd_hold,     &cmd_release,
    &cmd_priority, &cmd_queue,  &cmd_mcp,    &cmd_help_command, &cmd_man,      &cmd_completion,
    &cmd_version,
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

/* ---- what a command does ---- */

const struct cmd_sub *cmd_sub_find(const struct cmd *c, const char *name)
{
    for (const struct cmd_sub *s = c->subs; s && s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}

int cmd_sub_unknown(const struct cmd *c, const char *name, struct err *e)
{
    const char *names[SUBS_MAX + 1] = { NULL };

    if (!c->subs)
        return err_usage(e, "%s has no subcommand '%.100s': brim help %s", c->name, name, c->name);
    for (size_t i = 0; i < SUBS_MAX && c->subs[i].name; i++)
        names[i] = c->subs[i].name;
    return opt_unknown("subcommand", name, names, e);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a word stands in the first 'len' letters of a text. */
static bool has_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= len; i++)
        if (!memcmp(text + i, word, n) && (i == 0 || !is_letter(text[i - 1])) &&
            !is_letter(text[i + n]))
            return true;
    return false;
}

/* How long the part of an option's help is that names what it is for, "train: "; 0: it is for all.
 * *mine: s is named. */
static size_t names_len(const struct cmd *c, const struct cmd_sub *s, const char *help, bool *mine)
{
    const char *colon = strstr(help, ": ");
    size_t len = colon ? (size_t)(colon - help) : 0;
    bool any = false, with = !strncmp(help, "with ", strlen("with "));

    for (const struct cmd_sub *other = c->subs; other->name; other++)
        any = any || has_word(help, with ? len : MIN(len, strlen(other->name)), other->name);
    *mine = !any || has_word(help, len, s->name);
    return any ? len + 2 : 0;
}

/* --help, which main() sees to for every command, so that all are aligned. */
static const struct opt help_option = { OPT_FLAG, 'h', "help", 0, NULL, "this text" };

void cmd_sub_options(const struct cmd *c, const struct cmd_sub *s, struct cmd_options *ret)
{
    size_t n = 0;

    for (const struct opt *o = c->opts; o->kind != OPT_END && n < CMD_OPTIONS_MAX; o++) {
        bool mine = true;
        size_t skip = s ? names_len(c, s, o->help, &mine) : 0;

        if (!mine)
            continue;
        ret->list[n] = *o;
        ret->list[n++].help += skip;
    }
    ret->list[n++] = help_option;
    ret->list[n] = (struct opt){ .kind = OPT_END };
}

static void add_options(const struct cmd *c, const struct cmd_sub *s, struct str *out)
{
    struct cmd_options all;

    cmd_sub_options(c, s, &all);
    str_add(out, "\noptions:\n");
    opt_help(all.list, out);
}

void cmd_sub_help(const struct cmd *c, const struct cmd_sub *s, struct str *out)
{
    str_addf(out, "usage: brim %s %s [OPTIONS]%s%s\n\n%s\n", c->name, s->name, *s->args ? " " : "",
             s->args, s->summary);
    str_add(out, "\nexamples:\n");
    for (size_t i = 0; i < ARRAY_SIZE(s->examples); i++)
        str_addf(out, "  brim %s\n", s->examples[i]);
    add_options(c, s, out);
}

void cmd_help(const struct cmd *c, struct str *out)
{
    str_addf(out, "usage: brim %s [OPTIONS]%s%s\n\n%s\n", c->name, *c->args ? " " : "", c->args,
             c->about ? c->about : c->summary);
    if (c->subs)
        str_add(out, "\nsubcommands:\n");
    for (const struct cmd_sub *s = c->subs; s && s->name; s++)
        str_addf(out, "  %-11s %s\n", s->name, s->summary);
    if (c->subs)
        str_addf(out, "'brim help %s %s' says what one takes, with examples.\n", c->name,
                 c->subs->name);
    add_options(c, NULL, out);
}
