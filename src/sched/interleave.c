#include "sched/interleave.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN = 1 << 16 };

/* What a bundle of jobs of these kinds takes for a step. */
struct known_step {
    uint64_t key; /* 16 bits for each kind, plus 1, in order; 0: none */
    double step_ms;
};

/* Jobs with as many devices each, in the order of what is left of them: those that run and those
 * that wait apart, or, where jobs may share, all that are left in one list. */
struct size {
    uint32_t group;
    size_t from, end; /* in runs; once listed in order */
    uint32_t waits;   /* of those that wait the next one, by its number in the workload */
    int32_t devices;
    bool listed;
    bool ready; /* next is the best that can be made now */
    bool full;
    struct bundle next;
    double value;
};

enum { SIZES = 64 };

struct plan {
    struct interleave *x;
    const struct interleave_job *jobs;
    struct size sizes[SIZES];
    size_t n_sizes, n_order;
    int64_t left; /* devices */
};

/* ---- open ---- */

static bool same_stages(const struct work *a, const struct work *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(a->stage_ms); i++)
        if (a->stage_ms[i] != b->stage_ms[i])
            return false;
    return a->step_ms == b->step_ms;
}

static void number_kinds(struct interleave *x, const struct workload *w, uint32_t *first)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        uint32_t kind = 0;

        while (kind < x->n_kinds && !same_stages(&w->jobs[first[kind]], &w->jobs[i]))
            kind++;
        if (kind == x->n_kinds)
            first[x->n_kinds++] = (uint32_t)i;
        x->kind[i] = kind;
    }
}

static int more_devices(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return *x == *y ? 0 : *x > *y ? -1 : 1;
}

/* Sizes are numbered from the largest on. */
static void number_sizes(struct interleave *x, const struct workload *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_jobs; i++)
        x->sizes[i] = w->jobs[i].devices;
    qsort(x->sizes, w->n_jobs, sizeof(*x->sizes), more_devices);
    for (size_t i = 0; i < w->n_jobs; i++)
        if (n == 0 || x->sizes[n - 1] != x->sizes[i])
            x->sizes[n++] = x->sizes[i];
    x->n_sizes = n;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const int32_t *at = bsearch(&w->jobs[i].devices, x->sizes, n, sizeof(*at), more_devices);

        x->size[i] = (uint32_t)(at - x->sizes);
    }
}

int interleave_open(struct interleave *x, const struct workload *w, const struct policy *p)
{
    size_t n = w->n_jobs + 1;
    CLEANUP(freep) uint32_t *first = calloc(n, sizeof(*first));

    *x = (struct interleave){ .most = p->interleave, .restart_ms = p->restart_ms };
    x->kind = arena_alloc(&x->arena, n * sizeof(*x->kind));
    x->known = arena_alloc(&x->arena, KNOWN * sizeof(*x->known));
    x->bundles = arena_alloc(&x->arena, n * sizeof(*x->bundles));
    x->order = arena_alloc(&x->arena, n * sizeof(*x->order));
    x->size_of = arena_alloc(&x->arena, n * sizeof(*x->size_of));
    x->used = arena_alloc(&x->arena, n * sizeof(*x->used));
    x->runs = arena_alloc(&x->arena, n * sizeof(*x->runs));
    x->size = arena_alloc(&x->arena, n * sizeof(*x->size));
    x->sizes = arena_alloc(&x->arena, n * sizeof(*x->sizes));
    x->first = w->jobs;
    if (!first || !x->kind || !x->known || !x->bundles || !x->order || !x->size_of || !x->used ||
        !x->runs || !x->size || !x->sizes)
        return -ENOMEM;
    number_kinds(x, w, first);
    number_sizes(x, w);
    return waiting_init(&x->waiting, &x->arena, n, x->n_sizes);
}

void interleave_done(struct interleave *x)
{
    arena_done(&x->arena);
    *x = (struct interleave){ .n_kinds = 0 };
}

/* ---- those that wait ---- */

static uint32_t number_of(const struct interleave *x, const struct interleave_job *j)
{
    return (uint32_t)(j->work - x->first);
}

