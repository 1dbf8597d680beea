/* Settings that take effect with a restart: whether the job is ended for them. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#include "base/str.h"
#include "optimize/drive/drive_private.h"

/* A job that has done more than both is not begun again. */
enum { EARLY_STEPS = 200 };
#define EARLY_NS (60 * NS_PER_S)

/* Of the steps, that told a loss. */
static const double told_least = 0.5;

static bool needs_restart(const struct drive *d, const struct candidate *c)
{
    return (c->knob->effect == KNOB_RESTART && c->knob->apply != KNOB_SCRIPT) ||
           (d->join.members > 1 && !strcmp(c->knob->name, "batch.accumulation"));
}

static bool is_late(const struct drive *d)
{
    return d->steps > EARLY_STEPS && d->w.now_ns - d->first_ns > EARLY_NS;
}

/* Why there is no race at all; NULL when there may be one. */
static const char *why_none(const struct drive *d)
{
    if (d->c.past)
        return "it takes effect with a restart, and the race is over";
    if (!d->c.restarts)
        return "it takes effect with a restart: --restarts 12 would try it";
    if (d->gone)
        return "it takes effect with a restart, and the job is about to end";
    if (d->saved)
        return "it takes effect with a restart, and the job has written a checkpoint";
    return is_late(d) ? "it takes effect with a restart, and the job has run for too long" : NULL;
}

/* Whether one races; else why not. */
static bool fits(const struct drive *d, const struct candidate *c, size_t racing,
                 char why[SESSION_TEXT])
{
    const struct loss_check_curve *l = &d->losses.before;

    why[0] = '\0';
    if (!strncmp(c->knob->name, "batch.", 6))
        snprintf(why, SESSION_TEXT,
                 "it makes batches larger: what that costs in learning shows "
                 "later than short runs end");
    else if (c->knob->risk == KNOB_NUMERIC && !(l->told > 0 && l->told >= told_least * l->steps))
        snprintf(why, SESSION_TEXT, "the job tells no loss that could be compared");
    else if (racing >= restart_race_room(d->c.restarts))
        snprintf(why, SESSION_TEXT, "more promising ones take all starts");
    else if (d->c.fits)
        return d->c.fits(d->c.arg, c, why);
    return !*why;
}

static void begin_race(struct drive *d, struct proposals *p, const struct candidate *list, size_t n)
{
    memcpy(p->list, list, n * sizeof(*list));
    p->count = n;
    d->race = *p;
    d->racing = true;
    d->state = DRIVE_OFF;
    drive_say(d,
              "%zu setting%s worth a trial take%s effect with a restart: the job is ended, and "
              "short runs with and without decide how it is started again",
              n, str_plural(n), n == 1 ? "s" : "");
}

bool drive_race(struct drive *d, struct proposals *p)
{
    const char *none = why_none(d);
    struct candidate race[CONTEST_MOST];
    size_t racing = 0, n = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct candidate c = p->list[i];
        char why[SESSION_TEXT];

        if (!needs_restart(d, &c)) {
            p->list[n++] = c;
            continue;
        }
        snprintf(why, sizeof(why), "%s", none ? none : "");
        if (none || !fits(d, &c, racing, why))
            session_leave(&d->session, &c, why);
        else
            race[racing++] = c;
    }
    p->count = n;
    if (racing)
        begin_race(d, p, race, racing);
    return racing > 0;
}
