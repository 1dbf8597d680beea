/* Where a job goes: all of its devices or none. */
#ifndef BRIM_SCHED_PLACE_PLACE_H
#define BRIM_SCHED_PLACE_PLACE_H
#include "sched/place/free_capacity.h"

struct place_ops {
    const char *name;
    /* Find a place for a job; false, and nothing of use in f, when there is none. */
    bool (*find)(const struct free_capacity *r, const struct work *w, struct fit *f);
    bool scores; /* needs them (place_scored.h) */
    bool wiring; /* needs it (wiring.h) */
};

/* The placement of that name; NULL. Their names, NULL behind the last. */
const struct place_ops *place_named(const char *name);
const char *place_name_at(size_t i);

#endif
