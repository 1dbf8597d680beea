/* A kernel file that stays open and is read anew with pread(): reading /proc costs a third of
 * opening it. */
#ifndef BRIM_PROBE_KERNEL_KEPT_FILE_H
#define BRIM_PROBE_KERNEL_KEPT_FILE_H
#include <stddef.h>

#include "base/compiler.h"

/* fd is -1 when it is not there, and reading it then is -ENOENT. */
struct kept {
    int fd;
};

/* Open root/path ("proc/stat") below a directory descriptor; a file that is not there is no
 * error. */
void kept_open(struct kept *k, int root, const char *path);
void kept_close(struct kept *k);

/* Read it from its start: a length, NUL-terminated in buf; or a negative errno. Of a text that is
 * longer than size - 1 only whole lines are kept, so that no number is cut in two. */
int kept_read(const struct kept *k, char *buf, size_t size) CHECK_RESULT;

#endif
