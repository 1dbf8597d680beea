#include "plan/search/pareto.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FIELDS = 21 };

int layout_compare(const struct layout *a, const struct layout *b)
{
    /* What a program needs more of comes first: of two that are as fast, the plainer one wins. */
    const int x[FIELDS] = { a->offload,
                            a->zero,
                            (int)a->schedule,
                            (int)a->recompute,
                            a->shard,
                            a->vpp,
                            a->etp,
                            a->cp,
                            a->pp,
                            a->tp,
                            a->ep,
                            a->dp,
                            -a->micro_batch,
                            a->context,
                            a->less.last,
                            a->less.first,
                            a->overlap_ep,
                            a->overlap_pp,
                            a->overlap_tp,
                            a->overlap_dp,
                            a->seq_parallel };
    const int y[FIELDS] = { b->offload,
                            b->zero,
                            (int)b->schedule,
                            (int)b->recompute,
                            b->shard,
                            b->vpp,
                            b->etp,
                            b->cp,
                            b->pp,
                            b->tp,
                            b->ep,
                            b->dp,
                            -b->micro_batch,
                            b->context,
                            b->less.last,
                            b->less.first,
                            b->overlap_ep,
                            b->overlap_pp,
                            b->overlap_tp,
                            b->overlap_dp,
                            b->seq_parallel };

    for (int i = 0; i < FIELDS; i++)
        if (x[i] != y[i])
            return COMPARE(x[i], y[i]);
    return 0;
}

bool found_layout_before(const struct found_layout *a, const struct found_layout *b)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s;
    return layout_compare(&a->layout, &b->layout) < 0;
}

bool layout_same_degrees(const struct layout *a, const struct layout *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep &&
           a->etp == b->etp && a->dp == b->dp;
}

/* ---- the front ---- */

void pareto_done(struct pareto *f)
{
    free(f->list);
    *f = (struct pareto){ .n = 0 };
}

static double bucket(double memory_b)
{
    return ceil(memory_b / 1e9);
}

/* Whether a is as good as b in all three. */
static bool as_good(const struct found_layout *a, double time_s, double memory, int gpus)
{
    return a->time_s <= time_s && a->gpus <= gpus && bucket(a->memory_b) <= memory;
}

bool pareto_beats(const struct pareto *f, double time_s, double memory_b, int gpus)
{
    double memory = bucket(memory_b);

    for (size_t i = 0; i < f->n; i++)
        if (as_good(&f->list[i], time_s, memory, gpus) && f->list[i].time_s < time_s)
            return true;
    return false;
}

/* Whether a stays when b is there: of two that are alike in all three the plainer one does. */
static bool beaten(const struct found_layout *a, const struct found_layout *b)
{
    if (!as_good(b, a->time_s, bucket(a->memory_b), a->gpus))
        return false;
    return !as_good(a, b->time_s, bucket(b->memory_b), b->gpus) || found_layout_before(b, a);
}

int pareto_offer(struct pareto *f, const struct found_layout *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++)
        if (beaten(c, &f->list[i]) || !layout_compare(&c->layout, &f->list[i].layout))
            return 0;
    for (size_t i = 0; i < f->n; i++)
        if (!beaten(&f->list[i], c))
            f->list[kept++] = f->list[i];
    f->n = kept;
    if (f->n == f->room) {
        size_t room = MAX(2 * f->room, (size_t)64);
        struct found_layout *list = realloc(f->list, room * sizeof(*list));

        if (!list)
            return -ENOMEM;
        f->list = list;
        f->room = room;
    }
    f->list[f->n++] = *c;
    return 0;
}

static int compare(const void *x, const void *y)
{
    const struct found_layout *a = x, *b = y;

    if (a->gpus != b->gpus)
        return COMPARE(b->gpus, a->gpus);
    return found_layout_before(a, b) ? -1 : 1;
}

void pareto_sort(struct pareto *f)
{
    if (f->n)
        qsort(f->list, f->n, sizeof(*f->list), compare);
}
