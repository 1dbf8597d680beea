/* What gives a secret away: the name that stands before it, or how it begins. */
#ifndef BRIM_RUN_JOB_SECRET_WORDS_H
#define BRIM_RUN_JOB_SECRET_WORDS_H
#include <stdbool.h>
#include <stddef.h>

/* Whether a value of that name may be secret: --api-key, accessToken, PGPASSWORD, X-Auth; not
 * --max-tokens, and not --tokenizer. Names are split into words for this. */
bool secret_name(const char *name, size_t len);

/* Whether a word begins as keys of well-known services do, or as a JSON web token does. */
bool secret_key(const char *word, size_t len);

/* Whether an option is followed by USER:PASSWORD, as curl's -u is. */
bool secret_user_option(const char *name, size_t len);

#endif
