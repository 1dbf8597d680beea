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

/* The list of all commands; what one command takes. */
void cmd_help_all(struct str *out);
void cmd_help(const struct cmd *c, struct str *out);

#endif
