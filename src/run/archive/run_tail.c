#include "run/archive/run_tail.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
    return ((double)to_ns - (double)from_ns) / 1e9;
}

/* The newest that is known. */
static int64_t newest(const struct run *r)
{
    int64_t ns = INT64_MIN;

    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps)
            ns = MAX(ns, r->ranks[i].steps[r->ranks[i].n_steps - 1].end_ns);
    if (r->n_moments)
        ns = MAX(ns, r->moments[r->n_moments - 1].monotonic_ns);
    return ns;
}

/* Where the last steps of a rank begin, of the one that is furthest on: one that ended early does
 * not stretch the window. */
static int64_t begin_of_last(const struct run *r)
{
    int64_t ns = INT64_MIN;

    for (size_t i = 0; i < r->n_ranks; i++) {
        const struct run_rank *k = &r->ranks[i];

        if (k->n_steps)
            ns = MAX(ns, k->steps[k->n_steps - MIN(k->n_steps, (size_t)WINDOW_STEPS)].begin_ns);
    }
    return ns;
}

static void cut_rank(struct run_rank *k, int64_t from_ns, struct run_tail *w)
{
    size_t at = 0;

    while (at < k->n_steps && k->steps[at].begin_ns < from_ns)
        at++;
    k->n_steps -= at;
    k->dropped += at;
    if (at)
        memmove(k->steps, k->steps + at, k->n_steps * sizeof(*k->steps));
    for (size_t i = 0; i < k->n_steps; i++)
        w->longest_s = fmax(w->longest_s, step_seconds(&k->steps[i]));
}

void run_tail_cut(struct run *r, double seconds, int64_t now_ns, struct run_tail *ret)
{
    int64_t last_ns = begin_of_last(r), kept_ns = newest(r), end_ns = INT64_MIN, from_ns;
    size_t at = 0;

    *ret = (struct run_tail){ (double)NAN, (double)NAN, (double)NAN };
    if (now_ns == INT64_MIN)
        now_ns = kept_ns;
    if (now_ns == INT64_MIN)
        return;
    from_ns = now_ns - clock_ns(seconds);
    if (last_ns != INT64_MIN)
        from_ns = MIN(from_ns, last_ns);
    for (size_t i = 0; i < r->n_ranks; i++) {
        const struct run_rank *k = &r->ranks[i];

        end_ns = k->n_steps ? MAX(end_ns, k->steps[k->n_steps - 1].end_ns) : end_ns;
        cut_rank(&r->ranks[i], from_ns, ret);
    }
    while (at < r->n_moments && r->moments[at].monotonic_ns <= from_ns)
        at++;
    r->n_moments -= at;
    if (at)
        memmove(r->moments, r->moments + at, r->n_moments * sizeof(*r->moments));
    ret->seconds = seconds_between(from_ns, now_ns);
    if (r->n_moments && at == 0) /* it began within the window */
        ret->seconds = fmin(ret->seconds, seconds_between(r->moments[0].monotonic_ns, now_ns) +
                                              r->moments[0].seconds);
    /* what came behind the last moment is not kept yet */
    if (end_ns != INT64_MIN)
        ret->still_s = fmax(0, seconds_between(end_ns, kept_ns));
}
