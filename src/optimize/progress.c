#include "optimize/progress.h"

#include <math.h>

enum run_goal progress_goal(enum session_goal g)
{
    static const enum run_goal goals[] = { [GOAL_THROUGHPUT] = RUN_GOAL_THROUGHPUT,
                                           [GOAL_ENERGY] = RUN_GOAL_ENERGY,
                                           [GOAL_COST] = RUN_GOAL_COST };

    return goals[g];
}

void progress_effect(const struct session_entry *k, enum session_goal goal, struct str *out)
{
    if (isnan(k->effect.gain)) {
        str_add(out, "not measured");
        return;
    }
    run_effect_say(k->effect.gain, k->effect.low, k->effect.high, progress_goal(goal), out);
    if (goal != GOAL_THROUGHPUT && !isnan(k->speed))
        str_addf(out, " at %+.1f %% steps/s", k->speed * 100);
}

void progress_outcome(const struct session_entry *k, enum session_goal goal, struct str *out)
{
    static const char *const ends[] = {
        [SESSION_ADOPTED] = ", kept",
        [SESSION_REJECTED] = ", taken back",
        [SESSION_UNDECIDED] = ", undecided and taken back",
        [SESSION_BROKE] = ", taken back",
        [SESSION_ROLLED_BACK] = "; it did not last, taken back",
    };
    bool broke = k->outcome == SESSION_BROKE;

    str_addf(out, "%s=%s", k->knob, k->value);
    if (*k->also)
        str_addf(out, " with %s=yes", k->also);
    str_add(out, ": ");
    if (broke)
        str_addf(out, "failed: %s", k->note);
    else if (k->outcome == SESSION_REJECTED && isnan(k->effect.gain) && *k->note)
        str_add(out, k->note);
    else
        progress_effect(k, goal, out);
    str_add(out, ends[k->outcome]);
    if (k->steps)
        str_addf(out, " after %u steps", k->steps);
    if (k->steps && k->starts)
        str_addf(out, " in %u start%s", k->starts, str_plural(k->starts));
    if (!broke && !isnan(k->effect.gain) && *k->note)
        str_addf(out, ": %s", k->note);
}

/* An entry that is new, or has another outcome than was told. */
static bool next_entry(struct progress *p, const struct session *s, struct str *out)
{
    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];

        if (i < p->told && p->outcome[i] == k->outcome)
            continue;
        p->outcome[i] = k->outcome;
        p->told = MAX(p->told, i + 1);
        if (k->outcome == SESSION_LEFT)
            continue;
        progress_outcome(k, s->plan.goal, out);
        return true;
    }
    return false;
}

bool progress_next(struct progress *p, const struct session *s, struct str *out)
{
    str_reset(out);
    if (next_entry(p, s, out))
        return true;
    if (p->trials == s->trials || s->phase == PHASE_OVER || !s->n_offers)
        return false;
    p->trials = s->trials;
    str_addf(out, "trying %s=%s", s->offers[0].knob, s->offers[0].value);
    if (*s->offers[0].also)
        str_addf(out, " with %s=yes", s->offers[0].also);
    if (*s->offers[0].before)
        str_addf(out, " instead of %s", s->offers[0].before);
    str_addf(out, ": %s", s->offers[0].why);
    return true;
}
