/* The list of all commands, and the help made of it. */
#ifndef BRIM_CMD_TABLE_H
#define BRIM_CMD_TABLE_H
#include "cmd/common/cmd.h"

/* All commands, in the order in which help lists them; NULL behind the last. */
const struct cmd *cmd_at(size_t i);

/* The command of that name, or NULL. */
const struct cmd *cmd_find(const char *name);

/* ERR_USAGE, with a sentence that proposes the command whose name is nearest. */
int cmd_unknown(const char *name, struct err *e);

/* What a command does by that name, or NULL. */
const struct cmd_sub *cmd_sub_find(const struct cmd *c, const char *name);

/* ERR_USAGE, with a sentence that proposes the nearest. */
int cmd_sub_unknown(const struct cmd *c, const char *name, struct err *e);

enum { CMD_OPTIONS_MAX = 62 };

/* The options of one of them, whose help does not name it again. */
struct cmd_options {
    struct opt list[CMD_OPTIONS_MAX + 2];
};
void cmd_sub_options(const struct cmd *c, const struct cmd_sub *s, struct cmd_options *ret);

/* What one of them takes, with two examples. */
void cmd_sub_help(const struct cmd *c, const struct cmd_sub *s, struct str *out);

/* The list of all commands; what one command takes. */
void cmd_help_all(struct str *out);
void cmd_help(const struct cmd *c, struct str *out);

#endif
