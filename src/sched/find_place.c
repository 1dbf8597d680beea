#include <assert.h>

#include "sched/sched_private.h"
#include "sched/speed.h"

bool sched_find_place(struct sched *s, uint32_t job)
{
    bool found = s->jobs[job].tier != TIER_BATCH || quota_allows(s, job);

    for (const struct feature *const *f = s->hooks.allows; *f && found; f++)
        found = (*f)->allows(s, job);
    if (!found)
        return false;
    for (const struct feature *const *f = s->hooks.narrows; *f; f++)
        (*f)->narrows(s, job);
    found = speed_find(s, job);
    s->capacity.keep = NULL;
    for (const struct feature *const *f = s->hooks.accepts; *f && found; f++)
        found = (*f)->accepts(s, job);
    return found;
}

int sched_free_place(struct sched *s, uint32_t job, int64_t now_ms)
{
    int found = sched_find_place(s, job);

    for (const struct feature *const *f = s->hooks.frees; *f && found == 0; f++)
        found = (*f)->frees(s, job, now_ms);
    if (found == 0)
        found = idle_reclaim(s, job, now_ms);
    return found == 0 && s->elastic.jobs ? elastic_find(s, job, now_ms) : found;
}

bool sched_possible(struct sched *s, uint32_t job)
{
    assert(s->n_running == 0);
    return sched_find_place(s, job) || (s->elastic.jobs && elastic_possible(s, job));
}
