/* Settings of a profile: what won before, here or elsewhere, is tried first. */
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

enum { SINCE = 40 };

/* What the job has now; where it does not tell, what it had when the profile was made, if that is a
 * value to go back to. A process may tell its threads before it tells what they are for. */
static const char *before_of(struct proposer *p, const struct profile_setting *s)
{
    const struct knob *k = knobs_find(p->about->knobs, s->knob);
    const char *told = facts_look(&p->facts, s->knob);

    if (!told && !strcmp(s->knob, "threads.intra"))
        told = facts_look(&p->facts, "process.threads");
    if (told || !k || !s->before || knob_check(k, s->before, NULL) < 0)
        return told;
    return s->before;
}

/* Workers of a profile that stay from epoch to epoch do so in their trial. */
static const struct knob *goes_along(const struct proposer *p, const struct profile_setting *s)
{
    const struct profile *won = p->about->won;

    const struct profile_setting *stays = profile_memo(won, s->kind, "loader.persistent");

    for (size_t i = 0; i < won->count && s->kind == PROFILE_KEPT; i++)
        if (!strcmp(won->settings[i].knob, "loader.persistent"))
            stays = &won->settings[i];
    return !strcmp(s->knob, "loader.workers") && stays && !strcmp(stays->value, "yes")
               ? knobs_find(p->about->knobs, "loader.persistent")
               : NULL;
}

/* What looked well when the job ended, and was not sure. */
static void propose_candidates(struct proposer *p)
{
    const struct profile *won = p->about->won;

    for (size_t i = 0; won && i < won->n_memos; i++) {
        const struct profile_setting *s = &won->memos[i];

        if (s->kind != PROFILE_CANDIDATE)
            continue;
        p->also = goes_along(p, s);
        if (s->gain >= p->about->least_gain && isfinite(s->low) && isfinite(s->high))
            propose_add(p, s->knob, s->value, before_of(p, s), 1 + s->gain,
                        "the profile has it as promising: %s times as fast (%s to %s) in "
                        "%llu steps, not yet sure",
                        quantity_number(1 + s->gain, 3).text, quantity_number(1 + s->low, 3).text,
                        quantity_number(1 + s->high, 3).text, (unsigned long long)s->steps);
        else
            propose_add(p, s->knob, s->value, before_of(p, s), (double)NAN,
                        "its trial had begun when the job ended");
    }
}

void propose_won(struct proposer *p)
{
    const struct profile *won = p->about->won;

    for (size_t i = 0; won && i < won->count; i++) {
        const struct profile_setting *s = &won->settings[i];
        bool told = s->gain >= p->about->least_gain && isfinite(s->gain);
        char since[SINCE] = "";

        if (s->date)
            snprintf(since, sizeof(since), " on %.16s", s->date);
        p->also = goes_along(p, s);
        if (told)
            propose_add(p, s->knob, s->value, before_of(p, s), 1 + s->gain,
                        "the profile has it: %s times as fast%s",
                        quantity_number(1 + s->gain, 3).text, since);
        else
            propose_add(p, s->knob, s->value, before_of(p, s), (double)NAN,
                        "the profile has it%s%s", *since ? ", kept" : "", since);
    }
    propose_candidates(p);
}
