#include "sched/elastic.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sched/expected_ends.h"
#include "sched/sched_private.h"
#include "sched/state_private.h"

/* ---- opening ---- */

static bool is_elastic(const struct work *w)
{
    return w->most > 0 && !w->fixed;
}

/* Number the elastic jobs of a workload; -EINVAL for one that cannot be. */
static int find_elastic(const struct sched *s, size_t *n, struct err *e)
{
    *n = 0;
    for (size_t i = 0; i < s->work->n_jobs; i++) {
        const struct work *w = &s->work->jobs[i];

        *n += is_elastic(w);
        if (is_elastic(w) && w->speeds)
            return err_set(e, -EINVAL,
                           "job %s is elastic and has speeds by kinds: [elastic] does not go with "
                           "both",
                           w->name);
    }
    return 0;
}

int elastic_open(struct sched *s, struct err *e)
{
    struct elastic *x = &s->elastic;
    struct arena *a = &s->arena;
    size_t elastic, n = s->work->n_jobs;

    if (!s->policy.elastic.on)
        return 0;
    if (find_elastic(s, &elastic, e) < 0)
        return -EINVAL;
    if (elastic == 0)
        return 0;
    x->now = arena_alloc(a, n * sizeof(*x->now));
    x->list = arena_alloc(a, elastic * sizeof(*x->list));
    x->wants = arena_alloc(a, elastic * sizeof(*x->wants));
    x->keep.parts = arena_alloc(a, (s->pool->n_nodes + 1) * sizeof(*x->keep.parts));
    x->jobs = arena_alloc(a, n * sizeof(*x->jobs));
    if (!x->now || !x->list || !x->wants || !x->keep.parts || !x->jobs)
        return err_nomem(e);
    memcpy(x->now, s->work->jobs, n * sizeof(*x->now));
    for (size_t i = 0; i < n; i++)
        x->jobs[i].asked = is_elastic(&x->now[i]) ? x->now[i].devices : 0;
    x->seen = *s->work;
    x->seen.jobs = x->now;
    s->work = &x->seen;
    return 0;
}

int32_t elastic_asked(const struct sched *s, uint32_t job)
{
    if (s->elastic.jobs && s->elastic.jobs[job].asked)
        return s->elastic.jobs[job].asked;
    return s->work->jobs[job].devices;
}

/* ---- numbers of devices ---- */

int32_t elastic_above(const struct sched *s, uint32_t job, int32_t devices)
{
    const struct work *w = &s->work->jobs[job];
    int32_t asked = s->elastic.jobs[job].asked, next = devices + 1;

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
    int32_t asked = s->elastic.jobs[job].asked, next = devices - 1;

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

void elastic_set(struct sched *s, uint32_t job, int32_t devices)
{
    s->elastic.now[job].devices = devices;
}

void elastic_suppose(struct sched *s, uint32_t job, int32_t devices)
{
    quota_count(s, job, -1);
    elastic_set(s, job, devices);
    quota_count(s, job, 1);
}

/* ---- what happens to a job ---- */

/* What is left of its work takes otherwise long; what is left of its start does not. */
static void scale(struct sched_job *j, const struct elastic_job *e, double by)
{
    if (j->left_ms != WORK_UNKNOWN && j->left_ms > e->fresh_ms)
        j->left_ms = e->fresh_ms + (int64_t)ceil((double)(j->left_ms - e->fresh_ms) * by);
}

static double pace(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return work_pace(w, s->elastic.jobs[job].asked, w->devices);
}

/* It is among those that run, since then. */
static void list(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct elastic_job *e = &s->elastic.jobs[job];

    e->since_ms = since_ms;
    e->pass = 0;
    e->at = (uint32_t)s->elastic.n;
    s->elastic.list[s->elastic.n++] = job;
}

void elastic_start(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct elastic_job *e = &s->elastic.jobs[job];

    if (!e->asked)
        return;
    list(s, job, now_ms);
    scale(&s->jobs[job], e, 1 / pace(s, job));
}

void elastic_take_up(struct sched *s, uint32_t job, int64_t since_ms, const struct fit *where)
{
    int32_t devices = 0;

    if (!s->elastic.jobs[job].asked)
        return;
    for (uint32_t i = 0; i < where->n; i++)
        devices += __builtin_popcount(where->parts[i].devices);
    elastic_set(s, job, devices);
    list(s, job, since_ms);
}

void elastic_progress(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct elastic_job *e = &s->elastic.jobs[job];

    e->fresh_ms = MAX(e->fresh_ms - (now_ms - s->jobs[job].since_ms), 0);
}

void elastic_stop(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct elastic *x = &s->elastic;
    struct elastic_job *e = &x->jobs[job];
    uint32_t last;

    if (!e->asked)
        return;
    elastic_progress(s, job, now_ms);
    scale(&s->jobs[job], e, pace(s, job));
    last = x->list[--x->n];
    x->list[e->at] = last;
    x->jobs[last].at = e->at;
    elastic_set(s, job, e->asked);
}

void elastic_pay(struct sched *s, uint32_t job, int64_t cost_ms)
{
    s->elastic.jobs[job].fresh_ms += cost_ms;
}

int elastic_resize(struct sched *s, const struct action *why, int32_t devices,
                   const struct fit *place, int64_t now_ms)
{
    struct elastic_job *e = &s->elastic.jobs[why->job];
    struct sched_job *j = &s->jobs[why->job];
    struct work *w = &s->elastic.now[why->job];
    bool again = e->pass == s->elastic.pass; /* it pays for this start already */
    struct action a = *why;

    a.kind = ACTION_RESIZE;
    a.before = w->devices;
    a.devices = devices;
    a.until_ms = again ? 0 : elastic_cost(s, a.job, w->devices, devices);
    if (s->ends)
        expected_ends_remove(s, a.job);
    state_count_user(s, a.job, now_ms, -1);
    quota_count(s, a.job, -1);
    j->attained_ms = sched_job_attained(j, w, now_ms);
    j->left_ms = sched_job_left(j, now_ms);
    free_capacity_give(&s->capacity, w, j->part);
    elastic_stop(s, a.job, now_ms);
    elastic_pay(s, a.job, a.until_ms);
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms += a.until_ms;
    elastic_set(s, a.job, devices);
    if (free_capacity_take(&s->capacity, w, place, &j->part) < 0)
        return -ENOMEM;
    elastic_start(s, a.job, now_ms);
    quota_count(s, a.job, 1);
    state_count_user(s, a.job, now_ms, 1);
    j->since_ms = now_ms;
    if (s->ends)
        expected_ends_add(s, a.job);
    s->promise.job = WAITING_NONE;
    e->pass = s->elastic.pass;
    if (again) {
        s->actions[e->action].devices = devices;
        return 0;
    }
    e->action = s->n_actions;
    return state_note(s, &a);
}

void elastic_begin(struct sched *s)
{
    struct elastic *x = &s->elastic;

    x->pass++;
    x->spare = 0;
    for (size_t i = 0; i < x->n && s->policy.elastic.give; i++)
        x->spare += x->now[x->list[i]].devices - x->now[x->list[i]].least;
}
