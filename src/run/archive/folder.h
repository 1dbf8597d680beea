/* Names in a folder, where one that cannot be read to its end is not one that ends there. */
#ifndef BRIM_RUN_ARCHIVE_FOLDER_H
#define BRIM_RUN_ARCHIVE_FOLDER_H
#include <dirent.h>

#include "base/compiler.h"

/* The next name: 1; 0 at the end; -errno. *ret is valid until the next call. */
int folder_next(DIR *dir, const char **ret) CHECK_RESULT;

#endif
