/* Which processes make the job: those that make steps, either all ranks of one world or one
 * process. */
#ifndef BRIM_OPTIMIZE_MEMBERS_H
#define BRIM_OPTIMIZE_MEMBERS_H
#include "base/clock.h"
#include "optimize/join.h"
#include "run/ring/rings.h"

_Static_assert((int)JOIN_RANKS >= (int)RINGS_MAX, "each ring is a rank");

/* Ranks that start later than that after the first do not come any more. */
#define MEMBERS_GATHER_NS (20 * NS_PER_S)

/* Processes that are started at once do not begin at once: one that is seen for the first time may
 * not be the only one, until rings were looked at again. */
#define MEMBERS_SETTLE_NS ((int64_t)90 * 1000 * 1000)

/* Steps until a process counts as one that trains. */
enum { MEMBERS_STEPS = 5 };

struct members {
    bool in[JOIN_RANKS];
    size_t n, world; /* world: of the ranks, as they tell it; 1 */
};

/* Those that go on making steps; fresh: only those that began after others had. */
void members_find(struct members *ret, const struct rings *rings, const struct join *j, bool fresh);

#endif
