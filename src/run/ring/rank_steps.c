#include "run/ring/rank_steps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void rank_steps_init(struct rank_steps *l)
{
    *l = (struct rank_steps){ .rank = -1, .local_rank = -1, .world = -1, .pid = -1 };
    l->total.samples = l->total.loss = (double)NAN;
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        l->total.device_s[i] = (double)NAN;
}

void rank_steps_done(struct rank_steps *l)
{
    free(l->steps);
    free(l->notes);
    l->steps = NULL;
    l->notes = NULL;
}

size_t rank_steps_slot(uint64_t n)
{
    return n < LANE_FIRST ? (size_t)n : LANE_FIRST + (size_t)((n - LANE_FIRST) % LANE_LAST);
}

static void add_told(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

void rank_steps_sum(struct step *total, const struct step *s)
{
    if (total->number == 0)
        total->begin_ns = s->begin_ns;
    total->end_ns = s->end_ns;
    total->number++;
    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        total->host_s[i] += s->host_s[i];
        add_told(&total->device_s[i], s->device_s[i]);
    }
    add_told(&total->samples, s->samples);
    if (!isnan(s->loss))
        total->loss = s->loss;
    total->backwards += s->backwards;
    total->collective_s += s->collective_s;
    total->collective_b += s->collective_b;
    total->collectives += s->collectives;
}

int rank_steps_step(struct rank_steps *l, const struct step *s)
{
    size_t slot = rank_steps_slot(l->count);

    rank_steps_sum(&l->total, s);
    if (slot >= l->room) {
        size_t room = l->room ? 2 * l->room : 256;
        struct step *more;

        room = MIN(room, (size_t)LANE_FIRST + LANE_LAST);
        more = realloc(l->steps, room * sizeof(*more));
        if (!more)
            return -ENOMEM;
        l->steps = more;
        l->room = room;
    }
    l->steps[slot] = *s;
    l->count++;
    return 0;
}

int rank_steps_note(struct rank_steps *l, const char *name, const char *value)
{
    struct rank_steps_note *note = NULL;

    for (size_t i = 0; i < l->n_notes && !note; i++)
        if (!strncmp(l->notes[i].name, name, sizeof(note->name) - 1))
            note = &l->notes[i];
    if (!note && l->n_notes == LANE_NOTES)
        return 0;
    if (!note && l->n_notes == l->notes_room) {
        size_t room = l->notes_room ? 2 * l->notes_room : 16;

        note = realloc(l->notes, room * sizeof(*note));
        if (!note)
            return -ENOMEM;
        l->notes = note;
        l->notes_room = room;
        note = NULL;
    }
    if (!note)
        note = &l->notes[l->n_notes++];
    snprintf(note->name, sizeof(note->name), "%s", name);
    snprintf(note->value, sizeof(note->value), "%s", value);
    return 0;
}

size_t rank_steps_kept(const struct rank_steps *l)
{
    return (size_t)MIN(l->count, (uint64_t)LANE_FIRST + LANE_LAST);
}

const struct step *rank_steps_at(const struct rank_steps *l, size_t i)
{
    uint64_t n = i;

    if (i >= LANE_FIRST && l->count > LANE_FIRST + LANE_LAST)
        n = l->count - LANE_LAST + (i - LANE_FIRST);
    return &l->steps[rank_steps_slot(n)];
}

static int copy_notes(const struct rank_steps *l, struct run *r, struct run_rank *rank)
{
    for (size_t i = 0; i < l->n_notes; i++) {
        struct run_note *note = ARENA_PUSH(&r->arena, &rank->notes, &rank->n_notes);

        if (!note)
            return -ENOMEM;
        note->name = arena_strdup(&r->arena, l->notes[i].name);
        note->value = arena_strdup(&r->arena, l->notes[i].value);
        if (!note->name || !note->value)
            return -ENOMEM;
    }
    return 0;
}

/* A rank with room for n steps and all but these; NULL when out of memory. */
static struct run_rank *add_rank(const struct rank_steps *l, struct run *r, size_t n)
{
    struct run_rank *rank = ARENA_PUSH(&r->arena, &r->ranks, &r->n_ranks);

    if (!rank)
        return NULL;
    *rank = (struct run_rank){
        .rank = l->rank, .local_rank = l->local_rank, .world = l->world, .pid = l->pid
    };
    rank->host = arena_strdup(&r->arena, l->host);
    rank->framework = arena_strdup(&r->arena, l->framework);
    rank->steps = n ? arena_alloc(&r->arena, n * sizeof(*rank->steps)) : NULL;
    if (!rank->host || !rank->framework || (n && !rank->steps))
        return NULL;
    rank->n_steps = rank->steps_room = n;
    return copy_notes(l, r, rank) == 0 ? rank : NULL;
}

int rank_steps_to_run(const struct rank_steps *l, struct run *r)
{
    size_t n = rank_steps_kept(l);
    struct run_rank *rank = add_rank(l, r, n);

    if (!rank)
        return -ENOMEM;
    rank->total = l->total;
    rank->dropped = l->total.number - n;
    for (size_t i = 0; rank->steps && i < n; i++)
        rank->steps[i] = *rank_steps_at(l, i);
    return 0;
}

int rank_steps_part_to_run(const struct rank_steps *l, struct run *r, int64_t since_ns, size_t most)
{
    struct rank_steps empty;
    struct run_rank *rank;
    size_t end = rank_steps_kept(l), n = 0;

    while (n < end && n < most && rank_steps_at(l, end - n - 1)->begin_ns >= since_ns)
        n++;
    if (!n)
        return 0;
    rank = add_rank(l, r, n);
    if (!rank)
        return -ENOMEM;
    rank_steps_init(&empty);
    rank->total = empty.total;
    for (size_t i = 0; rank->steps && i < n; i++) {
        rank->steps[i] = *rank_steps_at(l, end - n + i);
        rank_steps_sum(&rank->total, &rank->steps[i]);
    }
    return 0;
}
