/* The names in a folder of the kernel's, for whoever must not take half of them for all. */
#ifndef BRIM_PROBE_KERNEL_LISTING_H
#define BRIM_PROBE_KERNEL_LISTING_H
#include <dirent.h>

#include "base/compiler.h"

/* Open a folder below root; flags: O_NOFOLLOW, or 0. 0, and *ret is NULL when there is none, or
 * none that we may read; -errno (no descriptor, no memory, a disk that fails): that cannot be told.
 * */
int listing_open(int root, const char *path, int flags, DIR **ret) CHECK_RESULT;

/* The next name that does not begin with a dot, as folder_next() (base/file.h) has it: 1, 0 at the
 * end, or -errno. A folder that was removed meanwhile has no more names: 0. */
int listing_next(DIR *dir, const struct dirent **ret) CHECK_RESULT;

#endif
