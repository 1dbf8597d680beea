#include "sim/stats/timeline.h"

#include <errno.h>
#include <stdlib.h>

/* ---- groups ---- */

struct total {
    double device_ms;
    size_t number;
};

static int most_first(const void *a, const void *b)
{
    const struct total *x = a, *y = b;
    int order = COMPARE(y->device_ms, x->device_ms);

    return order ? order : COMPARE(x->number, y->number);
}

/* What a trace tells jobs apart by: 0 teams, 1 users, 2 classes, -1 nothing. */
static int kind_of(const struct workload *w)
{
    return w->teams.n > 1 ? 0 : w->users.n > 1 ? 1 : w->classes.n > 1 ? 2 : -1;
}

static size_t number_of(int kind, const struct work *w)
{
    int number = kind == 0 ? w->team : kind == 1 ? w->user : w->class;

    return (size_t)number + 1;
}

int timeline_groups_make(struct timeline_groups *ret, const struct workload *work, struct err *e)
{
    static const char *const words[] = { "team", "user", "class" };
    const struct work_names *tables[] = { &work->teams, &work->users, &work->classes };
    int kind = kind_of(work);
    size_t n = kind < 0 ? 1 : tables[kind]->n + 1, shown;
    CLEANUP(freep) struct total *totals = calloc(n, sizeof(*totals));

    *ret = (struct timeline_groups){ .of = calloc(n, 1) };
    if (!ret->of || !totals)
        return err_nomem(e);
    if (kind < 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        totals[i].number = i;
    for (size_t i = 0; i < work->n_jobs; i++)
        totals[number_of(kind, &work->jobs[i])].device_ms += (double)work->jobs[i].length_ms *
                                                             work->jobs[i].devices;
    qsort(totals, n, sizeof(*totals), most_first);
    while (n > 0 && !(totals[n - 1].device_ms > 0))
        n--;
    shown = n > TIMELINE_GROUPS ? TIMELINE_GROUPS - 1 : n;
    for (size_t i = 0; i < n; i++) {
        size_t number = totals[i].number;

        ret->of[number] = (uint8_t)MIN(i, shown);
        if (i < shown)
            ret->names[i] = number ? tables[kind]->names[number - 1] : "none";
    }
    if (shown < n)
        ret->names[shown] = "others";
    ret->n = MIN(n, (size_t)TIMELINE_GROUPS);
    ret->by = words[kind];
    return 0;
}

void timeline_groups_done(struct timeline_groups *g)
{
    free(g->of);
    *g = (struct timeline_groups){ .n = 0 };
}

/* ---- columns ---- */

/* Sums over a column, and what is added in it and all behind it. */
struct sums {
    double part[TIMELINE_COLUMNS], from[TIMELINE_COLUMNS + 1];
};

/* Add an amount from one time to another, both in columns. */
static void add(struct sums *s, double from, double to, double amount)
{
    size_t first, last;

    to = MIN(to, (double)TIMELINE_COLUMNS);
    if (!(to > from))
        return;
    first = (size_t)from;
    last = MIN((size_t)to, (size_t)TIMELINE_COLUMNS - 1);
    if (first == last) {
        s->part[first] += amount * (to - from);
        return;
    }
    s->part[first] += amount * ((double)first + 1 - from);
    s->part[last] += amount * (to - (double)last);
    s->from[first + 1] += amount;
    s->from[last] -= amount;
}

static void finish(const struct sums *s, double ret[TIMELINE_COLUMNS])
{
    double sum = 0;

    for (size_t i = 0; i < TIMELINE_COLUMNS; i++) {
        sum += s->from[i];
        ret[i] = MAX(s->part[i] + sum, 0.0);
    }
}

static double devices_of(const struct work *w, int32_t devices)
{
    return (double)devices * w->milli / WORK_WHOLE;
}

void timeline_make(struct timeline *ret, const struct sim_result *r, const struct workload *work,
                   const struct timeline_groups *g, int64_t end_ms)
{
    double column_ms = (double)MAX(end_ms, 1) / TIMELINE_COLUMNS;
    struct sums used = { { 0 }, { 0 } }, waiting = used, wants = used, group[TIMELINE_GROUPS];
    int kind = kind_of(work);

    for (size_t i = 0; i < TIMELINE_GROUPS; i++)
        group[i] = used;
    for (size_t i = 0; i < work->n_jobs; i++) {
        const struct work *w = &work->jobs[i];
        const struct sim_job *j = &r->jobs[i];
        double to = j->fate == SIM_ENDED ? (double)j->end_ms / column_ms : TIMELINE_COLUMNS;

        if (j->fate == SIM_IMPOSSIBLE)
            continue;
        add(&waiting, (double)w->submit_ms / column_ms, to, 1);
        add(&wants, (double)w->submit_ms / column_ms, to, devices_of(w, w->devices));
    }
    for (size_t i = 0; i < r->n_spans; i++) {
        const struct sim_span *x = &r->spans[i];
        const struct work *w = &work->jobs[x->job];
        double from = (double)x->from_ms / column_ms, to = (double)x->to_ms / column_ms;

        add(&used, from, to, devices_of(w, x->devices));
        add(&waiting, from, to, -1);
        add(&wants, from, to, -devices_of(w, w->devices));
        if (g->n)
            add(&group[g->of[number_of(kind, w)]], from, to, devices_of(w, x->devices));
    }
    finish(&used, ret->used);
    finish(&waiting, ret->waiting);
    finish(&wants, ret->wants);
    for (size_t i = 0; i < TIMELINE_GROUPS; i++)
        finish(&group[i], ret->group[i]);
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return COMPARE(*x, *y);
}

int timeline_end(int64_t *ret, const struct sim_result *r, const struct workload *work)
{
    static const double share = 0.99;
    CLEANUP(freep) int64_t *ends = calloc(work->n_jobs + 1, sizeof(*ends));
    size_t n = 0;

    if (!ends)
        return -ENOMEM;
    for (size_t i = 0; i < work->n_jobs; i++)
        if (r->jobs[i].fate == SIM_ENDED)
            ends[n++] = r->jobs[i].end_ms;
    qsort(ends, n, sizeof(*ends), by_time);
    *ret = n ? MAX(r->submitted_ms, ends[(size_t)((double)(n - 1) * share)]) : r->submitted_ms;
    return 0;
}
