#include "sched/feature/tiers.h"

#include <errno.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"
#include "sched/feature/tiers_private.h"

int tiers_open(struct sched *s, struct err *e)
{
    size_t n = s->work->n_jobs + 1;
    struct tiers *t;

    if (s->tiers)
        return 0;
    t = arena_alloc(&s->arena, sizeof(*t));
    if (!t)
        return err_nomem(e);
    t->tier = arena_alloc(&s->arena, s->work->classes.n + 1);
    t->number = arena_alloc(&s->arena, s->work->classes.n + 1);
    t->failed = arena_alloc(&s->arena, s->work->n_shapes * TIER_CLASSES * sizeof(*t->failed));
    t->waits[TIER_SERVICE].jobs = arena_alloc(&s->arena, n * sizeof(uint32_t));
    t->waits[TIER_SPOT].jobs = arena_alloc(&s->arena, n * sizeof(uint32_t));
    t->victims = arena_alloc(&s->arena, n * sizeof(*t->victims));
    t->rest.parts = arena_alloc(&s->arena, s->pool->n_nodes * sizeof(*t->rest.parts));
    if (!t->tier || !t->number || !t->failed || !t->waits[TIER_SERVICE].jobs ||
        !t->waits[TIER_SPOT].jobs || !t->victims || !t->rest.parts)
        return err_nomem(e);
    t->ceiling = WORK_UNKNOWN;
    s->tiers = t;
    return 0;
}

static size_t class_of(const struct sched *s, uint32_t job)
{
    return (size_t)(s->work->jobs[job].class + 1);
}

void tiers_name(struct sched *s, const struct policy_classes *c, enum tier tier)
{
    const struct work_names *names = &s->work->classes;

    for (size_t i = 0; i < names->n; i++)
        for (size_t k = 0; k < c->n; k++)
            if (!strcmp(names->names[i], c->names[k])) {
                s->tiers->tier[i + 1] = (uint8_t)tier;
                s->tiers->number[i + 1] = (uint8_t)k;
            }
    for (uint32_t job = 0; job < s->work->n_jobs; job++)
        s->jobs[job].tier = s->tiers->tier[class_of(s, job)];
}

size_t tiers_number(const struct sched *s, uint32_t job)
{
    return s->tiers->number[class_of(s, job)];
}

int64_t tiers_devices(const struct sched *s, const struct policy_devices *d)
{
    return d->of_all ? (int64_t)(d->amount / 100 * (double)s->pool->devices + 1e-9)
                     : (int64_t)d->amount;
}

int64_t tiers_needs(const struct sched *s, uint32_t job)
{
    return (int64_t)s->work->jobs[job].devices * s->work->jobs[job].milli;
}

/* ---- what waits ---- */

static size_t find_waiting(const struct tiers_queue *q, uint32_t job)
{
    size_t low = 0, high = q->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (q->jobs[middle] < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tiers_queue(struct sched *s, uint32_t job)
{
    struct tiers_queue *q = &s->tiers->waits[s->jobs[job].tier];
    size_t at = find_waiting(q, job);

    memmove(&q->jobs[at + 1], &q->jobs[at], (q->n++ - at) * sizeof(*q->jobs));
    q->jobs[at] = job;
}

void tiers_unqueue(struct sched *s, uint32_t job)
{
    struct tiers_queue *q = &s->tiers->waits[s->jobs[job].tier];
    size_t at = find_waiting(q, job);

    memmove(&q->jobs[at], &q->jobs[at + 1], (--q->n - at) * sizeof(*q->jobs));
}

/* What of those that wait find no place: once in a sweep is enough for all that need the same. */
static uint64_t *failed(struct sched *s, uint32_t job)
{
    return &s->tiers
                ->failed[(size_t)s->work->jobs[job].shape * TIER_CLASSES + tiers_number(s, job)];
}

int tiers_sweep(struct sched *s, int64_t now_ms, enum tier tier, tiers_find_fn *find)
{
    const struct tiers_queue *q = &s->tiers->waits[tier];
    size_t i = 0;

    s->tiers->sweep++;
    while (i < q->n) {
        uint32_t job = q->jobs[i];
        struct action why = { .other = WAITING_NONE, .until_ms = WORK_UNKNOWN };
        int found = 0;

        if (*failed(s, job) != s->tiers->sweep)
            found = find(s, job, now_ms, &why.why);
        if (found < 0 || (found && state_start(s, job, now_ms, &why) < 0))
            return -1;
        if (!found) {
            *failed(s, job) = s->tiers->sweep;
            i++;
        }
    }
    return 0;
}
