/* What a session tells at its end. */
#include <math.h>

#include "tune/session.h"

const char *session_outcome_name(enum session_outcome o)
{
    static const char *const names[] = {
        [SESSION_ADOPTED] = "adopted",         [SESSION_REJECTED] = "rejected",
        [SESSION_UNDECIDED] = "undecided",     [SESSION_BROKE] = "failed",
        [SESSION_ROLLED_BACK] = "rolled back", [SESSION_LEFT] = "not tried",
    };

    return names[o];
}

/* A setting, and what goes with it: one proof for both. */
static int add_setting(struct profile *to, const struct profile_setting *s, const char *also,
                       struct err *e)
{
    struct profile_setting with = *s;
    int rc = profile_set(to, s, e);

    if (rc < 0 || !*also)
        return rc;
    with.knob = also;
    with.value = "yes";
    with.before = "no";
    return profile_set(to, &with, e);
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
        int rc = k->outcome == SESSION_ADOPTED ? add_setting(to, &setting, k->also, e) : 0;

        if (rc < 0)
            return rc;
    }
    return 0;
}
