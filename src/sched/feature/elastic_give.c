/* A place for a job that waits, out of what elastic jobs can do without. */
#include <errno.h>
#include <stdlib.h>

#include "sched/core/action.h"
#include "sched/feature/elastic_private.h"
#include "sched/core/find_place.h"
#include "sched/feature/quota.h"

/* ---- who can give what ---- */

/* The fewest devices that a running job is left with for another one: what it asked for (extras),
 * or, for one of no lower priority and of its own share, its least. */
static int32_t floor_of(const struct sched *s, uint32_t giver, uint32_t job, bool extras)
{
    const struct work *w = &s->work->jobs[giver];
    int32_t asked = MIN(s->elastic->jobs[giver].asked, w->devices);

    if (extras || (s->policy.priorities && s->work->jobs[job].priority < w->priority))
        return asked;
    if (quota_slot(s, giver) != quota_slot(s, job) && !quota_above(s, giver))
        return asked;
    return w->least;
}

/* Whether a job may be resized now, and runs for longer than that would take. One that pays for a
 * start of this pass may be resized once more for nothing. */
static bool may_give(const struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct elastic_job *e = &s->elastic->jobs[job];
    int32_t devices = s->work->jobs[job].devices;

    if (e->pass == s->elastic->pass)
        return true;
    return now_ms - e->since_ms >= s->policy.elastic.every_ms &&
           sched_job_left(&s->jobs[job], now_ms) > elastic_cost(s, job, devices, devices);
}

static int cheapest_first(const void *a, const void *b)
{
    const struct elastic_want *x = a, *y = b;
    int order = COMPARE(x->value, y->value);

    return order ? order : COMPARE(x->job, y->job);
}

/* Those that can give, whom a device less costs the least of their pace in front. */
static size_t givers(struct sched *s, uint32_t job, int64_t now_ms, bool extras, int64_t *spare)
{
    struct elastic *x = s->elastic;
    size_t n = 0;

    *spare = 0;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t giver = x->list[i];
        const struct work *w = &x->now[giver];
        int32_t least = floor_of(s, giver, job, extras);

        if (least >= w->devices || !may_give(s, giver, now_ms))
            continue;
        *spare += w->devices - least;
        x->wants[n++] = (struct elastic_want){
            .job = giver,
            .devices = w->devices,
            .target = least,
            .value = (1 - work_pace(w, w->devices, least)) / (w->devices - least),
        };
    }
    qsort(x->wants, n, sizeof(*x->wants), cheapest_first);
    return n;
}

/* ---- trying ---- */

/* The first devices of those that a job has. */
static void keep(struct sched *s, uint32_t job, int32_t devices)
{
    struct fit *f = &s->elastic->keep;

    f->n = 0;
    for (uint32_t p = s->jobs[job].part; p != NO_PART && devices > 0;
         p = s->capacity.parts[p].next) {
        const struct part *part = &s->capacity.parts[p];
        uint16_t bits = part->devices, kept = 0;

        for (; bits && devices > 0; devices--) {
            uint16_t lowest = bits & (uint16_t)-bits;

            kept |= lowest;
            bits ^= lowest;
        }
        f->parts[f->n++] = (struct part){ part->node, kept, WORK_WHOLE, NO_PART };
    }
}

/* Let a job have fewer devices for a while, or again those that it had. */
static int reduce(struct sched *s, struct elastic_want *x, int32_t devices)
{
    const struct work *w = &s->work->jobs[x->job];
    struct sched_job *j = &s->jobs[x->job];

    keep(s, x->job, devices);
    x->kept = j->part;
    free_capacity_lift(&s->capacity, w, x->kept, true);
    elastic_suppose(s, x->job, devices);
    if (free_capacity_take(&s->capacity, w, &s->elastic->keep, &j->part) < 0) {
        elastic_suppose(s, x->job, x->devices);
        free_capacity_lift(&s->capacity, w, x->kept, false);
        j->part = x->kept;
        x->kept = NO_PART;
        return -ENOMEM;
    }
    return 0;
}

