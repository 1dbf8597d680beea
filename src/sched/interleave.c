#include "sched/interleave.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { KNOWN = 1 << 16 };

/* What a bundle of jobs of these kinds takes for a step. */
struct known_step {
    uint64_t key; /* 16 bits for each kind, plus 1, in order; 0: none */
    double step_ms;
};

/* Jobs with as many devices each, in the order of what is left of them. */
struct size {
    size_t from, end;
    int32_t devices;
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
    size_t n_sizes;
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
    x->kept = arena_alloc(&x->arena, n * sizeof(*x->kept));
    x->where = arena_alloc(&x->arena, n * sizeof(*x->where));
    x->fresh = arena_alloc(&x->arena, n * sizeof(*x->fresh));
    x->first = w->jobs;
    if (!first || !x->kind || !x->known || !x->bundles || !x->order || !x->size_of || !x->used ||
        !x->kept || !x->where || !x->fresh)
        return -ENOMEM;
    number_kinds(x, w, first);
    return 0;
}

void interleave_done(struct interleave *x)
{
    arena_done(&x->arena);
    *x = (struct interleave){ .n_kinds = 0 };
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

/* Find what is next of a size: around the job with the least left. */
static void make_next(struct plan *p, struct size *s)
{
    while (s->from < s->end && p->x->used[p->x->order[s->from]])
        s->from++;
    s->ready = true;
    s->full |= s->from == s->end;
    if (s->full)
        return;
    s->next = (struct bundle){ .n = 1, .jobs = { p->x->order[s->from] } };
    s->value = worth(p, &s->next);
    if (!can_share(&p->jobs[s->next.jobs[0]]))
        return;
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

static bool before(const struct interleave_job *jobs, uint32_t a, uint32_t b)
{
    if (jobs[a].devices != jobs[b].devices)
        return jobs[a].devices > jobs[b].devices;
    if (jobs[a].left_ms < jobs[b].left_ms || jobs[a].left_ms > jobs[b].left_ms)
        return jobs[a].left_ms < jobs[b].left_ms;
    return a < b;
}

/* Shell's sort: nothing to allocate. */
static void sort(const struct plan *p, uint32_t *order, size_t n)
{
    for (size_t gap = n / 2 + 1; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < n; i++) {
            uint32_t job = order[i];
            size_t at = i;

            for (; at >= gap && before(p->jobs, job, order[at - gap]); at -= gap)
                order[at] = order[at - gap];
            order[at] = job;
        }
}

/* Merge two that are in order; the first has room for both. */
static void merge(const struct plan *p, uint32_t *order, size_t n, const uint32_t *more,
                  size_t n_more)
{
    size_t at = n + n_more;

    while (n_more > 0)
        if (n > 0 && before(p->jobs, more[n_more - 1], order[n - 1]))
            order[--at] = order[--n];
        else
            order[--at] = more[--n_more];
}

/* Put all in order. Of those that wait most stand as in the plan before, so that only what runs, is
 * new or changed is to be sorted. */
static void put_in_order(struct plan *p, size_t n)
{
    struct interleave *x = p->x;
    size_t n_order = 0, n_fresh = 0;

    for (size_t i = 0; i < n; i++)
        x->where[p->jobs[i].work - x->first] = (uint32_t)i + 1;
    for (size_t k = 0; k < x->n_kept; k++) {
        uint32_t *where = &x->where[x->kept[k]], i = *where - 1;

        if (*where == 0)
            continue;
        *where = 0;
        if (p->jobs[i].bundle == BUNDLE_NONE &&
            (n_order == 0 || before(p->jobs, x->order[n_order - 1], i)))
            x->order[n_order++] = i;
        else
            x->fresh[n_fresh++] = i;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t *where = &x->where[p->jobs[i].work - x->first];

        if (*where)
            x->fresh[n_fresh++] = (uint32_t)i;
        *where = 0;
    }
    sort(p, x->fresh, n_fresh);
    merge(p, x->order, n_order, x->fresh, n_fresh);
}

/* Find where sizes begin and end in the order, which is kept for the next plan. */
static void make_sizes(struct plan *p, size_t n)
{
    struct size *last = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct interleave_job *j = &p->jobs[p->x->order[i]];

        p->x->kept[i] = (uint32_t)(j->work - p->x->first);
        if (last && last->devices == j->devices)
            last->end++;
        else if (p->n_sizes < SIZES)
            *(last = &p->sizes[p->n_sizes++]) = (struct size){ .from = i,
                                                               .end = i + 1,
                                                               .devices = j->devices };
    }
    p->x->n_kept = n;
}

void interleave_plan(struct interleave *x, const struct interleave_job *jobs, size_t n,
                     int64_t devices)
{
    struct plan p = { .x = x, .jobs = jobs, .left = devices };
    struct size *s;

    x->n_bundles = 0;
    memset(x->used, 0, n * sizeof(*x->used));
    memset(x->size_of, 0, x->n_numbers * sizeof(*x->size_of));
    x->n_numbers = 0;
    for (size_t i = 0; i < n; i++)
        if (jobs[i].bundle != BUNDLE_NONE) {
            x->size_of[jobs[i].bundle]++;
            x->n_numbers = MAX(x->n_numbers, jobs[i].bundle + 1);
        }
    put_in_order(&p, n);
    make_sizes(&p, n);
    while ((s = best_size(&p))) {
        for (uint32_t i = 0; i < s->next.n; i++)
            x->used[s->next.jobs[i]] = true;
        x->bundles[x->n_bundles++] = s->next;
        p.left -= s->devices;
        s->ready = false;
    }
    while (p.left > 0 && split(&p))
        ;
}
