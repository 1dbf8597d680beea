#include "run/meet/follower_lane.h"

#include <stdio.h>
#include <string.h>

struct follower_lane *follower_lane_new(unsigned number)
{
    struct follower_lane *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->notes_changed = true; /* since nothing was told */
    l->about = (struct meeting_message){ .kind = MEETING_LANE, .lane = number };
    return l;
}

void follower_lane_event(struct follower_lane *l, const struct rank_steps *lane,
                         const struct ring_event *e)
{
    if (e->kind == RING_NOTE) {
        l->notes_changed = true;
    } else if (e->kind == RING_LOST) {
        l->lost++;
    } else if (e->kind == RING_CLOSED) {
        l->closed = true;
    } else if (e->kind == RING_SWITCH) {
        if (l->n_answers == FOLLOWER_ANSWERS) /* nobody asks so fast */
            memmove(l->answers, l->answers + 1, --l->n_answers * sizeof(*l->answers));
        l->answers[l->n_answers].after = lane->count;
        l->answers[l->n_answers].request = e->request;
        l->answers[l->n_answers++].outcome = e->outcome;
    }
}

static struct meeting_message message(const struct follower_lane *l, enum meeting_kind kind)
{
    return (struct meeting_message){ .kind = kind, .lane = l->about.lane };
}

static bool tell_about(struct follower_lane *l, const struct rank_steps *lane,
                       struct meeting_wire *p)
{
    struct meeting_message *m = &l->about;

    if (l->told && m->rank == lane->rank && m->local_rank == lane->local_rank &&
        m->world == lane->world)
        return true;
    m->rank = lane->rank;
    m->local_rank = lane->local_rank;
    m->world = lane->world;
    m->pid = lane->pid;
    snprintf(m->name, sizeof(m->name), "%s", lane->host);
    snprintf(m->text, sizeof(m->text), "%s", lane->framework);
    l->told = meeting_wire_say(p, m);
    return l->told;
}

/* FNV-1a; never 0. */
static uint64_t hash_of(const struct rank_steps_note *n)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (const char *at = n->name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    for (const char *at = n->value; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return hash | 1;
}

static bool tell_notes(struct follower_lane *l, const struct rank_steps *lane,
                       struct meeting_wire *p)
{
    if (!l->notes_changed)
        return true;
    for (size_t i = 0; i < lane->n_notes; i++) {
        uint64_t hash = hash_of(&lane->notes[i]);
        struct meeting_message m = message(l, MEETING_NOTE);

        if (l->notes[i] == hash)
            continue;
        snprintf(m.name, sizeof(m.name), "%s", lane->notes[i].name);
        snprintf(m.text, sizeof(m.text), "%s", lane->notes[i].value);
        if (!meeting_wire_say(p, &m))
            return false;
        l->notes[i] = hash;
    }
    l->notes_changed = false;
    return true;
}

static bool tell_lost(struct follower_lane *l, struct meeting_wire *p)
{
    struct meeting_message m = message(l, MEETING_LOST);

    m.number = l->lost;
    if (l->lost && !meeting_wire_say(p, &m))
        return false;
    l->lost = 0;
    return true;
}

/* Answers stand between the steps that were made before and after them. */
static bool tell_answers(struct follower_lane *l, struct meeting_wire *p)
{
    while (l->n_answers && l->answers[0].after <= l->sent) {
        struct meeting_message m = message(l, MEETING_SWITCH);

        m.number = l->answers[0].request;
        m.outcome = l->answers[0].outcome;
        if (!meeting_wire_say(p, &m))
            return false;
        memmove(l->answers, l->answers + 1, --l->n_answers * sizeof(*l->answers));
    }
    return true;
}

/* The next step that is kept; those between are too many for the wire, and their numbers tell. */
static void skip_gone(struct follower_lane *l, const struct rank_steps *lane)
{
    if (l->sent >= LANE_FIRST && lane->count > LANE_LAST && l->sent < lane->count - LANE_LAST)
        l->sent = lane->count - LANE_LAST;
}

static bool tell_steps(struct follower_lane *l, const struct rank_steps *lane,
                       struct meeting_wire *p, double *budget)
{
    while (tell_answers(l, p)) {
        struct meeting_message m = message(l, MEETING_STEP);
        size_t before = p->n_body;

        skip_gone(l, lane);
        if (l->sent >= lane->count)
            return true;
        if (budget && *budget <= 0)
            return false;
        m.step = lane->steps[rank_steps_slot(l->sent)];
        if (!meeting_wire_say(p, &m))
            return false;
        l->sent++;
        if (budget)
            *budget -= (double)(p->n_body > before ? p->n_body - before : p->n_body);
    }
    return false;
}

bool follower_lane_tell(struct follower_lane *l, const struct rank_steps *lane,
                        struct meeting_wire *p, double *budget)
{
    const struct meeting_message closed = message(l, MEETING_CLOSED);

    if (!tell_about(l, lane, p) || !tell_notes(l, lane, p) || !tell_lost(l, p) ||
        !tell_steps(l, lane, p, budget))
        return false;
    if (l->closed && !l->closed_told)
        l->closed_told = meeting_wire_say(p, &closed);
    return l->closed == l->closed_told;
}
