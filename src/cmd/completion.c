/* brim completion: for shells, from the same tables that parse the command line. */
#include <string.h>

#include "cmd/completion/words.h"
#include "cmd/table.h"

static const struct opt no_opts[] = { { .kind = OPT_END } };

/* "plan train", "why": the options of one, and the words for its operands. */
static void bash_case(const struct cmd *c, const struct cmd_sub *s, struct str *out)
{
    const enum cmd_words words = s ? s->words : c->words;
    struct cmd_options all;

    cmd_sub_options(c, s, &all);
    str_addf(out, "        \"%s %s\"%s) words=\"", c->name, s ? s->name : "", s ? "" : "*");
    for (const struct cmd_sub *other = s ? NULL : c->subs; other && other->name; other++)
        str_addf(out, "%s ", other->name);
    opt_words(all.list, out);
    str_add_char(out, '"');
    if (completion_kind(words))
        str_addf(out, " kind=%s", completion_kind(words));
    str_add(out, " ;;\n");
}

/* The words for the value of an option, where there are some. */
static void bash_value(const struct cmd *c, const struct opt *o, struct str *out)
{
    const char *kind = completion_kind(completion_of_option(o));

    if (!kind && o->kind != OPT_CHOICE)
        return;
    str_addf(out, "        \"%s --%s\"", c->name, o->name);
    if (o->letter)
        str_addf(out, "|\"%s -%c\"", c->name, o->letter);
    str_addf(out, ") kind=%s words=\"", kind ? kind : "");
    for (size_t i = 0; o->kind == OPT_CHOICE && o->choices[i]; i++)
        str_addf(out, "%s%s", i ? " " : "", o->choices[i]);
    str_add(out, "\" ;;\n");
}

static void bash(struct str *out)
{
    str_add(out,
            "_brim() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
            "    local commands=\"");
    for (size_t i = 0; cmd_at(i); i++)
        str_addf(out, "%s%s", i ? " " : "", cmd_at(i)->name);
    str_add(out, "\" words kind=\n"
                 "    if [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    if [ \"$cur\" = = ]; then cur=; fi\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=$commands\n    else\n"
                 "        case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n"
                 "        \"help \"*|\"man \"*) words=$commands ;;\n"
                 "        \"completion \"*) words=\"bash zsh fish\" ;;\n");
    for (size_t i = 0; cmd_at(i); i++) {
        for (const struct cmd_sub *s = cmd_at(i)->subs; s && s->name; s++)
            bash_case(cmd_at(i), s, out);
        bash_case(cmd_at(i), NULL, out);
    }
    str_add(out, "        esac\n        case \"${COMP_WORDS[1]} $prev\" in\n");
    for (size_t i = 0; cmd_at(i); i++)
        for (const struct opt *o = cmd_at(i)->opts; o->kind != OPT_END; o++)
            bash_value(cmd_at(i), o, out);
    str_add(out, "        esac\n    fi\n"
                 "    if [ -n \"$kind\" ]; then\n"
                 "        words=\"$words $(brim completion words \"$kind\" 2>/dev/null)\"\n    fi\n"
                 "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                 "}\ncomplete -o default -F _brim brim\n");
}

static void zsh(struct str *out)
{
    str_add(out, "#compdef brim\nautoload -U +X bashcompinit && bashcompinit\n");
    bash(out);
}

/* A text between single quotes. */
static void fish_quote(struct str *out, const char *text)
{
    str_add_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            str_add(out, "\\'");
        else
            str_add_char(out, *text);
    str_add_char(out, '\'');
}

static void fish_words(const char *seen, enum cmd_words words, struct str *out)
{
    if (completion_kind(words))
        str_addf(out,
                 "complete -c brim -n '__fish_seen_subcommand_from %s' -a "
                 "'(brim completion words %s 2>/dev/null)'\n",
                 seen, completion_kind(words));
}

static void fish_option(const struct cmd *c, const struct opt *o, struct str *out)
{
    const char *kind = completion_kind(completion_of_option(o));

    str_addf(out, "complete -c brim -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
    if (o->letter)
        str_addf(out, " -s %c", o->letter);
    if (o->kind != OPT_FLAG && o->kind != OPT_OUTPUT && o->kind != OPT_MAYBE)
        str_add(out, " -r");
    if (kind)
        str_addf(out, " -a '(brim completion words %s 2>/dev/null)'", kind);
    if (o->kind == OPT_CHOICE) {
        str_add(out, " -a '");
        for (size_t i = 0; o->choices[i]; i++)
            str_addf(out, "%s%s", i ? " " : "", o->choices[i]);
        str_add_char(out, '\'');
    }
    str_add(out, " -d ");
    fish_quote(out, o->help);
    str_add_char(out, '\n');
}

static void fish(struct str *out)
{
    for (size_t i = 0; cmd_at(i); i++) {
        const struct cmd *c = cmd_at(i);

        str_addf(out, "complete -c brim -n __fish_use_subcommand -a %s -d ", c->name);
        fish_quote(out, c->summary);
        str_add_char(out, '\n');
        for (const struct cmd_sub *s = c->subs; s && s->name; s++) {
            str_addf(out, "complete -c brim -n '__fish_seen_subcommand_from %s' -a %s -d ", c->name,
                     s->name);
            fish_quote(out, s->summary);
            str_add_char(out, '\n');
            fish_words(s->name, s->words, out);
        }
        fish_words(c->name, c->words, out);
        for (const struct opt *o = c->opts; o->kind != OPT_END; o++)
            fish_option(c, o, out);
    }
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    static const struct {
        const char *name;
        void (*write)(struct str *out);
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
    static const char *const names[] = { "bash", "zsh", "fish", NULL };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);

    (void)app;
    (void)values;
    if (operands[0] && !strcmp(operands[0], "words")) {
        int rc = operands[1]
                     ? completion_words(operands[1], &out, e)
                     : err_usage(e, "say words of what: runs, profiles, policies, models or gpus");

        return rc < 0 ? rc : cmd_print(&out, NULL, e);
    }
    if (operands[0] && operands[1])
        return err_usage(e, "a shell stands alone, not with '%.100s'", operands[1]);
    for (size_t i = 0; operands[0] && i < ARRAY_SIZE(shells); i++)
        if (!strcmp(shells[i].name, operands[0])) {
            shells[i].write(&out);
            return cmd_print(&out, NULL, e);
        }
    if (operands[0])
        return opt_unknown("shell", operands[0], names, e);
    return err_usage(e, "needs the name of a shell: bash, zsh or fish");
}

const struct cmd cmd_completion = {
    .name = "completion",
    .args = "bash|zsh|fish | words KIND",
    .summary = "print shell completion: source <(brim completion bash)",
    .about = "The script asks brim for the names of runs, profiles, policies, models and GPUs that "
             "there "
             "are:\n"
             "  brim completion words policies",
    .opts = no_opts,
    .max_operands = 2,
    .run = run,
};
