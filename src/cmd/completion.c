/* brim completion: for shells, from the same tables that parse the command line. */
#include <string.h>

#include "cmd/table.h"

static const struct opt no_opts[] = { { .kind = OPT_END } };

static void bash(struct str *out)
{
    str_add(out, "_brim() {\n    local cur=${COMP_WORDS[COMP_CWORD]} words\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"");
    for (size_t i = 0; cmd_at(i); i++)
        str_addf(out, "%s%s", i ? " " : "", cmd_at(i)->name);
    str_add(out, "\"\n    else\n        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cmd_at(i); i++) {
        str_addf(out, "        %s) words=\"", cmd_at(i)->name);
        opt_words(cmd_at(i)->opts, out);
        str_add(out, " -h --help\" ;;\n");
    }
    str_add(out, "        esac\n    fi\n"
                 "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                 "}\ncomplete -o default -F _brim brim\n");
}

static void zsh(struct str *out)
{
    str_add(out, "#compdef brim\nautoload -U +X bashcompinit && bashcompinit\n");
    bash(out);
}

static void fish(struct str *out)
{
    for (size_t i = 0; cmd_at(i); i++) {
        const struct cmd *c = cmd_at(i);

        str_addf(out, "complete -c brim -n __fish_use_subcommand -a %s -d '%s'\n", c->name,
                 c->summary);
        for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
            str_addf(out, "complete -c brim -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                     o->name);
            if (o->letter)
                str_addf(out, " -s %c", o->letter);
            str_addf(out, "%s -d '%s'\n", o->kind == OPT_FLAG || o->kind == OPT_OUTPUT ? "" : " -r",
                     o->help);
        }
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
    .args = "bash|zsh|fish",
    .summary = "print shell completion: source <(brim completion bash)",
    .opts = no_opts,
    .max_operands = 1,
    .run = run,
};
