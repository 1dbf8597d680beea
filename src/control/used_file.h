/* The file that used.h's lines are kept in: used.tsv in control's folder, the newest last. */
#ifndef BRIM_CONTROL_USED_FILE_H
#define BRIM_CONTROL_USED_FILE_H
#include "base/err.h"
#include "base/str.h"

enum { USED_FILE_MOST = 1 << 20 /* then the older half is forgotten */ };

/* Add lines. 0, or a negative errno with a sentence: what was there stays readable, whatever
 * happens, and the next lines begin a line of their own. */
int used_file_add(const char *folder, const struct str *lines, struct err *e) CHECK_RESULT;

#endif
