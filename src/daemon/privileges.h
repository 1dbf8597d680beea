/* Give up what the agent does not need. */
#ifndef BRIM_DAEMON_PRIVILEGES_H
#define BRIM_DAEMON_PRIVILEGES_H
#include "base/err.h"

/* Make the folder of a file that the account is to write, where it is not there yet, and give it to
 * the account. 0, or a negative errno with a sentence. As root, before privileges_drop(). */
int privileges_give_folder(const char *file, const char *account, struct err *e) CHECK_RESULT;

/* Become the account (NULL: stay who we are), and keep, of what root may do, only what sampling
 * needs (taskstats, /proc and the kernel's log of others), for ever and for all that is started
 * from here: no set-user-id program helps. A process without privileges loses nothing. 0, or a
 * negative errno with a sentence; a kernel that knows no such thing is no error. */
int privileges_drop(const char *account, struct err *e) CHECK_RESULT;

#endif
