/* The job's steps and moments, given to the session or to the watch after it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

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
    d->settle = drive_settle(d);
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

static void give(struct drive *d, double seconds, unsigned steps)
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
    give(d, seconds, n);
}

static void take_step(struct drive *d, const struct join_step *s)
{
    d->step_ns = d->w.now_ns;
    d->steps++;
    if (d->order.open && s->request >= d->order.number &&
        job_request_state(&d->order, d->join.members) == ORDER_DONE)
        switched(d, s);
    drive_count_step(d, s);
    loss_check_step(&d->losses, s->samples, s->loss);
    feed(d, s);
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
    double watts, pss_b, price;

    if (!m || (uint64_t)m->monotonic_ns == d->moment_ns)
        return;
    pss_b = pss_of(d, m);
    d->moment_ns = (uint64_t)m->monotonic_ns;
    watts = goal_watts(&d->c.goal, m);
    if (drive_end_moment(d, m, &price))
        give(d, price, 1);
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
