#include "render/report/stats.h"

#include <errno.h>
#include <math.h>

#include "model/signal/sorted.h"

double stats_step_seconds(const struct step *s)
{
    return s->begin_ns < 0 || s->end_ns < s->begin_ns ? (double)NAN : step_seconds(s);
}

double stats_quantile(double *values, size_t n, double share)
{
    if (!n)
        return (double)NAN;
    sorted_put(values, n);
    return values[(size_t)(share * (double)(n - 1) + 0.5)];
}

/* Append the seconds of a rank's steps. */
static size_t collect(const struct run_rank *k, double *values, size_t n)
{
    for (size_t i = 0; i < k->n_steps; i++) {
        double s = stats_step_seconds(&k->steps[i]);

        if (isfinite(s))
            values[n++] = s;
    }
    return n;
}

static void set_quantiles(struct step_stats *s, double *values, size_t n)
{
    s->median_s = stats_quantile(values, n, 0.5);
    s->p90_s = stats_quantile(values, n, 0.9);
    s->best_s = stats_quantile(values, n, 0);
}

static void set_rates(const struct run_rank *k, struct step_stats *s)
{
    double seconds;

    s->steps = k->total.number ? (double)k->total.number : (double)k->n_steps;
    if (!k->n_steps)
        return;
    seconds = ((double)k->steps[k->n_steps - 1].end_ns - (double)k->steps[0].begin_ns) * 1e-9;
    if (seconds <= 0)
        return;
    s->steps_per_s = s->steps / seconds;
    s->samples_per_s = k->total.samples / seconds;
}

static struct step_stats stats_of_none(void)
{
    return (
        struct step_stats){ (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, 0 };
}

int step_stats_rank(const struct run_rank *k, struct step_stats *ret)
{
    CLEANUP(freep) double *values = calloc(k->n_steps + 1, sizeof(*values));

    if (!values)
        return -ENOMEM;
    *ret = stats_of_none();
    set_quantiles(ret, values, collect(k, values, 0));
    set_rates(k, ret);
    return 0;
}

int step_stats_run(const struct run *r, struct step_stats *ret)
{
    CLEANUP(freep) double *values = NULL;
    size_t room = 1, n = 0, rated = 0;
    double steps_per_s = 0, samples_per_s = 0;

    for (size_t i = 0; i < r->n_ranks; i++)
        room += r->ranks[i].n_steps;
    values = calloc(room, sizeof(*values));
    if (!values)
        return -ENOMEM;
    *ret = stats_of_none();
    for (size_t i = 0; i < r->n_ranks; i++) {
        struct step_stats one = stats_of_none();

        n = collect(&r->ranks[i], values, n);
        set_rates(&r->ranks[i], &one);
        ret->steps += one.steps;
        if (isnan(one.steps_per_s))
            continue;
        steps_per_s += one.steps_per_s;
        samples_per_s += one.samples_per_s;
        rated++;
    }
    set_quantiles(ret, values, n);
    if (rated) {
        ret->steps_per_s = steps_per_s / (double)rated;
        ret->samples_per_s = samples_per_s;
    }
    return 0;
}

double stats_signal(const struct run *r, enum run_signal s)
{
    double sum = 0, seconds = 0;

    for (size_t i = 0; i < r->n_moments; i++) {
        const struct run_moment *m = &r->moments[i];

        if (!isfinite(m->values[s]) || !isfinite(m->seconds) || m->seconds <= 0)
            continue;
        sum += m->values[s] * m->seconds;
        seconds += m->seconds;
    }
    return seconds > 0 ? sum / seconds : (double)NAN;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct run_rank *x = *(const struct run_rank *const *)a;
    const struct run_rank *y = *(const struct run_rank *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x > y) - (x < y);
}

const struct run_rank **stats_ranks(const struct run *r)
{
    const struct run_rank **list = calloc(r->n_ranks + 1, sizeof(void *));

    if (!list)
        return NULL;
    for (size_t i = 0; i < r->n_ranks; i++)
        list[i] = &r->ranks[i];
    qsort(list, r->n_ranks, sizeof(void *), compare_ranks);
    return list;
}
