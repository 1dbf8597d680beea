/* The folder in which a job's processes make their rings of marks. */
#ifndef BRIM_RUN_RING_RING_FOLDER_H
#define BRIM_RUN_RING_RING_FOLDER_H
#include "base/str.h"
#include "base/err.h"

/* Make one that no one else may read, in the first of the bases that takes it (ends with NULL;
 * NULL entries in front of the end are not allowed): its path into out. What observers left
 * there that died is removed first. 0 or a negative errno with a sentence. */
int ring_folder_make(const char *const *bases, struct str *out, struct err *e) CHECK_RESULT;

/* Remove it with the rings in it. */
void ring_folder_remove(const char *path);

#endif
