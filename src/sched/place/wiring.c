#include "sched/place/wiring.h"
#include "sched/place/place_whole.h"

#include <errno.h>

/* ---- what there is ---- */

/* The number that joins a node with others at a level, from the inside out; 0: nobody said. */
static int32_t number_of(const struct pool_node *n, int level)
{
    const int32_t numbers[WIRING_LEVELS] = { n->domain, n->rack, n->leaf, n->spine };

    return numbers[level];
}

static bool has_level(const struct pool *p, int level)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (number_of(&p->nodes[i], level) != 0)
            return true;
    return false;
}

/* Number the units of a level: nodes with the same number below the same unit of the next one. */
static int number_units(struct wiring_level *x, struct arena *a, const struct pool *pool, int level,
                        const uint32_t *outer)
{
    size_t n = pool->n_nodes, n_slots = 16;
    CLEANUP(freep) uint32_t *slots = NULL; /* a node of the unit, plus 1 */

    while (n_slots < 2 * n)
        n_slots *= 2;
    slots = calloc(n_slots, sizeof(*slots));
    x->unit = arena_alloc(a, n * sizeof(*x->unit));
    if (!slots || !x->unit)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t above = outer ? outer[i] : 0;
        int32_t number = number_of(&pool->nodes[i], level);
        size_t at = ((uint64_t)above << 32 | (uint32_t)number) * 0x9e3779b97f4a7c15ULL >> 20;

        for (at &= n_slots - 1; slots[at]; at = (at + 1) & (n_slots - 1)) {
            uint32_t other = slots[at] - 1;

            if (number_of(&pool->nodes[other], level) == number &&
                (outer ? outer[other] : 0) == above)
                break;
        }
        if (!slots[at]) {
            slots[at] = (uint32_t)i + 1;
            x->unit[i] = x->n_units++;
        }
        x->unit[i] = x->unit[slots[at] - 1];
    }
    x->free = arena_alloc(a, x->n_units * sizeof(*x->free));
    x->near = arena_alloc(a, x->n_units * sizeof(*x->near));
    return x->free && x->near ? 0 : -ENOMEM;
}

int wiring_init(struct wiring *x, struct arena *a, const struct pool *pool)
{
    const uint32_t *outer = NULL;

    *x = (struct wiring){ .n_levels = 0 };
    x->mark = arena_alloc(a, pool->n_nodes * sizeof(*x->mark));
    if (!x->mark)
        return -ENOMEM;
    for (int level = 0; level < WIRING_LEVELS; level++)
        x->n_levels += has_level(pool, level);
    for (int level = WIRING_LEVELS - 1, at = x->n_levels - 1; level >= 0; level--) {
        if (!has_level(pool, level))
            continue;
        if (number_units(&x->levels[at], a, pool, level, outer) < 0)
            return -ENOMEM;
        outer = x->levels[at--].unit;
    }
    return 0;
}

/* ---- gangs on several nodes ---- */

/* A search for nodes with 'each' free devices. */
struct search {
    const struct free_capacity *r;
    const struct work *w;
    struct wiring *x;
    struct fit *f;
    int each;
};

static bool is_usable(const struct search *t, uint32_t node)
{
    return t->r->nodes[node].n_whole >= t->each && t->x->mark[node] != t->x->search &&
           free_capacity_suits(t->r, node, t->w, t->each);
}

/* Whether a node lies in a unit; all do in that of the level beyond the last. */
static bool is_in(const struct search *t, uint32_t node, int level, uint32_t unit)
{
    return level >= t->x->n_levels || t->x->levels[level].unit[node] == unit;
}

static void take_node(const struct search *t, uint32_t node)
{
    t->x->mark[node] = t->x->search;
    free_capacity_fit_add(t->r, t->f, node, t->each);
}

/* Take up to n usable nodes of a unit, the fullest first, of these the ones with the job's data;
 * how many. */
static uint32_t take_nodes(const struct search *t, int level, uint32_t unit, uint32_t n)
{
    uint32_t taken = 0;

    for (int free = t->each; free <= t->r->pool->most && taken < n; free++) {
        for (uint32_t i = 0; t->r->near && i < t->r->near->n && taken < n; i++) {
            uint32_t node = t->r->near->nodes[i];

            if (t->r->nodes[node].n_whole == free && is_in(t, node, level, unit) &&
                is_usable(t, node)) {
                take_node(t, node);
                taken++;
            }
        }
        for (int64_t node = bits_next(&t->r->level[free], 0); node >= 0 && taken < n;
             node = bits_next(&t->r->level[free], (uint32_t)node + 1))
            if (is_in(t, (uint32_t)node, level, unit) && is_usable(t, (uint32_t)node)) {
                take_node(t, (uint32_t)node);
                taken++;
            }
    }
    return taken;
}

/* Count usable nodes by the units of a level that lie in a unit of a higher one. Data count for the
 * innermost alone: which of several outer ones has the data says nothing of the units inside. */
static void count(const struct search *t, int level, int outer, uint32_t unit)
{
    struct wiring_level *x = &t->x->levels[level];

    for (uint32_t i = 0; i < x->n_units; i++)
        x->free[i] = x->near[i] = 0;
    for (int free = t->each; free <= t->r->pool->most; free++)
        for (int64_t node = bits_next(&t->r->level[free], 0); node >= 0;
             node = bits_next(&t->r->level[free], (uint32_t)node + 1))
            if (is_in(t, (uint32_t)node, outer, unit) && is_usable(t, (uint32_t)node)) {
                x->free[x->unit[node]]++;
                x->near[x->unit[node]] += level == 0 && free_capacity_is_near(t->r, (uint32_t)node);
            }
}

