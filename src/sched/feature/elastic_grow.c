/* Devices that nobody waits for go to elastic jobs: one after the other to the job that gets the
 * most of it, in numbers first; then each gets a place, as large a one as there is. */
#include <math.h>

#include "sched/core/action.h"
#include "sched/feature/elastic_private.h"
#include "sched/core/find_place.h"
#include "sched/feature/idle.h"
#include "sched/feature/quota.h"

/* ---- what it is worth ---- */

/* What a running job has left of its work, as far as that is known; else as long as it has had its
 * devices. */
static double expected(const struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct sched_job *j = &s->jobs[job];
    const struct work *w = &s->work->jobs[job];
    int64_t start = state_owed_ms(s, job, now_ms);

    if (j->left_ms != WORK_UNKNOWN)
        return (double)(sched_job_left(j, now_ms) - start);
    return (double)sched_job_attained(j, w, now_ms) / w->devices;
}

/* For how long it has to run yet so that it ends sooner with more devices, for which it pays a
 * start. */
static double worth_from(const struct sched *s, uint32_t job, int32_t devices)
{
    const struct work *w = &s->work->jobs[job];

    return (double)elastic_cost(s, job, w->devices, devices) /
           (1 - work_pace(w, devices, w->devices));
}

static bool is_worth(const struct sched *s, uint32_t job, int32_t devices, int64_t now_ms)
{
    return expected(s, job, now_ms) > worth_from(s, job, devices);
}

/* From when on more devices could be worth it; WORK_UNKNOWN: they never are. */
static int64_t grows_at(const struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    int64_t at = s->elastic->jobs[job].since_ms + s->policy.elastic.every_ms;
    double from = worth_from(s, job, w->most), has = expected(s, job, now_ms);

    if (has > from)
        return at;
    if (s->jobs[job].left_ms != WORK_UNKNOWN || !isfinite(from))
        return WORK_UNKNOWN;
    return MAX(at, now_ms + (int64_t)(from - has) + 1);
}

int64_t elastic_again(const struct sched *s, int64_t now_ms)
{
    const struct elastic *x = s->elastic;
    int64_t best = WORK_UNKNOWN;

    for (size_t i = 0; i < x->n; i++) {
        uint32_t job = x->list[i];
        const struct work *w = &x->now[job];
        int64_t at = WORK_UNKNOWN;

        if (s->n_waiting > 0) {
            if (s->policy.elastic.give && w->devices > w->least)
                at = x->jobs[job].since_ms + s->policy.elastic.every_ms;
        } else if (s->policy.elastic.grow && s->capacity.whole > 0 && w->devices < w->most) {
            at = grows_at(s, job, now_ms);
        }
        if (at > now_ms)
            best = MIN(best, at);
    }
    return best;
}

/* ---- numbers ---- */

/* What one of the next devices adds to its pace. */
static double gain(const struct sched *s, const struct elastic_want *x, int32_t next)
{
    return (work_pace(&s->work->jobs[x->job], x->target, next) - 1) / (next - x->target);
}

static void value(struct sched *s, struct elastic_want *x)
{
    int32_t next = elastic_above(s, x->job, x->target);

    x->value = next ? gain(s, x, next) : 0;
    x->short_of = x->target < s->elastic->jobs[x->job].asked;
}

/* Those with fewer devices than they asked for go first. */
static bool before(const struct elastic_want *a, const struct elastic_want *b)
{
    if (a->short_of != b->short_of)
        return a->short_of;
    if (a->value < b->value || a->value > b->value)
        return a->value > b->value;
    return a->job < b->job;
}

/* A heap whose first element may be out of place. */
static void sink(struct elastic_want *x, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        struct elastic_want swap = x[at];

        child += child + 1 < n && before(&x[child + 1], &x[child]);
        if (!before(&x[child], &x[at]))
            return;
        x[at] = x[child];
        x[child] = swap;
    }
}

static size_t growing(struct sched *s, int64_t now_ms)
{
    struct elastic *x = s->elastic;
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++) {
        uint32_t job = x->list[i];
        const struct work *w = &x->now[job];

        if (w->devices == w->most || idle_now(s, job) || grows_at(s, job, now_ms) > now_ms)
            continue;
        x->wants[n] = (struct elastic_want){ .job = job, .devices = w->devices };
        x->wants[n].target = w->devices;
        value(s, &x->wants[n++]);
    }
    return n;
}

/* Hand out devices by number. Those that get no more are moved behind the others. */
static void hand_out(struct sched *s, size_t n, int64_t free)
{
    struct elastic_want *x = s->elastic->wants;

    for (size_t i = n / 2; i-- > 0;)
        sink(x, i, n);
    while (n > 0 && free > 0) {
        int32_t next = elastic_above(s, x->job, x->target);

        if (next && next - x->target <= free) {
            free -= next - x->target;
            x->target = next;
            value(s, x);
        } else {
            struct elastic_want last = x[--n];

            x[n] = x[0];
            x[0] = last;
        }
        sink(x, 0, n);
    }
}

/* ---- places ---- */

/* Whether there is a place for a running job with so many devices, within its share; in s->fit.
 * What it asked for it may borrow, as when it started. */
static bool find(struct sched *s, uint32_t job, int32_t devices)
{
    const struct work *w = &s->work->jobs[job];
    bool borrows = devices <= s->elastic->jobs[job].asked, found;
    int32_t before = w->devices;

    free_capacity_lift(&s->capacity, w, s->jobs[job].part, true);
    elastic_suppose(s, job, devices);
    quota_count(s, job, -1);
    found = (borrows ? quota_allows(s, job) : quota_within(s, job)) && sched_find_place(s, job);
    quota_count(s, job, 1);
    elastic_suppose(s, job, before);
    free_capacity_lift(&s->capacity, w, s->jobs[job].part, false);
    return found;
}

int elastic_grow(struct sched *s, int64_t now_ms)
{
    struct action why = { .why = WHY_FREE, .other = WAITING_NONE };
    size_t n;

    if (!s->policy.elastic.grow || s->n_waiting > 0 || s->capacity.whole == 0)
        return 0;
    n = growing(s, now_ms);
    hand_out(s, n, s->capacity.whole);
    while (n-- > 0) {
        const struct elastic_want *x = &s->elastic->wants[n];

        why.job = x->job;
        for (int32_t to = x->target; to > x->devices; to = elastic_below(s, x->job, to)) {
            if (!is_worth(s, x->job, to, now_ms) || !find(s, x->job, to))
                continue;
            if (elastic_resize(s, &why, to, &s->fit, now_ms) < 0)
                return -1;
            break;
        }
    }
    return 0;
}
