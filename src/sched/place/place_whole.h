/* Placement of gangs by free devices alone: all on one node if it fits there, else on whole nodes.
 */
#ifndef BRIM_SCHED_PLACE_PLACE_WHOLE_H
#define BRIM_SCHED_PLACE_PLACE_WHOLE_H
#include "sched/place/free_capacity.h"

/* On the fullest node that has room; on the first one. */
bool place_consolidated(const struct free_capacity *r, const struct work *w, struct fit *f);
bool place_first(const struct free_capacity *r, const struct work *w, struct fit *f);

/* Wherever devices are free, from the first node on. */
bool place_scattered(const struct free_capacity *r, const struct work *w, struct fit *f);

#endif
