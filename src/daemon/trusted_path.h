/* Folders on a path that others may have a hand in. */
#ifndef BRIM_DAEMON_TRUSTED_PATH_H
#define BRIM_DAEMON_TRUSTED_PATH_H
#include "base/err.h"

/* Open a folder to read it. A link on the way is followed only if it is root's or our own: with
 * more rights than its owner we would be led to where he may not go. A descriptor, or a negative
 * errno with a sentence: -ELOOP for such a link. */
int trusted_path_open(const char *path, struct err *e) CHECK_RESULT;

#endif
