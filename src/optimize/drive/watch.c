/* After the session: whether what was kept still pays. One setting at a time is compared with what
 * was before it, each in its turn. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* Whether another value of the same knob was kept later: that is in force, and this one is what it
 * would go back to. */
static bool is_replaced(const struct session *s, unsigned entry)
{
    for (unsigned i = entry + 1; i < s->n_entries; i++)
        if (s->entries[i].outcome == SESSION_ADOPTED &&
            !strcmp(s->entries[i].knob, s->entries[entry].knob))
            return true;
    return false;
}

/* Whether an entry is of a setting that was kept, and can be compared with what was before it. */
static bool is_watched(const struct drive *d, unsigned entry)
{
    const struct session *s = &d->session;
    unsigned past = d->c.past ? (unsigned)d->c.past->n : 0; /* in force since the start */

    return entry >= past && s->entries[entry].outcome == SESSION_ADOPTED && !is_replaced(s, entry);
}

/* The setting that was kept before 'from' was, in a circle: what came last depends on what was
 * there before it. */
static bool next_kept(const struct drive *d, unsigned from, unsigned *ret)
{
    const struct session *s = &d->session;

    for (unsigned i = 1; i <= s->n_entries; i++) {
        unsigned at = (from + s->n_entries - i) % s->n_entries;

        if (is_watched(d, at)) {
            *ret = at;
            return true;
        }
    }
    return false;
}

/* doubtful: another one did not hold, so that this one is compared at once and not some time. */
static void watch_next(struct drive *d, unsigned from, bool doubtful)
{
    struct drive_watch *w = &d->watch;
    const struct recheck_plan wild = recheck_plan_wild(d->c.plan.chance);
    double old_s = w->guard.old_s;

    *w = (struct drive_watch){ .in_force = true, .doubtful = doubtful };
    for (size_t i = 0; i < JOIN_RANKS; i++)
        d->did.did[i] = true;
    w->on = next_kept(d, from, &w->entry);
    recheck_init(&w->guard, doubtful ? 1e-9 : (double)NAN, d->c.plan.chance ? &wild : NULL);
    w->guard.old_s = fmax(w->guard.old_s, old_s); /* what a look takes is much the same */
}

void drive_watch_begin(struct drive *d)
{
    watch_next(d, 0, false); /* the last one */
}

static void give_up(struct drive *d, unsigned entry, const char *why)
{
    struct session_entry *k = &d->session.entries[entry];

    k->outcome = SESSION_BROKE;
    snprintf(k->note, sizeof(k->note), "%s", why);
    d->watch.on = false;
    drive_progress(d);
}

/* What is not asked of the job is done when this returns. */
static void want(struct drive *d, bool in_force)
{
    const struct session_entry *k = &d->session.entries[d->watch.entry];
    /* While one that was kept is looked at without it, it is the one to go back to. */
    struct drive_wish wish = { k->knob, in_force ? k->value : k->before, NULL, NULL,
                               in_force || d->watch.undoing ? NULL : k->value };
    const char *why = NULL;
    char text[SESSION_TEXT];

    if (drive_is_machine(d, k->knob)) {
        drive_watch_done(d, drive_set_machine(d, k->knob, in_force ? k->value : k->before, text),
                         text);
        return;
    }
    if (*k->also && (in_force || d->watch.undoing)) {
        wish.also = k->also;
        wish.also_value = in_force ? "yes" : "no";
    }
    if (!drive_request(d, &wish, in_force, &why))
        give_up(d, d->watch.entry, why);
}

void drive_watch_undo(struct drive *d, unsigned entry, const char *why)
{
    struct session_entry *k = &d->session.entries[entry];

    d->watch = (struct drive_watch){
        .on = true, .in_force = true, .undoing = true, .entry = entry
    };
    k->outcome = SESSION_ROLLED_BACK;
    snprintf(k->note, sizeof(k->note), "%s", why);
    drive_progress(d);
    want(d, false);
}

/* How many settings are watched beside this one. */
static unsigned others(const struct drive *d, unsigned entry)
{
    unsigned n = 0;

    for (unsigned i = 0; i < d->session.n_entries; i++)
        n += i != entry && is_watched(d, i);
    return n;
}

/* It held. When steps had become slower it may be another one that does not: each is looked at. */
static void held(struct drive *d)
{
    const struct drive_watch *w = &d->watch;
    unsigned suspects = w->suspects ? w->suspects - 1 : 0;

    if (w->guard.alarmed && !w->doubtful)
        suspects = others(d, w->entry);
    watch_next(d, w->entry, suspects > 0);
    d->watch.suspects = suspects;
}

void drive_watch_step(struct drive *d, double seconds, unsigned steps)
{
    struct drive_watch *w = &d->watch;

    if (!w->on || d->order.open || w->undoing || d->ended)
        return;
    if (recheck_steps(&w->guard, w->in_force, seconds, steps) == GUARD_ROLL_BACK) {
        if (w->in_force)
            drive_watch_undo(d, w->entry, "");
        else
            drive_watch_done(d, true, NULL); /* it is out already */
        return;
    }
    if (recheck_want(&w->guard) != w->in_force)
        want(d, recheck_want(&w->guard));
    else if (!w->guard.checking && w->guard.checks > w->checks)
        held(d);
}

void drive_watch_done(struct drive *d, bool done, const char *why)
{
    struct drive_watch *w = &d->watch;

    if (!w->on)
        return;
    if (!done) {
        give_up(d, w->entry, why);
        return;
    }
    if (w->undoing || w->guard.verdict == GUARD_ROLL_BACK) {
        d->session.entries[w->entry].outcome = SESSION_ROLLED_BACK;
        drive_progress(d);
        watch_next(d, w->entry, true);
        return;
    }
    w->in_force = !w->in_force;
}
