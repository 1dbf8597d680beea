/* The things of a set that the store has in memory. */
#include <stdio.h>
#include <string.h>

#include "store/store_private.h"

enum { GROW = 16 };

/* A thing and its arrays are one block. */
static struct thing *thing_new(const char *name, size_t n)
{
    size_t doubles = n * (1 + ROLLS), counts = n * ROLLS;
    struct thing *t = calloc(1, sizeof(*t) + doubles * sizeof(double) + counts * sizeof(uint32_t));
    double *values;

    if (!t)
        return NULL;
    values = (double *)(t + 1);
    t->last = values;
    for (size_t k = 0; k < ROLLS; k++) {
        t->sums[k] = values + n * (1 + k);
        t->counts[k] = (uint32_t *)(values + doubles) + n * k;
    }
    snprintf(t->name, sizeof(t->name), "%s", name);
    t->stored_ms = t->skipped_ms = t->seen_ms = NEVER;
    return t;
}

struct thing *set_thing(struct set *set, const char *name, size_t hint)
{
    struct thing *t;

    if (hint < set->n_things && !strcmp(set->things[hint]->name, name))
        return set->things[hint];
    for (size_t i = 0; i < set->n_things; i++)
        if (!strcmp(set->things[i]->name, name))
            return set->things[i];
    if (set->n_things == set->things_room) {
        size_t room = set->things_room + GROW;
        struct thing **more = realloc(set->things, room * sizeof(struct thing *));

        if (!more)
            return NULL;
        set->things = more;
        set->things_room = room;
    }
    t = thing_new(name, set->set->n_defs);
    if (t)
        set->things[set->n_things++] = t;
    return t;
}

void set_drop_thing(struct set *set, size_t i)
{
    free(set->things[i]);
    memmove(&set->things[i], &set->things[i + 1], (set->n_things - i - 1) * sizeof(struct thing *));
    set->n_things--;
}
