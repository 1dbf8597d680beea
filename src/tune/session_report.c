/* What a session tells at its end. */
#include <math.h>

#include "tune/session.h"

const char *session_phase_name(enum session_phase p)
{
    static const char *const names[] = {
        [PHASE_OBSERVE] = "observe", [PHASE_ASK] = "propose",   [PHASE_CANARY] = "canary",
        [PHASE_TRIAL] = "trial",     [PHASE_ADOPT] = "adopt",   [PHASE_GUARD] = "guard",
        [PHASE_UNDO] = "undo",       [PHASE_OVER] = "finished",
    };

    return names[p];
}

const char *session_outcome_name(enum session_outcome o)
{
    static const char *const names[] = {
        [SESSION_ADOPTED] = "adopted",         [SESSION_REJECTED] = "rejected",
        [SESSION_UNDECIDED] = "undecided",     [SESSION_BROKE] = "failed",
        [SESSION_ROLLED_BACK] = "rolled back", [SESSION_LEFT] = "not tried",
    };

    return names[o];
}

static void add_entry(const struct session_entry *k, struct str *out)
{
    str_addf(out, "%s %s -> %s: %s", k->knob, k->before, k->value,
             session_outcome_name(k->outcome));
    if (!isnan(k->effect.gain))
        str_addf(out, ", %+.1f %% steps in a second", k->effect.gain * 100);
    if (!isnan(k->effect.gain) && isfinite(k->effect.high))
        str_addf(out, " (%+.1f to %+.1f %%)", k->effect.low * 100, k->effect.high * 100);
    if (k->steps)
        str_addf(out, ", %u steps", k->steps);
    if (*k->note)
        str_addf(out, "; %s", k->note);
    str_addf(out, "\n    %s\n", k->why);
}

void session_report(const struct session *s, struct str *out)
{
    unsigned adopted = 0;

    for (unsigned i = 0; i < s->n_entries; i++) {
        add_entry(&s->entries[i], out);
        adopted += s->entries[i].outcome == SESSION_ADOPTED;
    }
    str_addf(out, "%u of %u trials changed something, in %u steps: %s\n", adopted, s->trials,
             s->steps, s->reason ? s->reason : session_phase_name(s->phase));
}

int session_profile(const struct session *s, const char *date, struct profile *to, struct err *e)
{
    /* A profile's gain is of steps in a second. */
    bool told = s->plan.goal == GOAL_THROUGHPUT;

    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];
        const struct profile_setting setting = {
            .knob = k->knob,
            .value = k->value,
            .before = k->before,
            .gain = told ? k->effect.gain : (double)NAN,
            .low = told ? k->effect.low : (double)NAN,
            .high = told ? k->effect.high : (double)NAN,
            .steps = k->steps,
            .date = date,
        };
        int rc = k->outcome == SESSION_ADOPTED ? profile_set(to, &setting, e) : 0;

        if (rc < 0)
            return rc;
    }
    return 0;
}
