#include "engine/sim_stats.h"

#include <math.h>

enum { SIZES = 4 };
static const char *const sizes[SIZES] = { "1", "2-7", "8", ">8" };

void sim_stats_done(struct sim_stats *s)
{
    arena_done(&s->arena);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Of sorted values. */
static double quantile(const double *values, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;

    if (below + 1 >= n)
        return values[n - 1];
    return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
}

static double mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static size_t size_of(const struct work *w)
{
    return w->devices <= 1 ? 0 : w->devices < 8 ? 1 : w->devices == 8 ? 2 : 3;
}

/* Which group a job is of. */
static size_t group_of(const struct workload *work, size_t job)
{
    const struct work *w = &work->jobs[job];

    return work->classes.n > 1 ? (size_t)(w->class + 1) : size_of(w);
}

struct values {
    double *completion, *wait;
    size_t n;
};

static void summarise(struct sim_group *g, struct values *v)
{
    g->jobs = v->n;
    if (v->n == 0)
        return;
    qsort(v->completion, v->n, sizeof(double), compare);
    qsort(v->wait, v->n, sizeof(double), compare);
    g->completion = mean(v->completion, v->n);
    g->completion_p50 = quantile(v->completion, v->n, 0.5);
    g->completion_p99 = quantile(v->completion, v->n, 0.99);
    g->wait = mean(v->wait, v->n);
    g->wait_p50 = quantile(v->wait, v->n, 0.5);
    g->wait_p90 = quantile(v->wait, v->n, 0.9);
    g->wait_p99 = quantile(v->wait, v->n, 0.99);
    g->wait_max = v->wait[v->n - 1];
}

static void collect(struct values *v, const struct sim_result *r, const struct workload *work,
                    int64_t group)
{
    v->n = 0;
    for (size_t i = 0; i < work->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];

        if (j->fate != SIM_ENDED || (group >= 0 && group_of(work, i) != (size_t)group))
            continue;
        v->completion[v->n] = (double)(j->end_ms - work->jobs[i].submit_ms) / 1e3;
        v->wait[v->n++] = (double)j->wait_ms / 1e3;
    }
}

static double share(double used, const struct pool *pool, int64_t ms)
{
    return ms > 0 ? used / ((double)pool->devices * (double)ms) : (double)NAN;
}

int sim_stats_make(struct sim_stats *ret, const struct sim_result *r, const struct pool *pool,
                   const struct workload *work, struct err *e)
{
    struct sim_stats s = { .by = work->classes.n > 1 ? "class" : "devices" };
    size_t n = work->classes.n > 1 ? work->classes.n + 1 : SIZES;
    CLEANUP(freep) double *completion = calloc(work->n_jobs + 1, sizeof(*completion));
    CLEANUP(freep) double *wait = calloc(work->n_jobs + 1, sizeof(*wait));
    struct values v = { completion, wait, 0 };

    s.groups = arena_alloc(&s.arena, n * sizeof(*s.groups));
    if (!s.groups || !completion || !wait) {
        sim_stats_done(&s);
        return err_nomem(e);
    }
    s.all.name = "all";
    collect(&v, r, work, -1);
    summarise(&s.all, &v);
    for (size_t i = 0; i < n; i++) {
        struct sim_group *g = &s.groups[s.n_groups];

        collect(&v, r, work, (int64_t)i);
        if (v.n == 0)
            continue;
        summarise(g, &v);
        if (work->classes.n > 1)
            g->name = i ? work->classes.names[i - 1] : "-";
        else
            g->name = sizes[i];
        s.n_groups++;
    }
    s.allocated = share(r->used, pool, r->submitted_ms);
    s.allocated_all = share(r->used_all, pool, r->end_ms);
    *ret = s;
    return 0;
}
