/* Names of users by what /etc/passwd says: asking a name service may take long. */
#ifndef BRIM_RUN_WATCH_ACCOUNTS_H
#define BRIM_RUN_WATCH_ACCOUNTS_H
#include "model/verdict/live_run.h"

enum { ACCOUNTS_MAX = 1 << 20 };

/* The text of /etc/passwd, of ACCOUNTS_MAX at most; without it users are numbers. */
void accounts_read(struct str *out);

/* The name of the account with that number. An account of a directory service has no line there:
 * what name says, which may be anything, is shown with its number, unless it is the name of
 * somebody else. */
void accounts_name(const char *accounts, int64_t uid, char name[LIVE_RUN_NAME]);

#endif
