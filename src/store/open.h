/* The file: its folder, its lock, its settings, and what happens to one that cannot be used. */
#ifndef BRIM_STORE_OPEN_H
#define BRIM_STORE_OPEN_H
#include "store/store_private.h"

/* Make the folders above a file (0755). */
int open_folder(const char *path, struct err *e) CHECK_RESULT;

/* Lock PATH-lock until the descriptor is closed: one agent per file. Returns it. */
int open_lock(const char *path, struct err *e) CHECK_RESULT;

/* Open s->path into s->db, prepared and of the current version. A file that is damaged, no database
 * or of a later version is moved aside first, which s->note tells. */
int open_file(struct store *s, int64_t wall_ns, struct err *e) CHECK_RESULT;

/* Close s->db and all that hangs off it. */
void open_undo(struct store *s);

/* Rename the file, and its log, to PATH.WHY-SECONDS. */
int open_aside(struct store *s, const char *why, int64_t wall_ns, struct err *e) CHECK_RESULT;

/* The settings of every connection. */
int open_settings(sqlite3 *db);

enum { STORE_APPLICATION = 0x6272696d }; /* "brim" */

#endif
