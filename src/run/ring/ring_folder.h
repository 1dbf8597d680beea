/* The folder in which a job's processes make their rings of marks. Its maker holds a lock on a file
 * in it for as long as it lives: containers may share the folder above it and not their numbers of
 * processes, so that no number tells who lives. */
#ifndef BRIM_RUN_RING_RING_FOLDER_H
#define BRIM_RUN_RING_RING_FOLDER_H
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct ring_folder {
    struct str path; /* empty: there is none */
    int lock;        /* -1 */
};

#define RING_FOLDER_INIT \
    { \
        .path = STR_INIT(4096), .lock = -1 \
    }

/* Rings of so many processes should find room in a folder. */
enum { RING_FOLDER_RINGS = 8, RING_FOLDER_ROOM_B = RING_FOLDER_RINGS * (2 << 20) };

/* Make one that no one else may read, in the first of the bases that takes it and has room (ends
 * with NULL); where none has room, in the one that has most. What observers left there that died is
 * removed first. 0 or a negative errno with a sentence; ring_folder_done() in any case. */
int ring_folder_make(const char *const *bases, struct ring_folder *out, struct err *e) CHECK_RESULT;

/* Whether not even one process can make its ring there, and why. */
bool ring_folder_lacks_room(const struct ring_folder *f, struct err *why);

/* Remove it with the rings in it, and give up the lock. */
void ring_folder_done(struct ring_folder *f);

/* The name that the first folder of a process has in one of the bases. 0, or a negative errno: it
 * is not there. */
int ring_folder_of(int pid, char *ret, size_t size) CHECK_RESULT;

/* Whether a name in one of the bases is such a folder's. */
bool ring_folder_is(const char *name);

#endif
