#include "sched/feature/elastic.h"

#include <errno.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/feature/elastic_private.h"
#include "sched/core/reason_text.h"
#include "sched/core/state.h"

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

static int open_elastic(struct sched *s, struct err *e)
{
    struct arena *a = &s->arena;
    size_t elastic, n = s->work->n_jobs;
    struct elastic *x;

    if (!s->policy.elastic.on)
        return 0;
    if (find_elastic(s, &elastic, e) < 0)
        return -EINVAL;
    if (elastic == 0)
        return 0;
    x = arena_alloc(a, sizeof(*x));
    if (!x)
        return err_nomem(e);
    x->now = arena_alloc(a, n * sizeof(*x->now));
    x->list = arena_alloc(a, elastic * sizeof(*x->list));
    x->wants = arena_alloc(a, elastic * sizeof(*x->wants));
    x->keep.parts = arena_alloc(a, s->pool->n_nodes * sizeof(*x->keep.parts));
    x->jobs = arena_alloc(a, n * sizeof(*x->jobs));
    if (!x->now || !x->list || !x->wants || !x->keep.parts || !x->jobs)
        return err_nomem(e);
    memcpy(x->now, s->work->jobs, n * sizeof(*x->now));
    for (size_t i = 0; i < n; i++) {
        x->jobs[i].asked = is_elastic(&x->now[i]) ? x->now[i].devices : 0;
        x->jobs[i].cpus_milli = x->now[i].cpus_milli;
    }
    x->seen = *s->work;
    x->seen.jobs = x->now;
    s->work = &x->seen;
    s->elastic = x;
    return 1;
}

bool elastic_resizes(const struct sched *s)
{
    return s->elastic != NULL;
}

/* ---- what happens to a job ---- */

static void starts(struct sched *s, uint32_t job, int64_t now_ms, struct action *a)
{
    (void)now_ms, (void)a;
    if (s->elastic->jobs[job].asked)
        elastic_scale(s, job);
}

static void runs(struct sched *s, uint32_t job, int64_t since_ms)
{
    if (s->elastic->jobs[job].asked)
        elastic_list(s, job, since_ms);
}

void elastic_arrive(struct sched *s, uint32_t job, const struct fit *place)
{
    int32_t devices = 0;

    if (!s->elastic || !s->elastic->jobs[job].asked)
        return;
    for (uint32_t i = 0; i < place->n; i++)
        devices += __builtin_popcount(place->parts[i].devices);
    elastic_set(s, job, devices);
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->elastic->jobs[job].asked)
        elastic_unlist(s, job);
}

/* ---- passes ---- */

static int begin(struct sched *s, int64_t now_ms)
{
    struct elastic *x = s->elastic;

    (void)now_ms;
    x->pass++;
    x->spare = 0;
    for (size_t i = 0; i < x->n && s->policy.elastic.give; i++)
        x->spare += x->now[x->list[i]].devices - x->now[x->list[i]].least;
    return 0;
}

/* Whether a job that needs more than is free could start, on fewer or on what others give. */
static int64_t could_free(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return s->elastic->spare + (elastic_starts_on_fewer(s, job) ? w->devices - w->least : 0);
}

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    if (a->why == WHY_FREE) {
        str_add(out, ": nobody waits for those that are free");
        return true;
    }
    if (a->why != WHY_GIVES)
        return false;
    str_add(out, ": ");
    reason_other(s, a->other, out);
    str_add(out, ", gets what it can do without");
    return true;
}

const struct feature feature_elastic = {
    .section = "elastic",
    .take = elastic_take,
    .check = elastic_check,
    .open = open_elastic,
    .starts = starts,
    .runs = runs,
    .stops = stops,
    .could_free = could_free,
    .frees = elastic_find,
    .begin = begin,
    .finish = elastic_grow,
    .again_ms = elastic_again,
    .reason = reason,
};