/* Whether a unit is to be taken before another one: with fewer usable nodes that are enough; when
 * the other one has not enough, with more; of equals, with more that have the job's data. */
static bool is_better(const struct wiring_level *x, uint32_t unit, uint32_t other, uint32_t n)
{
    uint32_t free = x->free[unit], most = x->free[other];

    if (free == most)
        return x->near[unit] > x->near[other];
    return most >= n ? free >= n && free < most : free > most;
}

/* The best unit; of several the first. n_units: none has any usable nodes. */
static uint32_t best_unit(const struct wiring_level *x, uint32_t n)
{
    uint32_t best = x->n_units;

    for (uint32_t i = 0; i < x->n_units; i++)
        if (x->free[i] > 0 && (best == x->n_units || is_better(x, i, best, n)))
            best = i;
    return best;
}

/* Take n nodes of a unit, on the fewest units of each level below it. Whether there were enough. */
static bool take(const struct search *t, int level, uint32_t unit, uint32_t n)
{
    struct wiring_level *below = level > 0 ? &t->x->levels[level - 1] : NULL;

    if (!below)
        return take_nodes(t, level, unit, n) == n;
    count(t, level - 1, level, unit);
    while (n > 0) {
        uint32_t best = best_unit(below, n), some;

        if (best == below->n_units)
            return false;
        some = MIN(n, below->free[best]);
        below->free[best] = 0;
        if (!take(t, level - 1, best, some))
            return false;
        n -= some;
    }
    return true;
}

/* n nodes in the smallest unit that has them. */
static bool find_nodes(const struct search *t, uint32_t n)
{
    for (int level = 0; level < t->x->n_levels; level++) {
        struct wiring_level *x = &t->x->levels[level];
        uint32_t best;

        count(t, level, t->x->n_levels, 0);
        best = best_unit(x, n);
        if (best == x->n_units)
            return false;
        if (x->free[best] >= n)
            return take(t, level, best, n);
    }
    return take(t, t->x->n_levels, 0, n);
}

/* At how many levels a node is in the unit of another. */
static int nearness(const struct wiring *x, uint32_t a, uint32_t b)
{
    int near = 0;

    for (int level = 0; level < x->n_levels; level++)
        near += x->levels[level].unit[a] == x->levels[level].unit[b];
    return near;
}

/* The rest of a gang: near its other nodes, then where the fewest devices are free, then where its
 * data are. */
static bool find_rest(struct search *t, int rest)
{
    uint32_t beside = t->f->parts[t->f->n - 1].node;
    int64_t best = -1;
    int nearest = -1, fewest = 0;

    t->each = rest;
    for (int free = rest; free <= t->r->pool->most; free++)
        for (int64_t node = bits_next(&t->r->level[free], 0); node >= 0;
             node = bits_next(&t->r->level[free], (uint32_t)node + 1)) {
            int near = nearness(t->x, (uint32_t)node, beside);

            bool with_data = near == nearest && free == fewest &&
                             free_capacity_is_near(t->r, (uint32_t)node) &&
                             !free_capacity_is_near(t->r, (uint32_t)best);

            if ((near <= nearest && !with_data) || !is_usable(t, (uint32_t)node))
                continue;
            nearest = near;
            fewest = free;
            best = node;
        }
    if (best < 0)
        return false;
    free_capacity_fit_add(t->r, t->f, (uint32_t)best, rest);
    return true;
}

/* ---- jobs on one node ---- */

/* Whether a node is to be taken before another one with as many free devices: when its unit has
 * fewer nodes that are wholly free, so that those of others stay together; of equals, when it has
 * the job's data. */
static bool goes_before(const struct search *t, uint32_t node, uint32_t other)
{
    const struct wiring_level *x = &t->x->levels[0];
    uint32_t free = x->free[x->unit[node]], most = x->free[x->unit[other]];

    return free != most ? free < most
                        : free_capacity_is_near(t->r, node) && !free_capacity_is_near(t->r, other);
}

/* On the node with the fewest free devices that are enough; of several the one that goes first. */
static bool find_one(struct search *t)
{
    int need = t->each;
    int64_t best = -1;

    t->each = t->r->pool->most;
    count(t, 0, t->x->n_levels, 0);
    t->each = need;
    for (int free = need; free <= t->r->pool->most && best < 0; free++)
        for (int64_t node = bits_next(&t->r->level[free], 0); node >= 0;
             node = bits_next(&t->r->level[free], (uint32_t)node + 1))
            if (is_usable(t, (uint32_t)node) &&
                (best < 0 || goes_before(t, (uint32_t)node, (uint32_t)best)))
                best = node;
    if (best < 0)
        return false;
    free_capacity_fit_add(t->r, t->f, (uint32_t)best, need);
    return true;
}

bool place_topology(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    int each = w->per_node ? w->per_node : MIN(w->devices, r->pool->most);
    struct search t = { .r = r, .w = w, .x = r->wiring, .f = f, .each = each };

    if (!r->wiring || r->wiring->n_levels == 0 || w->devices == 0 || w->milli < WORK_WHOLE)
        return place_consolidated(r, w, f);
    f->n = 0;
    if (r->whole < w->devices || each > r->pool->most || (w->per_node && w->devices % each != 0))
        return false;
    r->wiring->search++;
    if (w->devices == each)
        return find_one(&t);
    return find_nodes(&t, (uint32_t)(w->devices / each)) &&
           (w->devices % each == 0 || find_rest(&t, w->devices % each));
}
