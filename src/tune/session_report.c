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

static int put(struct profile *to, const struct profile_setting *s, struct err *e)
{
    return s->kind == PROFILE_KEPT ? profile_set(to, s, e) : profile_remember(to, s, e);
}

/* Whether an entry is for a profile, and as what. */
static bool is_for_profile(const struct session_entry *k, enum profile_kind *kind)
{
    *kind = k->refused ? PROFILE_REFUSED : k->promising ? PROFILE_CANDIDATE : PROFILE_KEPT;
    return k->refused || k->promising || k->outcome == SESSION_ADOPTED;
}

/* A setting, and what goes with it: one proof for both. */
static int add_setting(struct profile *to, const struct profile_setting *s, const char *also,
                       struct err *e)
{
    struct profile_setting with = *s;
    int rc = put(to, s, e);

    if (rc < 0 || !*also || s->kind == PROFILE_REFUSED)
        return rc;
    with.knob = also;
    with.value = "yes";
    with.before = "no";
    return put(to, &with, e);
}

int session_profile(const struct session *s, const char *date, struct profile *to, struct err *e)
{
    /* A profile's gain is of steps in a second. */
    bool told = s->plan.goal == GOAL_THROUGHPUT;

    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];
        enum profile_kind kind;
        bool is_for = is_for_profile(k, &kind);
        const struct profile_setting setting = {
            .knob = k->knob,
            .value = k->value,
            .before = k->before,
            .gain = told ? k->effect.gain : (double)NAN,
            .low = told ? k->effect.low : (double)NAN,
            .high = told ? k->effect.high : (double)NAN,
            .steps = k->steps,
            .date = date,
            .kind = kind,
            .why = kind == PROFILE_KEPT ? NULL : k->note,
        };
        int rc = is_for ? add_setting(to, &setting, k->also, e) : 0;

        if (rc < 0)
            return rc;
    }
    return 0;
}
