#include "cmd/sim/what.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { GIVEN = 64 };

/* ---- another pool ---- */

static const char what_help[] =
    "write nodes=+16, +4x8:A100, -8 or -8:A100, several parted by commas";

/* What "16", "4x8" or "4x8:A100" says; devices is 0, kind NULL where it does not. */
struct change {
    uint64_t nodes, devices;
    const char *kind;
};

static int read_change(char *text, struct change *ret)
{
    char *kind = strchr(text, ':'), *devices;

    *ret = (struct change){ .kind = kind ? kind + 1 : NULL };
    if (kind)
        *kind = '\0';
    devices = strchr(text, 'x');
    if (devices) {
        *devices++ = '\0';
        if (parse_u64(devices, &ret->devices) < 0 || ret->devices == 0 ||
            ret->devices > POOL_DEVICES)
            return -EINVAL;
    }
    if (parse_u64(text, &ret->nodes) < 0 || ret->nodes == 0 || ret->nodes > POOL_NODES)
        return -EINVAL;
    return 0;
}

static bool matches(const struct pool *p, const struct pool_node *n, const struct change *c)
{
    return (c->devices == 0 || n->devices == c->devices) &&
           (!c->kind || !strcmp(p->kinds[n->kind], c->kind));
}

/* The node of which there are most; its number of equals counts. */
static const struct pool_node *usual(const struct pool *p, const struct change *c)
{
    size_t counts[POOL_KINDS][POOL_DEVICES + 1] = { { 0 } };
    const struct pool_node *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct pool_node *n = &p->nodes[i];

        if (matches(p, n, c) && ++counts[n->kind][n->devices] > most) {
            most = counts[n->kind][n->devices];
            best = n;
        }
    }
    return best;
}

static int add_nodes(struct pool *p, const struct pool *from, const struct change *c, struct err *e)
{
    const struct pool_node *as = usual(from, c);
    struct pool_node node = { .devices = (uint8_t)c->devices };
    const char *kind = c->kind ? c->kind : as ? from->kinds[as->kind] : "";
    int rc = 0;

    if (as) {
        node = *as;
        node.name = NULL;
        node.domain = node.leaf = node.spine = node.rack = 0;
    } else if (c->devices == 0) {
        return err_set(e, -EINVAL, "--what-if: no node has %s: say how many devices, +%llux8:%s",
                       kind, (unsigned long long)c->nodes, kind);
    }
    for (uint64_t i = 0; i < c->nodes && rc == 0; i++)
        rc = pool_add(p, &node, kind, e);
    return rc;
}

/* All nodes of a pool but the last ones that match. */
static int without(struct pool *ret, const struct pool *from, const struct change *c, struct err *e)
{
    size_t there = 0;
    uint64_t keep;
    int rc = 0;

    for (size_t i = 0; i < from->n_nodes; i++)
        there += matches(from, &from->nodes[i], c);
    if (c->nodes > there || c->nodes == from->n_nodes)
        return err_set(e, -EINVAL, "--what-if: %llu of %zu nodes cannot go",
                       (unsigned long long)c->nodes, c->nodes > there ? there : from->n_nodes);
    keep = there - c->nodes;
    for (size_t i = 0; i < from->n_nodes && rc == 0; i++) {
        const struct pool_node *n = &from->nodes[i];

        if (matches(from, n, c)) {
            if (keep == 0)
                continue;
            keep--;
        }
        rc = pool_add(ret, n, from->kinds[n->kind], e);
    }
    return rc;
}

static int copy(struct pool *ret, const struct pool *from, struct err *e)
{
    const struct change none = { .nodes = 0 };

    return from->n_nodes ? without(ret, from, &none, e) : 0;
}

/* Apply one change; the pool is replaced. */
static int apply(struct pool *p, const struct pool *from, char *text, struct err *e)
{
    char given[GIVEN];
    struct pool less = { .n_nodes = 0 };
    struct change c;
    int rc;

    snprintf(given, sizeof(given), "%s", text); /* before it is taken apart */
    if ((*text != '+' && *text != '-') || read_change(text + 1, &c) < 0)
        return err_set(e, -EINVAL, "--what-if %s: %s", given, what_help);
    if (*text == '+')
        return add_nodes(p, from, &c, e);
    rc = without(&less, p, &c, e);
    if (rc < 0) {
        pool_done(&less);
        return rc;
    }
    pool_done(p);
    *p = less;
    return 0;
}