/* Numbers that are not negative have the order of their bits. */
void interleave_wait(struct interleave *x, const struct interleave_job *jobs, uint32_t i)
{
    uint32_t number = number_of(x, &jobs[i]);
    struct order_key key = { .tie = i };

    memcpy(&key.value, &jobs[i].left_ms, sizeof(key.value));
    waiting_add(&x->waiting, x->size[number], number, &key, 0);
}

void interleave_leave(struct interleave *x, const struct interleave_job *jobs, uint32_t i)
{
    uint32_t number = number_of(x, &jobs[i]);

    waiting_remove(&x->waiting, x->size[number], number);
}

/* ---- what a bundle is worth ---- */

static double step_of(struct interleave *x, const struct interleave_job *jobs,
                      const struct bundle *b)
{
    const struct work *work[INTERLEAVE_JOBS];
    uint32_t kinds[INTERLEAVE_JOBS];
    struct known_step *known;
    uint64_t key = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t kind = jobs[b->jobs[i]].kind, at = i;

        for (; at > 0 && kinds[at - 1] > kind; at--)
            kinds[at] = kinds[at - 1];
        kinds[at] = kind;
        work[i] = jobs[b->jobs[i]].work;
    }
    for (uint32_t i = 0; i < b->n; i++)
        key = key << 16 | (kinds[i] + 1);
    known = &x->known[(key * 0x9e3779b97f4a7c15ULL) >> 48];
    if (known->key != key)
        *known = (struct known_step){ key, interleave_period(work, (int)b->n) };
    return known->step_ms;
}

/* Whether it runs already, just so. */
static bool runs(const struct plan *p, const struct bundle *b)
{
    uint32_t number = p->jobs[b->jobs[0]].bundle;

    for (uint32_t i = 1; i < b->n; i++)
        if (p->jobs[b->jobs[i]].bundle != number)
            return false;
    return number != BUNDLE_NONE && p->x->size_of[number] == b->n;
}

double interleave_start_ms(const struct interleave *x, const struct interleave_job *jobs,
                           const struct bundle *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        int64_t ms = jobs[b->jobs[i]].work->restart_ms;

        sum += (double)(ms < 0 ? x->restart_ms : ms);
    }
    return sum;
}

/* How many of its jobs end in a millisecond, if each had the same chance to end until it does; with
 * what it costs to start it. */
static double worth(const struct plan *p, struct bundle *b)
{
    double value = 0, start;

    b->step_ms = step_of(p->x, p->jobs, b);
    b->same = runs(p, b) ? p->jobs[b->jobs[0]].bundle : BUNDLE_NONE;
    start = b->same == BUNDLE_NONE ? interleave_start_ms(p->x, p->jobs, b) : 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct interleave_job *j = &p->jobs[b->jobs[i]];
        double slower = b->n > 1 ? b->step_ms / interleave_period_alone(j->work) : 1;

        value += 1 / (start + j->left_ms * slower + 1);
    }
    return value;
}

static bool can_share(const struct interleave_job *j)
{
    const struct work *w = j->work;

    return !j->alone && w->step_ms > 0 && w->stage_ms[0] + w->stage_ms[1] + w->stage_ms[2] > 0;
}

/* ---- the best bundle of a size ---- */

/* The job that adds the most to a bundle, added. Whether there was one. */
static bool grow(struct plan *p, const struct size *s, struct bundle *b, double *value)
{
    struct bundle best = *b;
    double most = *value;

    for (size_t i = s->from; i < s->end; i++) {
        uint32_t job = p->x->order[i];
        struct bundle with = *b;
        double made;
        bool in = p->x->used[job] || !can_share(&p->jobs[job]);

        for (uint32_t k = 0; k < b->n; k++)
            in |= b->jobs[k] == job;
        if (in)
            continue;
        with.jobs[with.n++] = job;
        made = worth(p, &with);
        if (made > most) {
            most = made;
            best = with;
        }
    }
    *value = most;
    if (best.n == b->n)
        return false;
    *b = best;
    return true;
}

