/* What is counted for the card: steps, time, memory and energy of the job in each state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* Steps of a job's begin that are no measure of it. */
enum { WARM_UP = 5 };

const struct drive_stretch drive_stretch_none = {
    .samples = (double)NAN, .resident_b = (double)NAN, .pss_b = (double)NAN, .device_b = (double)NAN
};

double drive_watts(const struct drive_stretch *s)
{
    return s->powered_s > 0 ? s->joules / s->powered_s : (double)NAN;
}

double drive_steps_per_s(const struct drive_stretch *s)
{
    return s->seconds > 0 ? s->steps / s->seconds : (double)NAN;
}

double drive_samples_per_s(const struct drive_stretch *s)
{
    return s->seconds > 0 ? s->samples / s->seconds : (double)NAN;
}

bool drive_at_best(const struct drive *d)
{
    const struct session *s = &d->session;

    if (d->order.open)
        return false;
    if (d->state == DRIVE_AFTER)
        return !d->watch.on || d->watch.in_force;
    if (s->phase == PHASE_ADOPT || s->phase == PHASE_GUARD)
        return s->in_force;
    return s->phase == PHASE_OBSERVE || s->phase == PHASE_ASK || !s->in_force;
}

void drive_count_step(struct drive *d, const struct join_step *s)
{
    struct drive_stretch *to = d->asked ? &d->after : &d->before;

    if (s->number < WARM_UP || (d->asked && (!drive_at_best(d) || d->settle)))
        return;
    to->steps++;
    to->seconds += s->seconds;
    if (!isnan(s->samples))
        to->samples = isnan(to->samples) ? s->samples : to->samples + s->samples;
}

void drive_see_memory(struct drive *d)
{
    const struct run *r = d->w.run;
    const struct run_moment *m = r->n_moments ? &r->moments[r->n_moments - 1] : NULL;

    if (!m || isnan(m->values[RUN_JOB_PSS]))
        return;
    d->memory.pss_b = m->values[RUN_JOB_PSS];
    d->memory.processes = m->values[RUN_JOB_PROCESSES];
    d->memory.asked = false;
}

void drive_weigh(struct drive *d)
{
    struct session_entry *k = &d->session.entries[d->last];
    bool each = isnan(d->without.pss_b) && isnan(d->after.pss_b);

    if (d->last >= d->session.n_entries || !(d->after.steps > 0))
        return;
    /* What processes share is no memory of the setting: where it is known of one side alone, what
     * the setting takes is not known. */
    k->memory_b = each ? d->after.resident_b - d->without.resident_b
                       : d->after.pss_b - d->without.pss_b;
    k->device_b = d->after.device_b - d->without.device_b;
}

/* A setting more: what comes is compared with what was. One less: nothing is known any more. */
static void weigh_next(struct drive *d, unsigned kept)
{
    const struct session *s = &d->session;

    drive_weigh(d);
    d->last = SESSION_ENTRIES;
    if (kept != d->kept + 1 || s->entries[s->n_entries - 1].outcome != SESSION_ADOPTED)
        return;
    d->last = s->n_entries - 1;
    d->without = d->kept ? d->after : d->before;
}

void drive_kept(struct drive *d)
{
    const struct session *s = &d->session;
    unsigned kept = 0;

    for (unsigned i = 0; i < s->n_entries; i++)
        kept += s->entries[i].outcome == SESSION_ADOPTED;
    if (kept == d->kept)
        return;
    weigh_next(d, kept);
    if (kept > d->kept && d->control) {
        d->back[0] = '\0';
        control_keep(d->control);
    }
    d->kept = kept;
    d->after = drive_stretch_none;
    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];

        if (!strcmp(k->knob, "loader.workers") && k->outcome == SESSION_ADOPTED)
            d->workers = strtod(k->value, NULL);
        if (!strcmp(k->knob, "loader.workers") && k->outcome == SESSION_ROLLED_BACK)
            d->workers = strtod(k->before, NULL);
    }
}
