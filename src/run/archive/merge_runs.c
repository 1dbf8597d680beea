#include "run/archive/merge_runs.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/clock.h"

static void add_told(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

/* A mean of two groups of so many; NaN counts as none. */
static double mean_of(double a, double n_a, double b, double n_b)
{
    if (isnan(a) || !(n_a > 0))
        return b;
    if (isnan(b) || !(n_b > 0))
        return a;
    return (a * n_a + b * n_b) / (n_a + n_b);
}

static void take_off(double *from, double value)
{
    if (!isnan(value))
        *from = *from > value ? *from - value : 0;
}

static void add_moment(struct run_moment *into, const struct run_moment *m)
{
    double *x = into->values, workers = x[RUN_WORKERS];
    const double *y = m->values;

    double pss = x[RUN_JOB_PSS] + y[RUN_JOB_PSS]; /* of one part alone it is none */

    for (int s = RUN_JOB_PROCESSES; s <= RUN_JOB_PREEMPTIONS; s++)
        add_told(&x[s], y[s]);
    x[RUN_JOB_PSS] = pss;
    x[RUN_RANK_CPU] = mean_of(x[RUN_RANK_CPU], 1, y[RUN_RANK_CPU], 1);
    x[RUN_WORKER_CPU] = mean_of(x[RUN_WORKER_CPU], workers, y[RUN_WORKER_CPU], y[RUN_WORKERS]);
    x[RUN_WORKER_IO_WAIT] = mean_of(x[RUN_WORKER_IO_WAIT], workers, y[RUN_WORKER_IO_WAIT],
                                    y[RUN_WORKERS]);
    add_told(&x[RUN_WORKERS], y[RUN_WORKERS]);
    take_off(&x[RUN_OTHER_CPU], y[RUN_JOB_CPU]);
    take_off(&x[RUN_OTHER_READ], y[RUN_JOB_READ]);
    take_off(&x[RUN_OTHER_WRITE], y[RUN_JOB_WRITE]);
}

/* Both are in the order of time: each moment goes to the nearest one of the first part. */
static void add_moments(struct run *r, const struct run *more)
{
    size_t at = 0;

    for (size_t i = 0; i < r->n_moments; i++) {
        struct run_moment *m = &r->moments[i];
        double best = m->seconds * 0.75;
        const struct run_moment *near = NULL;

        while (at + 1 < more->n_moments &&
               more->moments[at + 1].wall_ns <= m->wall_ns - clock_ns(best))
            at++;
        for (size_t k = at; k < more->n_moments && k < at + 3; k++) {
            double apart = fabs((double)(more->moments[k].wall_ns - m->wall_ns)) / 1e9;

            if (apart < best) {
                best = apart;
                near = &more->moments[k];
            }
        }
        if (near)
            add_moment(m, near);
    }
}

/* A rank that is there already: an observer on another host was told of it (run/meet/), and the one
 * beside it has stored it as well. */
static struct run_rank *same_rank(struct run *r, const struct run_rank *from)
{
    for (size_t i = 0; i < r->n_ranks; i++) {
        struct run_rank *k = &r->ranks[i];

        if (k->pid > 0 && k->pid == from->pid && k->rank == from->rank && k->host && from->host &&
            !strcmp(k->host, from->host))
            return k;
    }
    return NULL;
}

/* Of two the one counts that has more steps: a wire may have been cut. */
static int copy_rank(struct run *r, const struct run_rank *from, int64_t shift_ns)
{
    struct run_rank *to = same_rank(r, from);

    if (to && to->total.number >= from->total.number)
        return 0;
    if (!to)
        to = ARENA_PUSH(&r->arena, &r->ranks, &r->n_ranks);
    if (!to)
        return -ENOMEM;
    *to = *from;
    to->notes = NULL;
    to->n_notes = to->notes_room = 0;
    to->host = arena_strdup(&r->arena, from->host);
    to->framework = arena_strdup(&r->arena, from->framework);
    to->steps = from->n_steps ? arena_alloc(&r->arena, from->n_steps * sizeof(*to->steps)) : NULL;
    if (!to->host || !to->framework || (from->n_steps && !to->steps))
        return -ENOMEM;
    to->total.begin_ns += shift_ns;
    to->total.end_ns += shift_ns;
    for (size_t i = 0; i < from->n_steps; i++) {
        to->steps[i] = from->steps[i];
        to->steps[i].begin_ns += shift_ns;
        to->steps[i].end_ns += shift_ns;
    }
    for (size_t i = 0; i < from->n_notes; i++) {
        struct run_note *note = ARENA_PUSH(&r->arena, &to->notes, &to->n_notes);

        if (!note)
            return -ENOMEM;
        note->name = arena_strdup(&r->arena, from->notes[i].name);
        note->value = arena_strdup(&r->arena, from->notes[i].value);
        if (!note->name || !note->value)
            return -ENOMEM;
    }
    return 0;
}

/* Running before lost before what ended; a failure stays. */
static void add_end(struct run *r, const struct run *more)
{
    static const int weight[] = {
        [RUN_RUNNING] = 3, [RUN_LOST] = 2, [RUN_KILLED] = 1, [RUN_EXITED] = 0
    };

    if (weight[more->end] > weight[r->end] || (more->end == r->end && r->status == 0)) {
        r->end = more->end;
        r->status = more->status;
    }
    r->end_ns = r->end == RUN_RUNNING ? 0 : MAX(r->end_ns, more->end_ns);
}

static int add_lines(struct run *r, const struct run *more)
{
    if (!more->lines)
        return 0;
    if (!r->lines)
        r->lines = arena_alloc(&r->arena, sizeof(*r->lines));
    if (!r->lines)
        return -ENOMEM;
    lines_merge(r->lines, more->lines);
    return 0;
}

int merge_runs_add(struct run *r, const struct archive_part *first, const struct run *more,
                   const struct archive_part *about)
{
    bool same = !strcmp(first->host, about->host);
    int64_t shift_ns = 0;

    if (!same && __builtin_sub_overflow(about->offset_ns, first->offset_ns, &shift_ns))
        shift_ns = 0;
    if (shift_ns > INT64_MAX / 4 || shift_ns < -(INT64_MAX / 4))
        shift_ns = 0;
    add_end(r, more);
    if (same)
        add_moments(r, more);
    for (size_t i = 0; i < more->n_ranks; i++)
        if (copy_rank(r, &more->ranks[i], shift_ns) < 0)
            return -ENOMEM;
    if (!r->inferred && more->inferred) {
        r->inferred = arena_strdup(&r->arena, more->inferred);
        r->inferred_confidence = more->inferred_confidence;
        if (!r->inferred)
            return -ENOMEM;
    }
    return add_lines(r, more);
}
