/* What must not be kept: passwords and keys in command lines and variables. */
#ifndef BRIM_RUN_JOB_SECRET_H
#define BRIM_RUN_JOB_SECRET_H
#include <stdbool.h>

#include "base/str.h"

/* Whether a variable may hold a secret, by its name: KEY, TOKEN, SECRET, PASS, CREDENTIAL, AUTH,
 * COOKIE, JWT in it. */
bool secret_variable(const char *name);

/* Add a command as one line that a shell takes, values that look like secrets written as ***:
 * those of options, variables, headers and JSON keys with such a word in their name (--api-key X,
 * WANDB_API_KEY=X, Authorization: Bearer X, {"token": "X"}), passwords in URLs and behind curl's
 * -u, private keys, and words that start as keys of well-known services do. */
void secret_add_command(struct str *out, char *const *argv);

/* Add a text of any kind, with the same left out. */
void secret_add_text(struct str *out, const char *text);

#endif
