/* The job's steps: what the session gets of them, and what is counted for the card. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* Steps of a job's begin that are no measure of it. */
enum { WARM_UP = 5 };

/* Steps around a change of this machine's settings. */
enum { MIXED_STEPS = 2 };

const struct drive_stretch drive_stretch_none = {
    .samples = (double)NAN, .resident_b = (double)NAN, .pss_b = (double)NAN, .device_b = (double)NAN
};

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

static void add_step(struct drive *d, const struct join_step *s)
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

/* Memory of all processes, what they share counted once, as it was read last, if there were as many
 * of them. */
static double pss_of(const struct drive *d, const struct run_moment *m)
{
    double processes = m->values[RUN_JOB_PROCESSES];

    return d->memory.pss_b > 0 && processes <= d->memory.processes &&
                   processes >= d->memory.processes
               ? d->memory.pss_b
               : (double)NAN;
}

/* Workers that a trial has started stay while it looks at the job without them. */
static bool is_trying(const struct drive *d)
{
    return d->state == DRIVE_RUNS && d->asked &&
           (d->session.phase == PHASE_CANARY || d->session.phase == PHASE_TRIAL);
}

void drive_add_moment(struct drive *d)
{
    const struct run *r = d->w.run;
    const struct run_moment *m = r->n_moments ? &r->moments[r->n_moments - 1] : NULL;
    struct drive_stretch *to = d->asked ? &d->after : &d->before;
    double watts, pss_b;

    if (!m || (uint64_t)m->monotonic_ns == d->moment_ns)
        return;
    pss_b = pss_of(d, m);
    d->moment_ns = (uint64_t)m->monotonic_ns;
    watts = goal_watts(&d->c.goal, m);
    drive_end_moment(d, m);
    /* What is in use was looked at when the moment ended. */
    if ((d->asked && !drive_at_best(d)) || m->monotonic_ns < d->since_ns)
        return;
    if (!is_trying(d)) {
        /* NaN: the other one */
        to->resident_b = fmax(to->resident_b, m->values[RUN_JOB_RESIDENT]);
        to->pss_b = fmax(to->pss_b, pss_b);
        d->memory.asked = isnan(to->pss_b) && d->memory.pss_b > 0;
        to->device_b = fmax(to->device_b, m->values[RUN_GPU_MEMORY_USED]);
    }
    if (isnan(watts) || run_snapshot_begin_ns(m) < d->since_ns)
        return;
    to->joules += watts * m->seconds;
    to->powered_s += m->seconds;
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

/* ---- steps ---- */

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
 * many steps as there are workers are taken into one, of which the mean counts. */
static unsigned group_of(const struct drive *d)
{
    struct subject s;
    bool subject = find_subject(d, &s);
    double with, without, most;

    workers_of(d, subject ? &s : NULL, &with, &without);
    most = fmax(with, without);
    if ((subject && !s.in_force && without < 1) || most < 2)
        return 1; /* without workers there are no bursts */
    return (unsigned)fmin(most, DRIVE_GROUP_MOST);
}

/* Batches that the loader has ready are still used up as they were loaded. */
static unsigned settle_of(const struct drive *d)
{
    struct subject s;
    double with, without;

    if (!find_subject(d, &s) || !drive_is_loader(s.knob))
        return 0;
    workers_of(d, &s, &with, &without);
    return (unsigned)fmin((s.in_force ? without : with) * (d->prefetch > 0 ? d->prefetch : 2),
                          4.0 * DRIVE_GROUP_MOST);
}

void drive_begin_group(struct drive *d)
{
    d->n = 0;
    d->group_s = 0;
    d->power.joules = d->power.seconds = 0;
    d->group = group_of(d);
}

/* All ranks run with what was asked for, from this step on. */
static void switched(struct drive *d, const struct join_step *s)
{
    d->order.open = false;
    d->unheard = false;
    d->since_ns = s->begin_ns;
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, true, NULL);
    else
        drive_send(d, SESSION_SWITCHED, NULL);
    d->settle = settle_of(d);
    drive_begin_group(d);
}

/* The step that is under way has some of both: it is left out with the next one. */
void drive_switched_now(struct drive *d)
{
    d->since_ns = d->w.now_ns;
    d->settle = MIXED_STEPS;
    drive_begin_group(d);
}

static void refused(struct drive *d, enum job_request_state how)
{
    char why[ORDER_TEXT];

    snprintf(why, sizeof(why), "%s", d->order.why);
    d->order.open = false;
    d->unheard = d->order.apply && how == ORDER_REFUSED;
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, false, why);
    else
        drive_send(d, SESSION_FAILED, why);
    drive_begin_group(d);
}

static void give_session(struct drive *d, double seconds, unsigned steps)
{
    const struct session_event e = { SESSION_STEP, seconds, steps, NULL };
    bool was = d->session.switching;
    enum session_phase phase = d->session.phase;

    drive_obey(d, session_event(&d->session, &e));
    if (was && !d->answered && d->session.phase == PHASE_UNDO) {
        /* Nobody listens: nothing was changed, and nothing else can be. */
        d->order.open = false;
        drive_send(d, SESSION_STOP, "the job does not listen to brim");
        drive_send(d, SESSION_SWITCHED, NULL);
    }
    if (phase != d->session.phase)
        drive_begin_group(d);
}

void drive_give(struct drive *d, double seconds, unsigned steps)
{
    if (d->state == DRIVE_AFTER)
        drive_watch_step(d, seconds, steps);
    else
        give_session(d, seconds, steps);
}

/* The first steps after a change are left out one by one: a group is as many as there are workers,
 * from wherever it begins. */
static bool skips(const struct drive *d)
{
    return d->n == 1 && d->state == DRIVE_RUNS && session_skips(&d->session);
}

static void feed(struct drive *d, const struct join_step *s)
{
    double seconds;
    unsigned n;

    if (d->state == DRIVE_RUNS && d->session.switching) {
        /* Who was stopped for a while finds steps that were made before it asked. */
        if (s->begin_ns >= d->asked_ns)
            give_session(d, s->seconds, 1);
        return;
    }
    if (s->saves)
        return;
    if (d->settle) {
        d->settle--;
        return;
    }
    d->group_s += s->seconds;
    n = ++d->n;
    if ((n < d->group && !skips(d)) || goal_needs_power(&d->c.goal))
        return;
    seconds = d->group_s / n;
    d->n = 0;
    d->group_s = 0;
    drive_give(d, seconds, n);
}

static void take_step(struct drive *d, const struct join_step *s)
{
    d->step_ns = d->w.now_ns;
    d->steps++;
    if (d->order.open && s->request >= d->order.number &&
        job_request_state(&d->order, d->join.members) == ORDER_DONE)
        switched(d, s);
    add_step(d, s);
    loss_check_step(&d->losses, s->samples, s->loss);
    feed(d, s);
}

void drive_take_steps(struct drive *d)
{
    struct join_step s;
    enum job_request_state how;

    while ((d->state == DRIVE_RUNS || d->state == DRIVE_AFTER) && join_next(&d->join, &s))
        take_step(d, &s);
    how = job_request_state(&d->order, d->join.members);
    if (how == ORDER_REFUSED || how == ORDER_BROKEN)
        refused(d, how);
}
