#include "sched/place/place.h"

#include "sched/place/place_scored.h"
#include "sched/place/place_whole.h"
#include "sched/place/wiring.h"

#include <string.h>

static const struct place_ops places[] = {
    { "consolidate", place_consolidated, false, false },
    { "first", place_first, false, false },
    { "topology", place_topology, false, true },
    { "scatter", place_scattered, false, false },
    { "best-fit", place_best_fit, true, false },
    { "fgd", place_fgd, true, false },
    { "balance", place_balance, true, false },
};

const struct place_ops *place_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (!strcmp(places[i].name, name))
            return &places[i];
    return NULL;
}

const char *place_name_at(size_t i)
{
    return i < ARRAY_SIZE(places) ? places[i].name : NULL;
}
