#include <assert.h>

#include "sched/sched_private.h"
#include "sched/speed.h"

bool sched_find_place(struct sched *s, uint32_t job)
{
    bool found = s->tiers.on ? tiers_find(s, job) : quota_allows(s, job) && speed_find(s, job);

    for (const struct feature *const *f = s->hooks.accepts; *f && found; f++)
        found = (*f)->accepts(s, job);
    return found;
}

bool sched_possible(struct sched *s, uint32_t job)
{
    assert(s->n_running == 0);
    return sched_find_place(s, job) || (s->elastic.jobs && elastic_possible(s, job));
}
