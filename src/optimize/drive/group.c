/* Steps in groups, as the session gets them, and which of them are left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* Steps around a change of this machine's settings. */
enum { MIXED_STEPS = 2 };

/* The setting that is on trial or guarded. */
struct subject {
    const char *knob, *value, *before;
    bool in_force;
};

static bool find_subject(const struct drive *d, struct subject *ret)
{
    const struct session *s = &d->session;
    const struct session_entry *k = &s->entries[d->watch.entry];
    const struct session_offer *o = &s->offers[0];

    if (d->state == DRIVE_AFTER && d->watch.on)
        *ret = (struct subject){ k->knob, k->value, k->before, d->watch.in_force };
    else if (d->state == DRIVE_RUNS && s->phase >= PHASE_CANARY && s->n_offers)
        *ret = (struct subject){ o->knob, o->value, o->before, s->in_force };
    else
        return false;
    return true;
}

/* Workers of the loader with the setting, and without. */
static void workers_of(const struct drive *d, const struct subject *s, double *with,
                       double *without)
{
    bool workers = s && !strcmp(s->knob, "loader.workers");

    *with = workers ? strtod(s->value, NULL) : fmax(0, d->workers);
    *without = workers ? strtod(s->before, NULL) : fmax(0, d->workers);
}

/* Workers that load one batch each end at about the same time, so that steps come in bursts: as
 * many steps as there are workers are taken into one, of which the mean counts. A short epoch is
 * taken whole: its first step waits for a batch whoever loads it. */
static unsigned group_of(const struct drive *d)
{
    struct subject s;
    bool subject = find_subject(d, &s);
    double with, without, most;

    workers_of(d, subject ? &s : NULL, &with, &without);
    most = fmax(with, without);
    if ((subject && !s.in_force && without < 1) || most < 2)
        return 1; /* without workers there are no bursts */
    if (d->epoch > most && d->epoch <= DRIVE_GROUP_MOST)
        most = d->epoch;
    return (unsigned)fmin(most, DRIVE_GROUP_MOST);
}

unsigned drive_settle(const struct drive *d)
{
    struct subject s;
    double with, without, ready;

    if (!find_subject(d, &s) || !drive_is_loader(s.knob))
        return 0;
    workers_of(d, &s, &with, &without);
    ready = (s.in_force ? without : with) * (d->prefetch > 0 ? d->prefetch : 2);
    if (d->epoch > 0)
        ready = fmin(ready, d->epoch);
    return (unsigned)fmin(ready, 4.0 * DRIVE_GROUP_MOST);
}

void drive_begin_group(struct drive *d)
{
    d->n = 0;
    d->group_s = 0;
    d->power.joules = d->power.seconds = 0;
    d->group = group_of(d);
}

/* The step that is under way has some of both: it is left out with the next one. */
void drive_switched_now(struct drive *d)
{
    d->since_ns = MIN(d->w.now_ns, join_newest_ns(&d->join));
    d->settle = MIXED_STEPS;
    drive_begin_group(d);
}