/* What runs with the first job of the next bundle goes on, if that is worth as much. */
static void keep_running(struct plan *p, struct size *s)
{
    uint32_t number = p->jobs[s->next.jobs[0]].bundle;
    struct bundle running = { .n = 0 };
    double value;

    if (number == BUNDLE_NONE)
        return;
    for (size_t i = s->from; i < s->end && running.n < INTERLEAVE_JOBS; i++) {
        uint32_t job = p->x->order[i];

        if (!p->x->used[job] && p->jobs[job].bundle == number)
            running.jobs[running.n++] = job;
    }
    value = worth(p, &running);
    if (value < s->value)
        return;
    s->value = value;
    s->next = running;
}

static bool before(const struct interleave_job *jobs, uint32_t a, uint32_t b)
{
    if (jobs[a].devices != jobs[b].devices)
        return jobs[a].devices > jobs[b].devices;
    if (jobs[a].left_ms < jobs[b].left_ms || jobs[a].left_ms > jobs[b].left_ms)
        return jobs[a].left_ms < jobs[b].left_ms;
    return a < b;
}

/* The place of the next one that waits and has none yet; BUNDLE_NONE: there is none. */
static uint32_t next_waiting(const struct plan *p, struct size *s)
{
    const struct waiting *q = &p->x->waiting;

    while (s->waits != WAITING_NONE && p->x->used[q->nodes[s->waits].key.tie])
        s->waits = waiting_next(q, s->group, &q->nodes[s->waits].key, WORK_UNKNOWN);
    return s->waits == WAITING_NONE ? BUNDLE_NONE : q->nodes[s->waits].key.tie;
}

/* The job with the least left, of those that are not used; BUNDLE_NONE: there is none. */
static uint32_t least_left(const struct plan *p, struct size *s)
{
    const uint32_t *list = s->listed ? p->x->order : p->x->runs;
    uint32_t waits = s->listed ? BUNDLE_NONE : next_waiting(p, s);

    while (s->from < s->end && p->x->used[list[s->from]])
        s->from++;
    if (s->from == s->end || (waits != BUNDLE_NONE && before(p->jobs, waits, list[s->from])))
        return waits;
    return list[s->from];
}

/* Put all that are left of a size into one list. */
static void list_all(struct plan *p, struct size *s)
{
    size_t begin = p->n_order;
    uint32_t job;

    while ((job = least_left(p, s)) != BUNDLE_NONE) {
        p->x->order[p->n_order++] = job;
        p->x->used[job] = true;
    }
    for (size_t i = begin; i < p->n_order; i++)
        p->x->used[p->x->order[i]] = false;
    s->from = begin;
    s->end = p->n_order;
    s->listed = true;
}

/* Find what is next of a size: around the job with the least left. */
static void make_next(struct plan *p, struct size *s)
{
    uint32_t job = least_left(p, s);

    s->ready = true;
    s->full |= job == BUNDLE_NONE;
    if (s->full)
        return;
    s->next = (struct bundle){ .n = 1, .jobs = { job } };
    s->value = worth(p, &s->next);
    if (!can_share(&p->jobs[job]))
        return;
    if (!s->listed)
        list_all(p, s);
    while (s->next.n < (uint32_t)p->x->most && grow(p, s, &s->next, &s->value))
        ;
    keep_running(p, s);
}

static struct size *best_size(struct plan *p)
{
    struct size *best = NULL;

    for (size_t i = 0; i < p->n_sizes; i++) {
        struct size *s = &p->sizes[i];

        s->full |= s->devices > p->left;
        if (!s->full && !s->ready)
            make_next(p, s);
        if (!s->full && (!best || s->value * best->devices > best->value * s->devices))
            best = s;
    }
    return best;
}

/* ---- devices that are left over ---- */

static int32_t devices_of(const struct plan *p, const struct bundle *b)
{
    return p->jobs[b->jobs[0]].devices;
}

