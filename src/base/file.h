/* Whole files, and names in folders. */
#ifndef BRIM_BASE_FILE_H
#define BRIM_BASE_FILE_H
#include <dirent.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* Read a file into out (emptied first; its ceiling is the largest file allowed). 0, or a negative
 * errno with "PATH: why"; an empty name is wrong usage: no file has it. */
int file_read(const char *path, struct str *out, struct err *e) CHECK_RESULT;

/* The same for a file in a folder that others may write to: one that is not a regular file, or is a
 * link, is refused (-EINVAL, -ELOOP), and a pipe is not waited for. */
int file_read_regular(const char *path, struct str *out, struct err *e) CHECK_RESULT;

/* As file_read(), where "-" is standard input; and its name for messages. */
int file_read_input(const char *path, struct str *out, struct err *e) CHECK_RESULT;
const char *file_input_name(const char *path);

/* The next name in a folder: 1; 0 at the end; -errno: one that cannot be read to its end does not
 * end there. *ret is valid until the next call. */
int folder_next(DIR *dir, const char **ret) CHECK_RESULT;

/* Write a file so that it is there whole or not at all: beside itself, flushed to the disk, then
 * renamed. A link leads to the file that is written; devices and pipes are written to as they
 * are, and a pipe that nobody reads is not waited for (-ENXIO). 0, or a negative errno with "PATH:
 * why"; nothing is left behind then. */
int file_write(const char *path, const char *data, size_t len, struct err *e) CHECK_RESULT;

/* Make the file that is written before it takes that name (of a folder, AT_FDCWD for a path): under
 * a name that nobody else has, NAME.XXXXXXXX.new: not another process, also one of our number in
 * another container, nor a link that somebody has put there. It is locked (flock) while its writer
 * lives: those of the same name that nobody locks are what killed processes left, and go. Its
 * descriptor, for reading and writing, which holds the lock: to be closed after the draft was
 * renamed; and the draft's name; or a negative errno. */
int file_draft(int dir, const char *name, mode_t mode, char *draft, size_t size) CHECK_RESULT;

/* Remove the drafts in a folder of brim's own that are left over, of any name. */
void file_sweep(const char *folder);

#endif
