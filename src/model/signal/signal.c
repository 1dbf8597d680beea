#include "model/signal/signal.h"

#include <stdio.h>
#include <string.h>

/* Room for values comes in steps, since a row that is used again may change its set. */
enum { VALUES_STEP = 16 };

void tick_begin(struct tick *t, int64_t wall_ns, int64_t monotonic_ns)
{
    t->n_rows = 0;
    t->n_events = 0;
    t->wall_ns = wall_ns;
    t->monotonic_ns = monotonic_ns;
}

void tick_done(struct tick *t)
{
    arena_done(&t->arena);
    *t = (struct tick){ .n_rows = 0 };
}

/* Room for the values and facts of a set. What a row had before stays in the arena until its end:
 * rows change their sets when things come and go, which is seldom. */
static bool make_room(struct tick *t, struct signal_row *row, const struct signal_set *set)
{
    size_t room = (set->n_defs + VALUES_STEP - 1) / VALUES_STEP * VALUES_STEP;

    if (row->values_room < room) {
        double *values = arena_alloc(&t->arena, room * sizeof(*values));

        if (!values)
            return false;
        row->values = values;
        row->values_room = room;
    }
    if (set->facts && !row->facts)
        row->facts = arena_alloc(&t->arena, SIGNAL_FACTS * sizeof(*row->facts));
    return !set->facts || row->facts;
}

struct signal_row *tick_add(struct tick *t, const struct signal_set *set, const char *thing)
{
    struct signal_row *row;

    if (t->n_rows == t->n_room && !ARENA_PUSH(&t->arena, &t->rows, &t->n_room))
        return NULL;
    row = &t->rows[t->n_rows];
    if (!make_room(t, row, set))
        return NULL;
    row->set = set;
    snprintf(row->thing, sizeof(row->thing), "%s", thing);
    for (size_t i = 0; i < set->n_defs; i++)
        row->values[i] = (double)NAN;
    for (size_t i = 0; set->facts && i < SIGNAL_FACTS; i++)
        row->facts[i][0] = 0;
    t->n_rows++;
    return row;
}

/* Move row from up to place to, which is before it. */
static void move_up(struct tick *t, size_t from, size_t to)
{
    struct signal_row row = t->rows[from];

    memmove(&t->rows[to + 1], &t->rows[to], (from - to) * sizeof(row));
    t->rows[to] = row;
}

void tick_group(struct tick *t)
{
    for (size_t r = 1; r < t->n_rows; r++) {
        size_t last = r;

        if (t->rows[r].set == t->rows[r - 1].set)
            continue;
        while (last > 0 && t->rows[last - 1].set != t->rows[r].set)
            last--;
        if (last > 0)
            move_up(t, r, last);
    }
}

const struct signal_row *tick_find(const struct tick *t, const struct signal_set *set,
                                   const char *thing)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].set == set && !strcmp(t->rows[i].thing, thing))
            return &t->rows[i];
    return NULL;
}

const struct signal_row *tick_set(const struct tick *t, const char *name, size_t *n)
{
    size_t first = 0, end;

    while (first < t->n_rows && strcmp(t->rows[first].set->name, name) != 0)
        first++;
    for (end = first; end < t->n_rows && t->rows[end].set == t->rows[first].set; end++)
        ;
    *n = end - first;
    return *n ? &t->rows[first] : NULL;
}

void tick_fact(struct signal_row *row, size_t i, const char *text)
{
    snprintf(row->facts[i], sizeof(row->facts[i]), "%s", text);
}

const char *signal_fact(const struct signal_row *row, const char *name)
{
    for (size_t i = 0; row->set->facts && i < SIGNAL_FACTS && row->set->facts[i]; i++)
        if (!strcmp(row->set->facts[i], name))
            return row->facts[i];
    return "";
}

size_t signal_index(const struct signal_set *set, const char *name, const char *label)
{
    for (size_t i = 0; i < set->n_defs; i++) {
        const char *own = set->defs[i].label;

        if (!strcmp(set->defs[i].name, name) && !own == !label && (!own || !strcmp(own, label)))
            return i;
    }
    return set->n_defs;
}

struct event *tick_event(struct tick *t, const char *kind, enum severity severity, int code)
{
    struct event *event;

    if (t->n_events == EVENTS_MAX)
        return NULL;
    if (t->n_events == t->n_events_room && !ARENA_PUSH(&t->arena, &t->events, &t->n_events_room))
        return NULL;
    event = &t->events[t->n_events++];
    *event = (struct event){
        .wall_ns = t->wall_ns, .kind = kind, .severity = severity, .code = code
    };
    return event;
}
