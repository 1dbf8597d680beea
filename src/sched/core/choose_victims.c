#include "sched/core/choose_victims.h"

#include <string.h>

#include "sched/core/find_place.h"
#include "sched/core/scheduler.h"

void choose_victims_lift(struct sched *s, uint32_t job, bool up)
{
    free_capacity_lift(&s->capacity, &s->work->jobs[job], s->jobs[job].part, up);
    for (const struct feature *const *f = s->hooks.lifts; *f; f++)
        (*f)->lifts(s, job, up);
}

/* Lift jobs until there is a place for another; how many of the n were, moved to the front. */
static size_t lift_until(struct sched *s, uint32_t job, struct victim *victims, size_t n,
                         choose_victims_may_fn *may, bool *found)
{
    size_t lifted = 0;

    *found = false;
    for (size_t i = 0; i < n && !*found; i++) {
        if (may && !may(s, victims[i].job))
            continue;
        victims[lifted++] = victims[i];
        choose_victims_lift(s, victims[i].job, true);
        *found = sched_find_place(s, job);
    }
    return lifted;
}

size_t choose_victims(struct sched *s, uint32_t job, struct victim *victims, size_t n,
                      choose_victims_may_fn *may)
{
    bool found;

    n = lift_until(s, job, victims, n, may, &found);
    for (size_t i = n; i-- > 0 && found;) { /* those without which it goes, too, run on */
        choose_victims_lift(s, victims[i].job, false);
        if (sched_find_place(s, job))
            memmove(&victims[i], &victims[i + 1],
                    (--n - i) * sizeof(*victims)); /* in their order */
        else
            choose_victims_lift(s, victims[i].job, true);
    }
    for (size_t i = 0; i < n; i++)
        choose_victims_lift(s, victims[i].job, false);
    return found ? n : 0;
}
