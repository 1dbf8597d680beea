/* Files with the token that agents ask for. */
#ifndef BRIM_CMD_COMMON_TOKEN_FILE_H
#define BRIM_CMD_COMMON_TOKEN_FILE_H
#include "base/err.h"
#include "base/str.h"

enum { TOKEN_FILE_MAX = 4096 };

/* Read the first word of a file. 0, or a negative errno with a sentence: -EINVAL for a file without
 * one. */
int token_file_read(const char *path, struct str *token, struct err *e) CHECK_RESULT;

#endif
