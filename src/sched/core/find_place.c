#include "sched/core/scheduler.h"
#include "sched/core/speed.h"
#include "sched/core/find_place.h"

bool sched_find_place(struct sched *s, uint32_t job)
{
    bool found = true;

    for (const struct feature *const *f = s->hooks.allows; *f && found; f++)
        found = (*f)->allows(s, job);
    if (!found)
        return false;
    for (const struct feature *const *f = s->hooks.narrows; *f; f++)
        (*f)->narrows(s, job);
    found = speed_find(s, job);
    s->capacity.keep = NULL;
    s->capacity.near = NULL;
    for (const struct feature *const *f = s->hooks.accepts; *f && found; f++)
        found = (*f)->accepts(s, job);
    return found;
}

int sched_free_place(struct sched *s, uint32_t job, int64_t now_ms)
{
    int found = sched_find_place(s, job);

    for (const struct feature *const *f = s->hooks.frees; *f && found == 0; f++)
        found = (*f)->frees(s, job, now_ms);
    return found;
}
