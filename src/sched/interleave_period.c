#include "sched/interleave_period.h"

#include <assert.h>
#include <math.h>

enum { READ, COMPUTE, TALK, SLOTS = 4, TWO_ROUNDS = 2 * SLOTS };

/* What a step takes beyond its stages, measured by Muri's authors with 1 to 4 jobs on the same
 * devices (github.com/Rivendile/Muri, simulator/jobs.py, Apache-2.0). */
static const double costs[INTERLEAVE_JOBS] = { 1.015, 1.33, 1.5, 1.37 };

/* A round has four slots. The job of turn k talks in slot k - 1, computes in slot k - 2, and reads
 * in slots k - 4 and k - 3, each modulo 4: so two jobs may read at a time, and one compute. A slot
 * ends when all that ends in it has. From the second round on they take nearly the same time. */
static double one_order(const struct work *const turn[SLOTS])
{
    static const double same = 1e-3;
    double end[TWO_ROUNDS + 1] = { 0 };

    for (int i = 0; i < TWO_ROUNDS; i++) {
        const struct work *talks = turn[(i + 1) % SLOTS], *computes = turn[(i + 2) % SLOTS];
        const struct work *reads = turn[(i + 3) % SLOTS];
        double now, before;

        if (talks)
            end[i + 1] = fmax(end[i + 1], end[i] + (double)talks->stage_ms[TALK]);
        if (computes)
            end[i + 1] = fmax(end[i + 1], end[i] + (double)computes->stage_ms[COMPUTE]);
        if (reads && i > 0)
            end[i + 1] = fmax(end[i + 1], end[i - 1] + (double)reads->stage_ms[READ]);
        if (i < SLOTS)
            continue;
        now = end[i + 1] - end[i + 1 - SLOTS];
        before = end[i] - end[i - SLOTS];
        if (fabs(now - before) <= same * fmax(now, before))
            return now;
    }
    return end[TWO_ROUNDS] - end[TWO_ROUNDS - SLOTS];
}

/* Two that need not wait for slots of others: one reads while the other one does the rest. */
static double by_halves(const struct work *a, const struct work *b)
{
    return (double)fmaxf(a->stage_ms[READ], b->stage_ms[COMPUTE] + b->stage_ms[TALK]) +
           (double)fmaxf(b->stage_ms[READ], a->stage_ms[COMPUTE] + a->stage_ms[TALK]);
}

/* The best of all orders from turn 'from' on. */
static double best_order(const struct work *turn[SLOTS], int from, int n)
{
    double best = (double)INFINITY;

    if (from == n)
        return one_order(turn);
    for (int i = from; i < n; i++) {
        const struct work *first = turn[from];

        turn[from] = turn[i];
        turn[i] = first;
        best = fmin(best, best_order(turn, from + 1, n));
        turn[i] = turn[from];
        turn[from] = first;
    }
    return best;
}

double interleave_period(const struct work *const *jobs, int n)
{
    const struct work *turn[SLOTS] = { NULL };
    double best;

    assert(n >= 1 && n <= SLOTS);
    if (n == 1)
        return interleave_period_alone(jobs[0]);
    for (int i = 0; i < n; i++)
        turn[i] = jobs[i];
    best = best_order(turn, 0, n);
    if (n == 2)
        best = fmin(best, by_halves(jobs[0], jobs[1]));
    return best * costs[n - 1] / costs[0];
}

double interleave_period_alone(const struct work *w)
{
    return (double)w->step_ms * costs[0];
}
