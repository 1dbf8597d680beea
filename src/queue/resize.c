#include "queue/resize.h"

#include <stdio.h>

/* The first n of a list. */
static void cut(char *slots, int n)
{
    const char *at = slots;

    while (n-- > 0)
        (void)queue_slots_next(&at);
    slots[at - slots - (at > slots && at[-1] == ',')] = 0;
}

void queue_resize_next(const struct queue_plan *p, const struct action *a,
                       const struct queue_job *j, int *cpus, char next[QUEUE_SLOTS])
{
    int n, left;

    next[0] = 0;
    if (!queue_job_stretches(j))
        return;
    if (queue_plan_runs(p, a->job)) {
        queue_plan_slots(p, a->job, next);
        return;
    }
    if (a->why == WHY_IDLE && p->scene.policy->idle.action != IDLE_SHRINK)
        return;
    left = queue_plan_left(p, j->slots, next) - *cpus;
    n = queue_slots_count(next);
    while (n >= j->least && queue_job_cpus(j, n) > left)
        n--;
    if (n < j->least)
        n = 0;
    cut(next, n);
    *cpus += n ? queue_job_cpus(j, n) : 0;
}