int sim_what_pool(struct pool *ret, const struct pool *from, const char *change, struct err *e)
{
    static const char prefix[] = "nodes=";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct pool pool = { .n_nodes = 0 };
    char *rest, *one;
    int rc = copy(&pool, from, e);

    if (!strncmp(change, prefix, sizeof(prefix) - 1))
        change += sizeof(prefix) - 1;
    rest = arena_strdup(&a, change);
    if (rc == 0 && !rest)
        rc = err_nomem(e);
    while (rc == 0 && (one = strsep(&rest, ",")))
        rc = apply(&pool, from, one, e);
    if (rc < 0)
        pool_done(&pool);
    else
        *ret = pool;
    return rc;
}

/* ---- a target ---- */

static int add_need(struct sim_needs *s, int devices, const char *kind, struct err *e)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].shape.devices == devices && !strcmp(s->list[i].shape.kind, kind))
            return 0;
    if (s->n == SIM_NEEDS)
        return err_usage(e, "more than %d kinds of nodes to add: name some, --with 8:H100",
                         SIM_NEEDS);
    s->list[s->n++] = (struct sim_need){ .shape = { devices, kind } };
    return 0;
}

/* "8:H100,4:A100". */
static int read_with(struct sim_needs *s, struct arena *a, const char *with, struct err *e)
{
    char *rest = arena_strdup(a, with), *one;
    int rc = 0;

    if (!rest)
        return err_nomem(e);
    while (rc == 0 && (one = strsep(&rest, ","))) {
        char *kind = strchr(one, ':');
        uint64_t devices;

        if (kind)
            *kind++ = '\0';
        if (parse_u64(one, &devices) < 0 || devices == 0 || devices > POOL_DEVICES)
            return err_usage(e, "--with %s: nodes are written as 8 or 8:H100", with);
        rc = add_need(s, (int)devices, kind ? kind : "", e);
    }
    return rc;
}

static int hour_of(const struct capacity_shape *shape, size_t nodes, struct device_prices *rates,
                   double *ret, struct err *e)
{
    int row = device_prices_row(rates, shape->kind, e);

    if (row < 0)
        return row;
    *ret = (double)nodes * shape->devices * rates->rows[row].usd_per_hour;
    return 0;
}

static void find_best(struct sim_needs *s)
{
    s->fewest = s->cheapest = -1;
    for (size_t i = 0; i < s->n; i++) {
        const struct sim_need *x = &s->list[i];

        if (!x->answer.found)
            continue;
        if (s->fewest < 0 || x->answer.nodes < s->list[s->fewest].answer.nodes)
            s->fewest = (int)i;
        if (!isnan(x->usd_hour) && (s->cheapest < 0 || x->usd_hour < s->list[s->cheapest].usd_hour))
            s->cheapest = (int)i;
    }
}

int sim_what_needs(struct sim_needs *ret, struct arena *a, const struct capacity_ask *ask,
                   const char *with, struct device_prices *rates, struct err *e)
{
    struct sim_needs s = { .target = ask->target };
    int rc = with ? read_with(&s, a, with, e) : 0;

    for (size_t i = 0; !with && i < ask->pool->n_nodes && rc == 0; i++)
        rc = add_need(&s, ask->pool->nodes[i].devices, ask->pool->kinds[ask->pool->nodes[i].kind],
                      e);
    for (size_t i = 0; i < s.n && rc == 0; i++) {
        struct capacity_ask one = *ask;

        one.shape = s.list[i].shape;
        rc = capacity_find(&s.list[i].answer, &one, e);
        if (rc == 0)
            rc = hour_of(&one.shape, s.list[i].answer.nodes, rates, &s.list[i].usd_hour, e);
    }
    if (rc < 0)
        return rc;
    find_best(&s);
    *ret = s;
    return 0;
}