static void restore(struct sched *s, struct elastic_want *x)
{
    const struct work *w = &s->work->jobs[x->job];
    struct sched_job *j = &s->jobs[x->job];

    free_capacity_give(&s->capacity, w, j->part);
    elastic_suppose(s, x->job, x->devices);
    free_capacity_lift(&s->capacity, w, x->kept, false);
    j->part = x->kept;
    x->kept = NO_PART;
}

static void restore_all(struct sched *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        restore(s, &s->elastic->wants[i]);
}

/* All are reduced, and there is a place: let each keep as many as it can, those whom it costs the
 * most first. */
static int trim(struct sched *s, uint32_t job, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        struct elastic_want *x = &s->elastic->wants[i];
        int32_t least = x->target;

        restore(s, x);
        x->target = x->devices;
        while (!sched_find_place(s, job)) {
            if (x->target < x->devices)
                restore(s, x);
            x->target = elastic_below(s, x->job, x->target);
            if (reduce(s, x, x->target) < 0) {
                x->target = x->devices;
                return -ENOMEM;
            }
            if (x->target <= least)
                break;
        }
    }
    return 0;
}

/* Those that are still reduced give for good. */
static int carry_out(struct sched *s, uint32_t job, size_t n, int64_t now_ms)
{
    for (size_t i = 0; i < n; i++) {
        struct elastic_want *x = &s->elastic->wants[i];
        const struct action why = { .job = x->job, .why = WHY_GIVES, .other = job };

        if (x->target == x->devices)
            continue;
        restore(s, x);
        keep(s, x->job, x->target);
        if (elastic_resize(s, &why, x->target, &s->elastic->keep, now_ms) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Take what others can do without for a job with that many devices. 1, 0, -1. */
static int take(struct sched *s, uint32_t job, int32_t devices, bool extras, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    int64_t spare;
    size_t n = givers(s, job, now_ms, extras, &spare), tried = 0;
    bool found;

    if (n == 0 || s->capacity.whole + spare < devices || w->devices == 0)
        return 0;
    if (s->elastic->jobs[job].asked)
        elastic_set(s, job, devices);
    while (tried < n && reduce(s, &s->elastic->wants[tried], s->elastic->wants[tried].target) == 0)
        tried++;
    found = tried == n && sched_find_place(s, job);
    if (!found) {
        restore_all(s, tried);
        return tried == n ? 0 : -1;
    }
    if (trim(s, job, n) < 0 || carry_out(s, job, n, now_ms) < 0)
        return -1;
    return sched_find_place(s, job);
}

/* ---- for a job that waits ---- */

bool elastic_starts_on_fewer(const struct sched *s, uint32_t job)
{
    return s->elastic->jobs[job].asked && s->policy.elastic.start;
}

/* The most devices, fewer than it asked for, for which there is a place. */
static bool find_fewer(struct sched *s, uint32_t job)
{
    int32_t devices = s->elastic->jobs[job].asked;

    while ((devices = elastic_below(s, job, devices))) {
        if (devices > s->capacity.whole)
            continue;
        elastic_set(s, job, devices);
        if (sched_find_place(s, job))
            return true;
    }
    return false;
}

int elastic_find(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    bool gives = s->policy.elastic.give, fewer = elastic_starts_on_fewer(s, job);
    int32_t asked = w->devices, least = fewer ? w->least : asked;
    int rc;

    if (s->policy.quota.borrow && !quota_allows(s, job))
        return 0; /* it may borrow what it lacks, in its turn */
    rc = gives ? take(s, job, asked, true, now_ms) : 0;
    if (rc == 0 && fewer)
        rc = find_fewer(s, job);
    if (rc == 0 && fewer && gives)
        rc = take(s, job, least, true, now_ms);
    if (rc == 0 && gives)
        rc = take(s, job, least, false, now_ms);
    if (rc == 0 && fewer)
        elastic_set(s, job, asked);
    return rc;
}

bool elastic_possible(struct sched *s, uint32_t job)
{
    int32_t asked = s->work->jobs[job].devices;
    bool found;

    if (!s->elastic)
        return false;
    found = elastic_starts_on_fewer(s, job) && find_fewer(s, job);

    elastic_set(s, job, asked);
    return found;
}
