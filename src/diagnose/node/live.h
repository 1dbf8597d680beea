/* What limits a node now: two ticks in, the live view out. Pure. */
#ifndef BRIM_DIAGNOSE_NODE_LIVE_H
#define BRIM_DIAGNOSE_NODE_LIVE_H
#include "model/verdict/live.h"

/* Fill the view from two ticks, the earlier one first; one without rows: nothing is known yet. What
 * was in the view is the past: loads and what the sentence says are averages over some 5 s, and the
 * bottleneck stays until another stage is clearly nearer its limit. Names are borrowed from now:
 * the view is good until now is begun anew. */
void live_update(struct live *l, const struct tick *before, const struct tick *now);

/* Sort the processes of the same two ticks by l->sort, which has changed; nothing else changes. */
void live_resort(struct live *l, const struct tick *before, const struct tick *now);

#endif
