/* Files of text that may be compressed: told by their first bytes, whatever they are called. */
#ifndef BRIM_TRACE_UNPACK_H
#define BRIM_TRACE_UNPACK_H
#include "base/err.h"
#include "base/str.h"

/* Read a file, or "-" for standard input, into out (emptied first), unpacked where it is gzip. Its
 * ceiling is the largest text allowed, packed or not: an archive that holds more is refused. A
 * negative errno with a sentence that names the file and how it is piped into the command;
 * -EINVAL where the archive is broken, or one that only another program reads. */
int unpack_read(const char *path, const char *command, struct str *out, struct err *e) CHECK_RESULT;

#endif
