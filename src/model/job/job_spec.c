#include "model/job/job_spec.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SHAPES = UINT16_MAX, FIRST_SLOTS = 64 };

void workload_done(struct workload *w)
{
    arena_done(&w->arena);
    *w = (struct workload){ .n_jobs = 0 };
}

/* ---- names ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 1;

    for (; *text; text++)
        hash = mix(hash, (uint8_t)*text);
    return hash;
}

/* The slot that holds a name, or the empty one where it belongs. */
static uint32_t *find_slot(const struct work_names *t, const char *name)
{
    size_t at = hash_text(name) & (t->n_slots - 1);

    while (t->slots[at] && strcmp(t->names[t->slots[at] - 1], name) != 0)
        at = (at + 1) & (t->n_slots - 1);
    return &t->slots[at];
}

static int grow(struct workload *w, struct work_names *t)
{
    size_t n = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots = arena_alloc(&w->arena, n * sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    t->slots = slots;
    t->n_slots = n;
    for (size_t i = 0; i < t->n; i++)
        *find_slot(t, t->names[i]) = (uint32_t)i + 1;
    return 0;
}

static int number(struct workload *w, struct work_names *table, const char *name, size_t most)
{
    uint32_t *slot;
    const char **added;
    char *copy;

    if (table->n * 2 >= table->n_slots && grow(w, table) < 0)
        return -ENOMEM;
    slot = find_slot(table, name);
    if (*slot)
        return (int)*slot - 1;
    if (table->n == most)
        return -E2BIG;
    copy = arena_strdup(&w->arena, name);
    if (!copy)
        return -ENOMEM;
    added = ARENA_PUSH(&w->arena, &table->names, &table->n);
    if (!added)
        return -ENOMEM;
    *added = copy;
    *slot = (uint32_t)table->n;
    return (int)table->n - 1;
}

int work_number(struct workload *w, struct work_names *table, const char *name)
{
    return number(w, table, name, WORK_GROUPS);
}

int work_data_number(struct workload *w, const char *name)
{
    return number(w, &w->data, name, WORK_DATA);
}

int work_data_find(const struct workload *w, const char *name)
{
    return w->data.n_slots ? (int)*find_slot(&w->data, name) - 1 : -1;
}

bool work_data_costs(const struct workload *w)
{
    for (size_t i = 0; i < w->n_jobs && w->data.n > 0; i++)
        if (w->jobs[i].wish && w->jobs[i].wish->data && w->jobs[i].wish->data_ms > 0)
            return true;
    return false;
}

/* ---- speeds ---- */

static bool same_speeds(const struct work_speeds *a, const struct work_speeds *b)
{
    for (size_t k = 0; k < WORK_KINDS; k++)
        if (a->of[k] != b->of[k])
            return false;
    return true;
}

int work_speeds(struct workload *w, const struct work_speeds *speeds)
{
    struct work_speeds *added;

    for (size_t i = 0; i < w->n_speeds; i++)
        if (same_speeds(&w->speeds[i], speeds))
            return (int)i + 1;
    if (w->n_speeds == WORK_SPEEDS)
        return -E2BIG;
    added = ARENA_PUSH(&w->arena, &w->speeds, &w->n_speeds);
    if (!added)
        return -ENOMEM;
    *added = *speeds;
    return (int)w->n_speeds;
}

double work_speed(const struct workload *w, const struct work *job, unsigned kind)
{
    return job->speeds ? (double)w->speeds[job->speeds - 1].of[kind] : 1;
}

double work_pace(const struct work *job, int32_t asked, int32_t devices)
{
    return pow((double)devices / asked, (double)job->scaling);
}

/* ---- stretches ---- */

int work_stretch_add(struct workload *w, struct work *job, int64_t ms, int milli)
{
    struct work_stretch *last, *added;

    if (ms == 0)
        return 0;
    last = job->n_stretches ? &w->stretches[job->stretch + job->n_stretches - 1] : NULL;
    if (last && last->milli == milli) {
        last->ms += ms;
        return 0;
    }
    if (w->n_stretches == WORK_STRETCHES)
        return -E2BIG;
    added = ARENA_PUSH(&w->arena, &w->stretches, &w->n_stretches);
    if (!added)
        return -ENOMEM;
    *added = (struct work_stretch){ ms, (int16_t)milli };
    if (job->n_stretches++ == 0)
        job->stretch = (uint32_t)w->n_stretches - 1;
    return 0;
}

/* ---- order ---- */

/* Merge two sorted runs; equal ones keep their order. */
static void merge(struct work *to, const struct work *a, size_t n_a, const struct work *b,
                  size_t n_b)
{
    size_t i = 0, k = 0;

    while (i < n_a || k < n_b)
        if (k == n_b || (i < n_a && a[i].submit_ms <= b[k].submit_ms))
            *to++ = a[i++];
        else
            *to++ = b[k++];
}

static bool is_sorted(const struct workload *w)
{
    for (size_t i = 1; i < w->n_jobs; i++)
        if (w->jobs[i].submit_ms < w->jobs[i - 1].submit_ms)
            return false;
    return true;
}

/* A stable sort from the bottom up. */
static int sort(struct workload *w)
{
    struct work *other, *from = w->jobs;

    if (is_sorted(w))
        return 0;
    other = arena_alloc(&w->arena, w->n_jobs * sizeof(*other));
    if (!other)
        return -ENOMEM;
    for (size_t run = 1; run < w->n_jobs; run *= 2) {
        struct work *to = from == w->jobs ? other : w->jobs;

        for (size_t at = 0; at < w->n_jobs; at += 2 * run) {
            size_t left = w->n_jobs - at, n_a = run < left ? run : left;
            size_t n_b = run < left - n_a ? run : left - n_a;

            merge(to + at, from + at, n_a, from + at + n_a, n_b);
        }
        from = to;
    }
    w->jobs = from;
    return 0;
}

/* ---- shapes ---- */

static bool same_shape(const struct work *a, const struct work *b)
{
    return a->devices == b->devices && a->per_node == b->per_node && a->milli == b->milli &&
           a->mig == b->mig && a->kinds == b->kinds && a->cpus_milli == b->cpus_milli &&
           a->memory_mib == b->memory_mib && a->speeds == b->speeds && a->least == b->least;
}

static uint64_t hash_shape(const struct work *w)
{
    uint64_t hash = mix(1, (uint64_t)w->devices << 16 | (uint16_t)w->milli);

    hash = mix(hash, (uint64_t)w->per_node << 32 | (uint32_t)w->cpus_milli);
    return mix(mix(hash, w->kinds), (uint64_t)w->memory_mib);
}

static int number_shapes(struct workload *w, struct err *e)
{
    size_t n_slots = (size_t)4 * (SHAPES + 1);
    uint32_t *slots = arena_alloc(&w->arena, n_slots * sizeof(*slots));

    if (!slots)
        return err_nomem(e);
    for (size_t i = 0; i < w->n_jobs; i++) {
        struct work *job = &w->jobs[i];
        size_t at = hash_shape(job) & (n_slots - 1);

        while (slots[at] && !same_shape(&w->jobs[slots[at] - 1], job))
            at = (at + 1) & (n_slots - 1);
        if (!slots[at]) {
            if (w->n_shapes == SHAPES)
                return err_set(e, -E2BIG, "jobs of more than %d shapes", SHAPES);
            slots[at] = (uint32_t)i + 1;
            job->shape = (uint16_t)w->n_shapes++;
        }
        job->shape = w->jobs[slots[at] - 1].shape;
    }
    return 0;
}

int workload_settle(struct workload *w, struct err *e)
{
    if (sort(w) < 0)
        return err_nomem(e);
    if (w->n_jobs) {
        int64_t first = w->jobs[0].submit_ms;

        w->first_ms = first;
        for (size_t i = 0; i < w->n_jobs; i++)
            w->jobs[i].submit_ms -= first;
    }
    w->n_shapes = 0;
    return number_shapes(w, e);
}
