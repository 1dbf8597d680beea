/* The rings of marks in the folder that BRIM_RING names: each is opened when it appears, read, and
 * made into a lane of steps. */
#ifndef BRIM_RUN_RINGS_H
#define BRIM_RUN_RINGS_H
#include <stdbool.h>
#include <sys/types.h>

#include "run/lane.h"

enum { RINGS_MAX = 256 };

struct rings;

/* The folder is borrowed. */
int rings_open(struct rings **ret, const char *folder, struct err *e) CHECK_RESULT;
void rings_close(struct rings *s);
DEFINE_CLEANUP(struct rings, rings_close)

/* Read what was marked since the last time. 0 or -ENOMEM. A file that is no ring is passed over;
 * the first such one, or one that was cut off while it was read, is told in e, once. */
int rings_read(struct rings *s, struct err *e) CHECK_RESULT;

size_t rings_count(const struct rings *s);
const struct lane *rings_lane(const struct rings *s, size_t i);

/* Marks that came too fast to be read. */
uint64_t rings_lost(const struct rings *s);

/* The processes of the rings, for family_ranks(). */
const pid_t *rings_pids(const struct rings *s);

#endif
