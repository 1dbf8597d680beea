#include "sched/choose_victims.h"

#include <string.h>

#include "sched/sched_private.h"

void stops_lift(struct sched *s, uint32_t job, bool up)
{
    room_lift(&s->room, &s->work->jobs[job], s->jobs[job].part, up);
    quota_count(s, job, up ? -1 : 1);
    if (s->power.on)
        power_lift(s, job, up);
}

/* Lift jobs until there is a place for another; how many of the n were, moved to the front. */
static size_t lift_until(struct sched *s, uint32_t job, struct stop *stops, size_t n,
                         stops_may_fn *may, bool *found)
{
    size_t lifted = 0;

    *found = false;
    for (size_t i = 0; i < n && !*found; i++) {
        if (may && !may(s, stops[i].job))
            continue;
        stops[lifted++] = stops[i];
        stops_lift(s, stops[i].job, true);
        *found = inside_find(s, job);
    }
    return lifted;
}

size_t stops_find(struct sched *s, uint32_t job, struct stop *stops, size_t n, stops_may_fn *may)
{
    bool found;

    n = lift_until(s, job, stops, n, may, &found);
    for (size_t i = n; i-- > 0 && found;) { /* those without which it goes, too, run on */
        stops_lift(s, stops[i].job, false);
        if (inside_find(s, job))
            memmove(&stops[i], &stops[i + 1], (--n - i) * sizeof(*stops)); /* in their order */
        else
            stops_lift(s, stops[i].job, true);
    }
    for (size_t i = 0; i < n; i++)
        stops_lift(s, stops[i].job, false);
    return found ? n : 0;
}
