/* The lock of a queue's folder: who has it is its engine. */
#ifndef BRIM_QUEUE_LOCK_H
#define BRIM_QUEUE_LOCK_H
#include "base/err.h"

/* Take it, in a folder that is this user's with all that is in it. Nobody else may open its file,
 * so that nobody else can hold it. A descriptor, -EBUSY when another engine has it, -EPERM when the
 * folder is another user's, or another negative errno; with a sentence. */
int queue_lock_take(int dir, const char *folder, struct err *e) CHECK_RESULT;

#endif
