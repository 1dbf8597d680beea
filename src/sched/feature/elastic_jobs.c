#include <errno.h>
#include <math.h>

#include "sched/core/action.h"
#include "sched/feature/elastic_private.h"
#include "sched/core/expected_ends.h"
#include "sched/feature/quota.h"
#include "sched/core/state.h"

/* ---- numbers of devices ---- */

int32_t elastic_above(const struct sched *s, uint32_t job, int32_t devices)
{
    const struct work *w = &s->work->jobs[job];
    int32_t asked = s->elastic->jobs[job].asked, next = devices + 1;

    if (w->per_node)
        next = devices + w->per_node;
    else if (devices >= s->pool->most)
        next = (devices / s->pool->most + 1) * s->pool->most;
    if (devices < asked)
        next = MIN(next, asked);
    return devices < w->most ? MIN(next, w->most) : 0;
}

int32_t elastic_below(const struct sched *s, uint32_t job, int32_t devices)
{
    const struct work *w = &s->work->jobs[job];
    int32_t asked = s->elastic->jobs[job].asked, next = devices - 1;

    if (w->per_node)
        next = devices - w->per_node;
    else if (devices > s->pool->most)
        next = (devices - 1) / s->pool->most * s->pool->most;
    if (devices > asked)
        next = MAX(next, asked);
    return devices > w->least ? MAX(next, w->least) : 0;
}

int64_t elastic_cost(const struct sched *s, uint32_t job, int32_t from, int32_t to)
{
    const struct work *w = &s->work->jobs[job];

    if (w->restart_ms >= 0)
        return w->restart_ms;
    return MAX(from, to) > s->pool->most ? s->policy.restart_multi_ms : s->policy.restart_ms;
}

/* CPUs are for devices, and in whole ones where whole ones were asked for. Of a job on several
 * nodes each has as many as before. */
static int32_t cpus_of(const struct sched *s, uint32_t job, int32_t devices)
{
    const struct elastic_job *e = &s->elastic->jobs[job];
    int64_t unit = e->cpus_milli % WORK_WHOLE ? 1 : WORK_WHOLE;
    int64_t on_node = MIN(devices, s->pool->most);

    if (!e->asked || e->asked > s->pool->most || devices == e->asked)
        return e->cpus_milli;
    return (int32_t)((e->cpus_milli / unit * on_node + e->asked - 1) / e->asked * unit);
}

void elastic_set(struct sched *s, uint32_t job, int32_t devices)
{
    s->elastic->now[job].devices = devices;
    s->elastic->now[job].cpus_milli = cpus_of(s, job, devices);
}

void elastic_suppose(struct sched *s, uint32_t job, int32_t devices)
{
    quota_count(s, job, -1);
    elastic_set(s, job, devices);
    quota_count(s, job, 1);
}

/* ---- what happens to a job ---- */

/* What is left of its work takes otherwise long; what is left of its start does not. */
static void scale(struct sched_job *j, double by)
{
    if (j->left_ms != WORK_UNKNOWN && j->left_ms > j->owed_ms)
        j->left_ms = j->owed_ms + (int64_t)ceil((double)(j->left_ms - j->owed_ms) * by);
}

static double pace(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return work_pace(w, s->elastic->jobs[job].asked, w->devices);
}

void elastic_list(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct elastic_job *e = &s->elastic->jobs[job];

    e->since_ms = since_ms;
    e->pass = 0;
    e->at = (uint32_t)s->elastic->n;
    s->elastic->list[s->elastic->n++] = job;
}

void elastic_scale(struct sched *s, uint32_t job)
{
    scale(&s->jobs[job], 1 / pace(s, job));
}

void elastic_unlist(struct sched *s, uint32_t job)
{
    struct elastic *x = s->elastic;
    struct elastic_job *e = &x->jobs[job];
    uint32_t last;

    scale(&s->jobs[job], pace(s, job));
    last = x->list[--x->n];
    x->list[e->at] = last;
    x->jobs[last].at = e->at;
    elastic_set(s, job, e->asked);
}

int elastic_resize(struct sched *s, const struct action *why, int32_t devices,
                   const struct fit *place, int64_t now_ms)
{
    struct elastic_job *e = &s->elastic->jobs[why->job];
    struct sched_job *j = &s->jobs[why->job];
    struct work *w = &s->elastic->now[why->job];
    bool again = e->pass == s->elastic->pass; /* it pays for this start already */
    struct action a = *why;
    int64_t owes;

    a.kind = ACTION_RESIZE;
    a.before = w->devices;
    a.devices = devices;
    a.until_ms = elastic_cost(s, a.job, w->devices, devices);
    if (s->ends)
        expected_ends_remove(s, a.job);
    state_count_user(s, a.job, now_ms, -1);
    quota_count(s, a.job, -1);
    j->attained_ms = sched_job_attained(j, w, now_ms);
    j->left_ms = sched_job_left(j, now_ms);
    j->owed_ms = state_owed_ms(s, a.job, now_ms);
    free_capacity_give(&s->capacity, w, j->part);
    elastic_unlist(s, a.job);
    owes = again ? j->owed_ms : policy_owes_ms(&s->policy, a.until_ms, j->owed_ms);
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms += owes - j->owed_ms;
    j->owed_ms = owes;
    elastic_set(s, a.job, devices);
    if (free_capacity_take(&s->capacity, w, place, &j->part) < 0)
        return -ENOMEM;
    elastic_list(s, a.job, now_ms);
    elastic_scale(s, a.job);
    quota_count(s, a.job, 1);
    state_count_user(s, a.job, now_ms, 1);
    j->since_ms = now_ms;
    if (s->ends)
        expected_ends_add(s, a.job);
    s->promise.job = WAITING_NONE;
    e->pass = s->elastic->pass;
    if (again) {
        s->actions[e->action].devices = devices;
        return 0;
    }
    e->action = s->n_actions;
    return state_note(s, &a);
}
