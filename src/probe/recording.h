/* Recordings: a machine in a file. A recording is a directory with one file, machine.pack, that
 * holds the kernel files which the sources read (probe/kernel/pack.h) and what driver libraries
 * said. */
#ifndef BRIM_PROBE_RECORDING_H
#define BRIM_PROBE_RECORDING_H
#include "probe/source/source.h"

/* The name of the file in a recording's directory, and the largest that is read. */
#define RECORDING_FILE "machine.pack"
enum { RECORDING_MAX = 16 << 20 };

/* Load one machine.pack. text is room that can be used again for the next. */
int recording_load_pack(struct probe *p, const char *path, struct str *text, struct node **ret,
                        struct err *e) CHECK_RESULT;

/* Probe a copy of a machine's files: path has sys/ in it. */
int recording_load_tree(struct probe *p, const char *path, struct node **ret, struct err *e)
    CHECK_RESULT;

/* Probe this machine and record it into the directory (made if need be). The node is returned
 * too. */
int recording_make(struct probe *p, const char *dir, struct node **ret, struct err *e) CHECK_RESULT;

/* Probe this machine. */
int recording_live(struct probe *p, struct node **ret, struct err *e) CHECK_RESULT;

#endif
