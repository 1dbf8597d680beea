/* What was tried, as it is stored with the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

static const char *text_or_null(const char *text)
{
    return *text ? text : NULL;
}

static bool trial_end(enum session_outcome o, enum run_trial_end *ret)
{
    static const enum run_trial_end ends[] = {
        [SESSION_ADOPTED] = RUN_TRIAL_ADOPTED,         [SESSION_REJECTED] = RUN_TRIAL_REJECTED,
        [SESSION_UNDECIDED] = RUN_TRIAL_UNDECIDED,     [SESSION_BROKE] = RUN_TRIAL_FAILED,
        [SESSION_ROLLED_BACK] = RUN_TRIAL_ROLLED_BACK,
    };

    if (o == SESSION_LEFT)
        return false;
    *ret = ends[o];
    return true;
}

static double finite_or_nan(double x)
{
    return isfinite(x) ? x : (double)NAN;
}

static struct run_trial trial_of(const struct session_entry *k, enum run_trial_end end)
{
    bool measured = !isnan(k->effect.gain);

    return (struct run_trial){ .knob = k->knob,
                               .value = k->value,
                               .before = text_or_null(k->before),
                               .also = text_or_null(k->also),
                               .note = text_or_null(k->note),
                               .end = end,
                               .gain = k->effect.gain,
                               .low = measured ? finite_or_nan(k->effect.low) : (double)NAN,
                               .high = measured ? finite_or_nan(k->effect.high) : (double)NAN,
                               .speed = k->speed,
                               .steps = k->steps,
                               .starts = k->starts,
                               .begin_ns = k->begin_ns,
                               .end_ns = k->end_ns };
}

/* The one that is on trial now. */
static bool trial_now(const struct drive *d, struct run_trial *ret)
{
    const struct session *s = &d->session;
    const struct session_offer *o = &s->offers[0];

    if (d->state != DRIVE_RUNS || d->ended || !s->n_offers ||
        (s->phase != PHASE_CANARY && s->phase != PHASE_TRIAL))
        return false;
    *ret = (struct run_trial){ .knob = o->knob,
                               .value = o->value,
                               .before = text_or_null(o->before),
                               .also = text_or_null(o->also),
                               .end = RUN_TRIAL_RUNS,
                               .gain = (double)NAN,
                               .low = (double)NAN,
                               .high = (double)NAN,
                               .speed = (double)NAN,
                               .steps = (unsigned)(d->steps - d->begun),
                               .begin_ns = d->begun_ns };
    return true;
}

static struct run_rates rates_of(const struct drive_stretch *s, const struct goal *g)
{
    double watts = drive_watts(s), per_s = drive_steps_per_s(s);

    return (struct run_rates){ .steps_per_s = per_s,
                               .samples_per_s = drive_samples_per_s(s),
                               .price = g->kind == GOAL_THROUGHPUT
                                            ? (double)NAN
                                            : goal_price(g, 1 / per_s, watts) };
}

const struct run_tuning *drive_record(struct drive *d)
{
    struct run_tuning *t = &d->record.tuning;
    const struct session *s = &d->session;
    enum run_trial_end end;

    if (d->state == DRIVE_WAITS || !d->join.members)
        return NULL;
    t->goal = progress_goal(d->c.goal.kind);
    t->before = rates_of(&d->before, &d->c.goal);
    t->after = rates_of(&d->after, &d->c.goal);
    t->trials = d->record.trials;
    t->n_trials = 0;
    for (unsigned i = 0; i < s->n_entries; i++)
        if (trial_end(s->entries[i].outcome, &end))
            t->trials[t->n_trials++] = trial_of(&s->entries[i], end);
    t->n_trials += trial_now(d, &t->trials[t->n_trials]);
    return t;
}
