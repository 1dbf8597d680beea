#include "sim/outages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"

static const double day_ms = 86400e3;

/* ---- failures by rate ---- */

/* SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* Above 0, up to 1. */
static double next_share(uint64_t *state)
{
    return ((double)(next_random(state) >> 11) + 1) * 0x1p-53;
}

/* The node of a device by its number. */
static uint32_t node_of(const struct outages *f, int64_t device)
{
    size_t low = 0, high = f->pool->n_nodes - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (device < f->until[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

/* Times between failures of all nodes together are exponential; each is one device's. */
static void draw(struct outages *f)
{
    double rate = f->o.per_device_day * (double)f->pool->devices / day_ms;
    double wait = rate > 0 ? -log(next_share(&f->random)) / rate : (double)INFINITY;
    double device = floor(next_share(&f->random) * (double)f->pool->devices);

    if (!(wait < (double)(INT64_MAX / 4))) {
        f->drawn.at_ms = INT64_MAX;
        return;
    }
    f->drawn.at_ms += MAX((int64_t)wait, 1);
    f->drawn.lasts_ms = f->o.repair_ms;
    f->drawn.node = node_of(f, MIN((int64_t)device, f->pool->devices - 1));
}

/* ---- open ---- */

int outages_open(struct outages *f, const struct outage_options *o, const struct pool *pool,
                 struct err *e)
{
    size_t n = pool->n_nodes;
    int64_t devices = 0;

    *f = (struct outages){ .o = *o, .pool = pool, .random = o->seed };
    if (o->spares && o->spares >= n)
        return err_set(e, -EINVAL, "%u spare nodes of %zu leave none to work on", o->spares, n);
    f->until = arena_alloc(&f->arena, n * sizeof(*f->until));
    f->state = arena_alloc(&f->arena, n);
    f->stood = arena_alloc(&f->arena, n);
    f->shut = arena_alloc(&f->arena, n);
    f->back_ms = arena_alloc(&f->arena, n * sizeof(*f->back_ms));
    if (!f->until || !f->state || !f->stood || !f->back_ms || !f->shut) {
        outages_done(f);
        return err_nomem(e);
    }
    for (size_t i = 0; i < n; i++)
        f->until[i] = devices += pool->nodes[i].devices;
    for (size_t i = n - o->spares; i < n; i++) {
        f->state[i] = OUTAGE_SPARE;
        f->stood[i] = 1;
    }
    draw(f);
    return 0;
}

void outages_done(struct outages *f)
{
    arena_done(&f->arena);
    heap_done(&f->ups);
    *f = (struct outages){ .next = 0 };
}

/* ---- what happens ---- */

int64_t outages_next(struct outages *f)
{
    const struct heap_event *up = heap_first(&f->ups);
    int64_t at = f->drawn.at_ms;

    if (f->next < f->o.n_list)
        at = MIN(at, f->o.list[f->next].at_ms);
    return up ? MIN(at, up->at_ms) : at;
}

/* A spare that can stand in for a node; UINT32_MAX. */
static uint32_t find_spare(const struct outages *f, uint32_t node)
{
    const struct pool_node *of = &f->pool->nodes[node];

    for (uint32_t i = 0; f->o.spares && i < f->pool->n_nodes; i++)
        if (f->state[i] == OUTAGE_SPARE && f->pool->nodes[i].devices == of->devices &&
            f->pool->nodes[i].kind == of->kind)
            return i;
    return UINT32_MAX;
}

static int fail(struct outages *f, const struct outage *x, int64_t now_ms, struct outage_step *ret)
{
    int64_t lasts = MAX(x->lasts_ms, 1);

    *ret = (struct outage_step){ .node = x->node, .kind = x->kind, .other = UINT32_MAX };
    ret->until_ms = lasts < INT64_MAX / 4 ? now_ms + lasts : INT64_MAX;
    ret->used = f->state[x->node] == OUTAGE_UP;
    if (x->kind != OUTAGE_FAILURE)
        f->shut[x->node] = x->kind == OUTAGE_CLOSES ? 1 : 2;
    if (x->kind == OUTAGE_CLOSES)
        return 1;
    f->back_ms[x->node] = MAX(f->back_ms[x->node], ret->until_ms);
    f->state[x->node] = OUTAGE_DOWN;
    if (ret->used) {
        ret->other = find_spare(f, x->node);
        f->stood[x->node] = ret->other != UINT32_MAX;
        if (ret->other != UINT32_MAX)
            f->state[ret->other] = OUTAGE_UP;
    }
    return heap_add(&f->ups, ret->until_ms, x->node, 0) < 0 ? -ENOMEM : 1;
}

/* One that was replaced is a spare from now on. */
static void come_back(struct outages *f, uint32_t node, struct outage_step *ret)
{
    *ret = (struct outage_step){ .node = node, .up = true, .other = UINT32_MAX };
    ret->used = !f->stood[node];
    ret->opens = f->shut[node] == 2;
    if (ret->opens)
        f->shut[node] = 0;
    f->state[node] = ret->used ? OUTAGE_UP : OUTAGE_SPARE;
}

int outages_step(struct outages *f, int64_t now_ms, struct outage_step *ret)
{
    const struct heap_event *up = heap_first(&f->ups);

    while (up && up->at_ms <= now_ms) {
        uint32_t node = up->job;
        bool back = up->at_ms >= f->back_ms[node] && f->state[node] == OUTAGE_DOWN;

        heap_pop(&f->ups);
        up = heap_first(&f->ups);
        if (!back)
            continue; /* it is out for another reason, too, or is back from that already */
        come_back(f, node, ret);
        return 1;
    }
    while (f->next < f->o.n_list && f->o.list[f->next].at_ms <= now_ms) {
        const struct outage *x = &f->o.list[f->next++];

        if (f->state[x->node] != OUTAGE_DOWN || x->kind == OUTAGE_CLOSES)
            return fail(f, x, now_ms, ret);
        if (x->kind == OUTAGE_WINDOW)
            f->shut[x->node] = 2;
        f->back_ms[x->node] = MAX(f->back_ms[x->node], now_ms + MAX(x->lasts_ms, 1));
        if (heap_add(&f->ups, now_ms + MAX(x->lasts_ms, 1), x->node, 0) < 0)
            return -ENOMEM;
    }
    while (f->drawn.at_ms <= now_ms) {
        const struct outage x = f->drawn;

        draw(f);
        if (f->state[x.node] != OUTAGE_DOWN)
            return fail(f, &x, now_ms, ret);
    }
    return 0;
}

/* ---- checkpoints ---- */

int64_t outages_takes(int64_t work_ms, int64_t every_ms, int64_t cost_ms)
{
    if (work_ms <= 0 || every_ms <= 0)
        return work_ms;
    return work_ms + (work_ms - 1) / every_ms * cost_ms;
}

struct outage_work outages_did(int64_t ran_ms, int64_t work_ms, int64_t every_ms, int64_t cost_ms)
{
    int64_t round_ms = every_ms + cost_ms, rounds;
    struct outage_work w = { MIN(MAX(ran_ms, 0), work_ms), 0, 0 };

    if (every_ms <= 0 || work_ms <= 0)
        return w;
    rounds = MIN(MAX(ran_ms, 0) / round_ms, (work_ms - 1) / every_ms);
    w.saved_ms = MIN(rounds * every_ms, work_ms);
    w.did_ms = MIN(w.saved_ms + MIN(MAX(ran_ms, 0) - rounds * round_ms, every_ms), work_ms);
    w.paid_ms = rounds * cost_ms;
    return w;
}

/* ---- a list ---- */

static int by_time(const void *a, const void *b)
{
    const struct outage *x = a, *y = b;
    int order = COMPARE(x->at_ms, y->at_ms);

    if (!order)
        order = COMPARE(x->node, y->node);
    return order ? order : COMPARE(x->kind, y->kind);
}

static int find_node(const struct pool *pool, const char *name, uint32_t *ret)
{
    for (uint32_t i = 0; i < pool->n_nodes; i++)
        if (!strcmp(pool->nodes[i].name, name)) {
            *ret = i;
            return 0;
        }
    return -ENOENT;
}

static int seconds(const char *text, int64_t *ret)
{
    static const double most_s = 100 * 365.0 * 86400;
    double s;

    if (parse_double(text, &s) < 0 || !(s >= 0) || s > most_s)
        return -EINVAL;
    *ret = (int64_t)llround(s * 1e3);
    return 0;
}

struct table {
    const struct pool *pool;
    const struct outage_text *text;
    bool windows;
};

/* A row: time_s, node, duration_s and, for windows, drain_s. */
static int take_row(const struct csv *c, const struct table *t, struct outage *ret,
                    int64_t *drain_ms, struct err *e)
{
    *drain_ms = 0;
    if (c->n_fields != (t->windows ? 4U : 3U) || seconds(c->fields[0], &ret->at_ms) < 0 ||
        seconds(c->fields[2], &ret->lasts_ms) < 0 ||
        (t->windows && seconds(c->fields[3], drain_ms) < 0))
        return err_set(e, -EINVAL, "%s:%d: a %s is time_s,node,duration_s%s, in seconds",
                       t->text->file, c->line, t->windows ? "window" : "failure",
                       t->windows ? ",drain_s" : "");
    if (find_node(t->pool, c->fields[1], &ret->node) < 0)
        return err_set(e, -EINVAL, "%s:%d: there is no node %.60s", t->text->file, c->line,
                       c->fields[1]);
    return 0;
}

static int read_table(struct arena *a, const struct table *t, struct csv *c, struct outage **list,
                      size_t *n, struct err *e)
{
    struct outage one, *added;
    int64_t drain_ms;
    int rc;

    while ((rc = csv_next(c)) > 0) {
        one = (struct outage){ .kind = t->windows ? OUTAGE_WINDOW : OUTAGE_FAILURE };
        rc = take_row(c, t, &one, &drain_ms, e);
        if (rc < 0)
            return rc;
        added = ARENA_PUSH(a, list, n);
        if (added)
            *added = one;
        if (!added || (t->windows && !(added = ARENA_PUSH(a, list, n))))
            return err_nomem(e);
        if (t->windows)
            *added = (struct outage){ MAX(one.at_ms - drain_ms, 0), MIN(drain_ms, one.at_ms),
                                      one.node, OUTAGE_CLOSES };
    }
    return rc < 0 ? err_set(e, -EINVAL, "%s:%d: not a row of a table", t->text->file, c->line) : 0;
}

static int read_list(struct arena *a, const struct table *t, struct outage **ret, size_t *n,
                     struct err *e)
{
    struct outage *list = NULL;
    size_t count = 0;
    struct csv c;
    int rc;

    csv_init(&c, t->text->text, t->text->len);
    if (csv_next(&c) <= 0 || c.n_fields != (t->windows ? 4U : 3U) ||
        strcmp(c.fields[0], "time_s") != 0)
        return err_set(e, -EINVAL, "%s: a list of %s starts with time_s,node,duration_s%s",
                       t->text->file, t->windows ? "windows" : "failures",
                       t->windows ? ",drain_s" : "");
    rc = read_table(a, t, &c, &list, &count, e);
    if (rc < 0)
        return rc;
    if (count)
        qsort(list, count, sizeof(*list), by_time);
    *ret = list;
    *n = count;
    return 0;
}

int outages_read(struct arena *a, const struct pool *pool, const struct outage_text *text,
                 struct outage **ret, size_t *n, struct err *e)
{
    return read_list(a, &(struct table){ pool, text, false }, ret, n, e);
}

int outages_read_windows(struct arena *a, const struct pool *pool, const struct outage_text *text,
                         struct outage **ret, size_t *n, struct err *e)
{
    return read_list(a, &(struct table){ pool, text, true }, ret, n, e);
}

int outages_join(struct arena *a, struct outage **ret, size_t *n, const struct outage *other,
                 size_t n_other)
{
    struct outage *both = arena_alloc(a, (*n + n_other) * sizeof(*both));

    if (!both)
        return -ENOMEM;
    for (size_t i = 0; i < *n + n_other; i++)
        both[i] = i < *n ? (*ret)[i] : other[i - *n];
    qsort(both, *n + n_other, sizeof(*both), by_time);
    *ret = both;
    *n += n_other;
    return 0;
}
