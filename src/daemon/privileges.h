/* Give up what the agent does not need. */
#ifndef BRIM_DAEMON_PRIVILEGES_H
#define BRIM_DAEMON_PRIVILEGES_H
#include "base/err.h"

/* Keep, of what root may do, only what sampling needs (taskstats, /proc and the kernel's log of
 * others), for ever and for all that is started from here: no set-user-id program helps. A process
 * without privileges loses nothing. 0, or a negative errno with a sentence; a kernel that knows no
 * such thing is no error. */
int privileges_drop(struct err *e) CHECK_RESULT;

#endif
