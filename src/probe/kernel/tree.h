/* A tree of kernel files (/sys, /proc): this machine's, read below a directory descriptor, or a
 * recording's. Every probe reads through it, so that a recording can stand in for the machine.
 *
 * Paths are relative to the root, without a leading slash: "sys/class/net". */
#ifndef BRIM_PROBE_KERNEL_TREE_H
#define BRIM_PROBE_KERNEL_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum { TREE_PATH = 512, TREE_FILE_MAX = 64 << 10, TREE_LIST_MAX = 256 << 10 };

struct tree;

/* Open the files below a directory: "/" is this machine; any other is a copy of one, and no link in
 * it leads out of it. */
int tree_open_dir(struct tree **ret, const char *path, struct err *e) CHECK_RESULT;

/* Open a pack (probe/kernel/pack.h) that is in memory; text is borrowed until tree_close(), name is
 * for messages. */
int tree_open_pack(struct tree **ret, const char *name, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

void tree_close(struct tree *t);
DEFINE_CLEANUP(struct tree, tree_close)

/* True for the running machine itself: only then may a probe ask drivers and libraries. */
bool tree_is_live(const struct tree *t);

/* Read a file of at most size - 1 bytes into buf, NUL-terminated (a longer one is cut). Returns its
 * length, or -ENOENT, -EACCES ...; what is there but refused is counted, see tree_denied(). */
ssize_t tree_read(struct tree *t, const char *path, void *buf, size_t size) CHECK_RESULT;

/* Read a file of which only some pieces are wanted: those between separators that keep() accepts.
 * The others do not get into a recording either: they may be secrets. */
ssize_t tree_read_some(struct tree *t, const char *path, char separator,
                       bool (*keep)(const char *piece), char *buf, size_t size) CHECK_RESULT;

/* Read a one-line text, without its newline and the blanks at its end. Returns its length; buf is
 * "" on failure. */
int tree_line(struct tree *t, const char *path, char *buf, size_t size) CHECK_RESULT;

/* Read a decimal or 0x-number; ABSENT (-1) when there is none. */
long long tree_number(struct tree *t, const char *path);

/* The target of a symbolic link, relative to the root: "sys/devices/pci0000:00/0000:00:03.0". 0 or
 * a negative errno. */
int tree_link(struct tree *t, const char *path, char *buf, size_t size) CHECK_RESULT;

/* The entries of a directory, sorted, one per line, into out (emptied first). Returns their
 * count. */
int tree_list(struct tree *t, const char *path, struct str *out) CHECK_RESULT;

/* Whether a file or directory is there. A recording knows only of files and directories that were
 * read or asked for. */
bool tree_exists(struct tree *t, const char *path);

/* Write into out, as a pack, all that is read from here on; tree_record_end() completes it. */
void tree_record(struct tree *t, struct str *out);

/* Add to the recording, if there is one, a file that is not the kernel's: what a driver said. */
void tree_record_note(struct tree *t, const char *path, const char *text, size_t len);

/* 0, or -ENOMEM or -EFBIG when the recording did not fit. */
int tree_record_end(struct tree *t) CHECK_RESULT;

/* How many files were there but could not be read (EACCES, EPERM, EIO), and the first of them. */
unsigned tree_denied(const struct tree *t, const char **path, int *error);

#endif
