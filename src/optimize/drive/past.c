/* The session, begun after what earlier runs have shown. */
#include "optimize/drive/drive_private.h"

void drive_session(struct drive *d)
{
    const struct drive_past *past = d->c.past;

    session_init(&d->session, &d->c.plan);
    d->progress = (struct progress){ .told = 0 };
    d->entries = 0;
    if (past)
        drive_add_past(d, past);
}

void drive_add_past(struct drive *d, const struct drive_past *past)
{
    struct session *s = &d->session;

    d->c.past = past;
    for (size_t i = 0; i < past->n && s->n_entries < SESSION_ENTRIES - SESSION_TRIALS; i++) {
        if (session_has(s, past->entries[i].knob, past->entries[i].value))
            continue;
        d->progress.outcome[s->n_entries] = past->entries[i].outcome;
        d->asked = d->asked || past->entries[i].outcome == SESSION_ADOPTED;
        s->entries[s->n_entries++] = past->entries[i];
    }
    d->entries = d->progress.told = s->n_entries;
    if (d->asked)
        d->before = past->before;
    drive_kept(d);
}
