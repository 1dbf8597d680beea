/* What an observer tells of its run while it goes on: a file beside the rings, in the folder that
 * only its owner (and root) may read. Who writes it holds a lock on it, so that a reader knows
 * whether the observer is still there, in whatever namespace that is. */
#ifndef BRIM_RUN_RING_LIVE_FILE_H
#define BRIM_RUN_RING_LIVE_FILE_H
#include <stddef.h>

#include "base/compiler.h"

#define LIVE_FILE_NAME "live.json"

/* Put text into the folder's file, whole or not at all. *fd: -1 at first; it holds the lock from
 * then on, and is closed by the caller when the run ends. 0 or a negative errno: what was there
 * before stays. */
int live_file_write(const char *folder, const char *text, size_t len, int *fd) CHECK_RESULT;

#endif
