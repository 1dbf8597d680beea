/* What must not be kept: passwords and keys in command lines and variables. */
#ifndef BRIM_RUN_JOB_SECRET_H
#define BRIM_RUN_JOB_SECRET_H
#include <stdbool.h>

#include "base/str.h"

/* Whether a variable may hold a secret, by its name: KEY, TOKEN, SECRET, PASS, CREDENTIAL in
 * it. */
bool secret_variable(const char *name);

/* Add a command as one line that a shell takes, values that look like secrets written as ***:
 * those of options and variables with such a word in their name (--api-key X, WANDB_API_KEY=X),
 * passwords in URLs, and words that start as keys of well-known services do. */
void secret_add_command(struct str *out, char *const *argv);

#endif
