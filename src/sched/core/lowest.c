#include "sched/core/lowest.h"

#include <errno.h>

#include "sched/core/labels.h"
#include "sched/core/scheduler.h"

int lowest_open(struct sched *s)
{
    const struct order_ops *order = s->policy.order;

    if (!s->queues || s->policy.preempt != PREEMPT_VICTIMS || order->falls || labels_are_kept(s))
        return 0;
    s->lowest.running = arena_alloc(&s->arena, (UINT16_MAX + 1) * sizeof(*s->lowest.running));
    return s->lowest.running ? 0 : -ENOMEM;
}

static int32_t priority_of(const struct sched *s, uint32_t job)
{
    return s->policy.priorities ? s->work->jobs[job].priority : 0;
}

static uint32_t *running_at(const struct sched *s, int32_t priority)
{
    return &s->lowest.running[priority - INT16_MIN];
}

void lowest_add(struct sched *s, uint32_t job)
{
    struct lowest *l = &s->lowest;
    int32_t priority = priority_of(s, job);

    if (!l->running)
        return;
    ++*running_at(s, priority);
    l->at = s->n_running == 1 ? priority : MIN(l->at, priority);
}

void lowest_remove(struct sched *s, uint32_t job)
{
    struct lowest *l = &s->lowest;

    if (!l->running)
        return;
    --*running_at(s, priority_of(s, job));
    while (s->n_running > 0 && *running_at(s, l->at) == 0)
        l->at++;
}

/* The rank of a running job is that of its queue, or whether it can meet its deadline, less what
 * its priority makes of it (state_key()). Of equal rank, those with deadlines stop each other, but
 * then there is a higher one: that of jobs without. */
bool lowest_may_stop(const struct sched *s, int32_t rank)
{
    int32_t most = s->policy.order->by_deadline ? 1 : 0;

    if (!s->lowest.running)
        return true;
    if (s->n_running == 0)
        return false;
    if (s->policy.order->keeps_ms)
        most = s->policy.n_queues;
    if (s->policy.priorities)
        most -= s->lowest.at * (POLICY_QUEUES + 1);
    return most > rank;
}
