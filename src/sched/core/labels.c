#include "sched/core/labels.h"

#include <stdlib.h>

#include "sched/core/scheduler.h"

static const uint32_t middle = 1U << 31; /* those that wait begin behind it */

bool labels_are_kept(const struct sched *s)
{
    return s->queues && s->policy.ties == TIES_LIST && s->policy.preempt != PREEMPT_NONE;
}

void labels_open(struct sched *s)
{
    if (!labels_are_kept(s))
        return;
    s->lists = middle;
    s->first_label = middle + 1;
}

static int by_label(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return order_compare(&x->key, &y->key);
}

void labels_compact(struct sched *s)
{
    uint32_t n = 0, running = 0;

    for (size_t i = 0; i < s->n_running + s->n_waiting; i++) {
        uint32_t job = i < s->n_running ? s->running[i] : s->waits[i - s->n_running];

        running += s->jobs[job].list < s->first_label;
        s->other[n++] = (struct ranked){ .key.tie = s->jobs[job].list, .job = job };
    }
    qsort(s->other, n, sizeof(*s->other), by_label);
    for (uint32_t i = 0; i < n; i++) {
        struct sched_job *j = &s->jobs[s->other[i].job];

        j->list = middle + 1 + i - running;
        if (j->state == SCHED_WAITING)
            s->waiting.nodes[s->other[i].job].key.tie = j->list;
    }
    s->lists = middle + n - running;
    s->first_label = middle + 1;
}

/* Until the next pass each job may come, return, fall, start and stop. */
void labels_pass(struct sched *s)
{
    uint64_t most = 8 * ((uint64_t)s->work->n_jobs + 1);

    if (labels_are_kept(s) && (s->first_label < most || s->lists > UINT32_MAX - most))
        labels_compact(s);
}

bool labels_fall(struct sched *s, uint32_t job, struct order_key *key)
{
    struct sched_job *j = &s->jobs[job];

    if (key->rank <= (int32_t)j->queue)
        return false;
    j->queue = (uint32_t)key->rank;
    j->list = key->tie = ++s->lists;
    return true;
}

void labels_submit(struct sched *s, uint32_t job)
{
    struct sched_job *j = &s->jobs[job];

    if (labels_are_kept(s))
        j->queue = (uint32_t)MAX((int32_t)j->queue, s->waiting.nodes[job].key.rank);
}

static bool is_numbered(const struct sched *s, uint32_t job, bool all)
{
    const struct sched_job *j = &s->jobs[job];

    return j->state == SCHED_RUNNING && (all || j->list < s->first_label);
}

void labels_number(struct sched *s, bool all)
{
    uint32_t label = s->first_label;

    for (size_t i = s->n_ranked; i-- > 0;)
        if (is_numbered(s, s->ranked[i].job, all))
            s->jobs[s->ranked[i].job].list = --label;
}

void labels_stop(struct sched *s, uint32_t job)
{
    s->first_label = MIN(s->first_label, s->jobs[job].list);
}
