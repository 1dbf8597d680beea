#include "sched/forecast.h"

#include <errno.h>
#include <stdlib.h>

/* ---- groups ---- */

enum { LEVEL_USER_SIZE, LEVEL_USER, LEVEL_CLASS_SIZE };

struct slot {
    uint64_t key; /* 0: free */
    uint32_t group;
};

/* What tells the groups of a level apart; 0: the job is in none of them. */
static uint64_t key_of(const struct work *w, int level)
{
    uint64_t size = (uint64_t)w->devices << 16 | (uint16_t)w->milli;
    uint64_t user = (uint64_t)(w->user + 1), class = (uint64_t)(w->class + 1);

    switch (level) {
    case LEVEL_USER_SIZE:
        return user ? 1 | user << 2 | size << 20 : 0;
    case LEVEL_USER:
        return user ? 2 | user << 2 : 0;
    case LEVEL_CLASS_SIZE:
        return 3 | class << 2 | size << 20;
    default:
        return (uint64_t)1 << 63;
    }
}

static struct slot *find_slot(struct slot *slots, size_t mask, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & mask;

    while (slots[at].key && slots[at].key != key)
        at = (at + 1) & mask;
    return &slots[at];
}

static void number(struct forecast *f, const struct workload *work, struct slot *slots, size_t mask)
{
    for (size_t i = 0; i < work->n_jobs; i++)
        for (int l = 0; l < FORECAST_LEVELS; l++) {
            uint64_t key = key_of(&work->jobs[i], l);
            struct slot *s = key ? find_slot(slots, mask, key) : NULL;

            if (s && !s->key)
                *s = (struct slot){ key, (uint32_t)f->n_groups++ };
            f->group[l][i] = s ? s->group : 0;
        }
}

int forecast_init(struct forecast *f, struct arena *a, const struct workload *work)
{
    size_t size = 16;
    struct slot *slots;

    *f = (struct forecast){ .n_groups = 1 };
    while (size < (size_t)2 * FORECAST_LEVELS * work->n_jobs)
        size *= 2;
    slots = calloc(size, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t l = 0; l < FORECAST_LEVELS; l++) {
        f->group[l] = arena_alloc(a, work->n_jobs * sizeof(*f->group[l]));
        if (!f->group[l]) {
            free(slots);
            return -ENOMEM;
        }
    }
    number(f, work, slots, size - 1);
    free(slots);
    f->groups = arena_alloc(a, f->n_groups * sizeof(*f->groups));
    return f->groups ? 0 : -ENOMEM;
}

/* ---- what they took ---- */

void forecast_learn(struct forecast *f, uint32_t job, int64_t took_ms)
{
    for (size_t l = 0; l < FORECAST_LEVELS; l++) {
        struct forecast_group *g = &f->groups[f->group[l][job]];

        if (f->group[l][job])
            g->took_ms[g->n++ % FORECAST_KEPT] = took_ms;
    }
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return COMPARE(*x, *y);
}

/* What the middle one took of those that took longer; 0: none did. */
static int64_t longer(const struct forecast_group *g, int64_t ran_ms)
{
    int64_t took_ms[FORECAST_KEPT];
    size_t n = 0;

    for (size_t i = 0; i < MIN(g->n, (uint32_t)FORECAST_KEPT); i++)
        if (g->took_ms[i] > ran_ms)
            took_ms[n++] = g->took_ms[i];
    if (n == 0)
        return 0;
    qsort(took_ms, n, sizeof(*took_ms), compare);
    return took_ms[n / 2];
}

int64_t forecast_left(const struct forecast *f, uint32_t job, int64_t ran_ms)
{
    bool any = false;

    for (size_t l = 0; l < FORECAST_LEVELS; l++) {
        const struct forecast_group *g = &f->groups[f->group[l][job]];
        int64_t took_ms;

        if (!f->group[l][job] || g->n < FORECAST_LEAST)
            continue;
        any = true;
        took_ms = longer(g, ran_ms);
        if (took_ms > 0)
            return took_ms - ran_ms;
    }
    return any ? MAX(ran_ms, 1) : WORK_UNKNOWN;
}
