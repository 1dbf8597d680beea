/* The folder whose kernel files are read. */
#ifndef BRIM_PROBE_ROOT_H
#define BRIM_PROBE_ROOT_H
#include "base/err.h"

/* Open the folder of a copy of a machine's kernel files (--root), or (NULL) this machine's. One
 * with nothing in proc and sys is no such copy: -ENOENT. The descriptor, or a negative errno with
 * a sentence. */
int probe_root_open(const char *path, struct err *e) CHECK_RESULT;

#endif