/* Let the job that gains the most from devices of its own have them. Whether there was one. */
static bool split(struct plan *p)
{
    double most = 0;
    uint32_t whose = 0, which = 0;
    struct bundle alone, rest;

    for (uint32_t i = 0; i < p->x->n_bundles; i++) {
        struct bundle *b = &p->x->bundles[i];
        double now;

        if (b->n < 2 || devices_of(p, b) > p->left)
            continue;
        now = worth(p, b);
        for (uint32_t k = 0; k < b->n; k++) {
            double gain;

            alone = (struct bundle){ .n = 1, .jobs = { b->jobs[k] } };
            rest = *b;
            rest.jobs[k] = rest.jobs[--rest.n];
            gain = (worth(p, &alone) + worth(p, &rest) - now) / devices_of(p, b);
            if (gain > most) {
                most = gain;
                whose = i;
                which = k;
            }
        }
    }
    if (most <= 0)
        return false;
    rest = p->x->bundles[whose];
    alone = (struct bundle){ .n = 1, .jobs = { rest.jobs[which] } };
    rest.jobs[which] = rest.jobs[--rest.n];
    worth(p, &alone);
    worth(p, &rest);
    p->left -= devices_of(p, &alone);
    p->x->bundles[whose] = rest;
    p->x->bundles[p->x->n_bundles++] = alone;
    return true;
}

/* ---- the whole ---- */

/* Where what is in order from a place on ends. */
static size_t ordered_end(const struct plan *p, size_t from, size_t n)
{
    const uint32_t *runs = p->x->runs;
    size_t at = from + 1;

    while (at < n && before(p->jobs, runs[at - 1], runs[at]))
        at++;
    return MIN(at, n);
}

/* Sort those that run: most stand as in the plan before, so that what is in order is merged. */
static void sort(const struct plan *p, size_t n)
{
    struct interleave *x = p->x;

    while (n > 0 && ordered_end(p, 0, n) < n) {
        uint32_t *from = x->runs, *to = x->order;
        size_t begin = 0;

        while (begin < n) {
            size_t a = begin, middle = ordered_end(p, begin, n), b = middle;
            size_t end = middle < n ? ordered_end(p, middle, n) : n;

            for (size_t at = begin; at < end; at++)
                to[at] = a < middle && (b == end || before(p->jobs, from[a], from[b])) ? from[a++]
                                                                                       : from[b++];
            begin = end;
        }
        x->runs = to;
        x->order = from;
    }
}

/* Put those that run in order, by sizes, and find where each size begins and ends. */
static void make_sizes(struct plan *p, const uint32_t *runs, size_t n)
{
    struct interleave *x = p->x;
    size_t at = 0;

    for (size_t i = 0; i < n; i++)
        x->runs[i] = runs[i];
    sort(p, n);
    for (uint32_t g = 0; g < x->n_sizes; g++) {
        struct size s = { .group = g, .from = at, .devices = x->sizes[g] };

        while (at < n && p->jobs[x->runs[at]].devices == s.devices)
            at++;
        s.end = at;
        s.waits = waiting_next(&x->waiting, g, NULL, WORK_UNKNOWN);
        if ((s.from < s.end || s.waits != WAITING_NONE) && p->n_sizes < SIZES)
            p->sizes[p->n_sizes++] = s;
    }
}

void interleave_plan(struct interleave *x, const struct interleave_job *jobs, const uint32_t *runs,
                     size_t n, int64_t devices)
{
    struct plan p = { .x = x, .jobs = jobs, .left = devices };
    struct size *s;

    x->n_bundles = 0;
    memset(x->size_of, 0, x->n_numbers * sizeof(*x->size_of));
    x->n_numbers = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = jobs[runs[i]].bundle;

        x->size_of[number]++;
        x->n_numbers = MAX(x->n_numbers, number + 1);
    }
    make_sizes(&p, runs, n);
    while ((s = best_size(&p))) {
        for (uint32_t i = 0; i < s->next.n; i++)
            x->used[s->next.jobs[i]] = true;
        x->bundles[x->n_bundles++] = s->next;
        p.left -= s->devices;
        s->ready = false;
    }
    for (size_t i = 0; i < x->n_bundles; i++)
        for (uint32_t k = 0; k < x->bundles[i].n; k++)
            x->used[x->bundles[i].jobs[k]] = false;
    while (p.left > 0 && split(&p))
        ;
}
