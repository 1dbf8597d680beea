#include "sched/core/speed.h"

#include "sched/place/place.h"

#include <math.h>

/* The kinds on which a job has the highest speed that is below a limit; 0: none. */
static uint64_t kinds_below(const struct sched *s, const struct work *w, double limit,
                            double *speed)
{
    uint64_t found = 0;
    double best = 0;

    for (unsigned kind = 0; kind < s->pool->n_kinds; kind++) {
        double made = work_speed(s->work, w, kind);

        if (!(w->kinds >> kind & 1) || made >= limit || made < best)
            continue;
        found = (made > best ? 0 : found) | 1ULL << kind;
        best = made;
    }
    *speed = best;
    return found;
}

/* On the fastest kinds first. */
static bool find_fastest(struct sched *s, const struct work *w)
{
    struct work only = *w;
    double limit = (double)INFINITY;

    while ((only.kinds = kinds_below(s, w, limit, &limit)))
        if (s->policy.place->find(&s->capacity, &only, &s->fit))
            return true;
    return false;
}

bool speed_find(struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    if (!w->speeds || (s->policy.kinds == KINDS_PLACED && w->devices <= s->pool->most))
        return s->policy.place->find(&s->capacity, w, &s->fit);
    return find_fastest(s, w);
}

static void scale(struct sched_job *j, double by)
{
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = (int64_t)ceil((double)j->left_ms * by);
    j->owed_ms = (int64_t)ceil((double)j->owed_ms * by);
}

void speed_start(struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];
    struct sched_job *j = &s->jobs[job];

    if (!w->speeds || s->fit.n == 0)
        return;
    j->speed = (float)work_speed(s->work, w, s->pool->nodes[s->fit.parts[0].node].kind);
    scale(j, 1 / (double)j->speed);
}

void speed_stop(struct sched *s, uint32_t job)
{
    if (s->work->jobs[job].speeds)
        scale(&s->jobs[job], (double)s->jobs[job].speed);
}

int64_t speed_longest(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];
    int64_t left = s->jobs[job].left_ms;
    double slowest = (double)INFINITY;

    if (left == WORK_UNKNOWN)
        return left;
    if (!w->speeds)
        return left;
    for (unsigned kind = 0; kind < s->pool->n_kinds; kind++)
        if (w->kinds >> kind & 1)
            slowest = fmin(slowest, work_speed(s->work, w, kind));
    return (int64_t)ceil((double)left / slowest);
}

int64_t speed_shortest(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];
    int64_t left = s->jobs[job].left_ms;
    double fastest = 0;

    if (!w->speeds || left == WORK_UNKNOWN)
        return left;
    for (unsigned kind = 0; kind < s->pool->n_kinds; kind++)
        if (w->kinds >> kind & 1)
            fastest = fmax(fastest, work_speed(s->work, w, kind));
    return fastest > 0 ? (int64_t)ceil((double)left / fastest) : left;
}
