#include "sched/place/place_whole.h"

/* Of those that the data of the job are on, the first from a place in their list on that suits and
 * has exactly 'level' devices free; -1. */
static int64_t near_on_level(const struct free_capacity *r, const struct work *w, int level,
                             int need, uint32_t *at)
{
    while (r->near && *at < r->near->n) {
        uint32_t node = r->near->nodes[(*at)++];

        if (r->nodes[node].n_whole == level && free_capacity_suits(r, node, w, need))
            return node;
    }
    return -1;
}

/* The first node that suits and has exactly 'level' devices free, from a number on; -1. */
static int64_t on_level(const struct free_capacity *r, const struct work *w, int level, int need,
                        uint32_t from)
{
    int64_t node = bits_next(&r->level[level], from);

    while (node >= 0 && !free_capacity_suits(r, (uint32_t)node, w, need))
        node = bits_next(&r->level[level], (uint32_t)node + 1);
    return node;
}

static bool holds(const struct fit *f, uint32_t node)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->parts[i].node == node)
            return true;
    return false;
}

/* The node with the fewest free devices that are enough; of several the first, or the first with
 * the job's data. */
static int64_t tightest(const struct free_capacity *r, const struct work *w, int need)
{
    int64_t node = -1;

    for (int level = need; level <= r->pool->most && node < 0; level++) {
        uint32_t at = 0;

        node = near_on_level(r, w, level, need, &at);
        if (node < 0)
            node = on_level(r, w, level, need, 0);
    }
    return node;
}

/* The first node with enough free devices. */
static int64_t first(const struct free_capacity *r, const struct work *w, int need)
{
    int64_t best = -1;

    for (int level = need; level <= r->pool->most; level++) {
        const struct bits *nodes = &r->level[level];
        int64_t node = nodes->count ? bits_next(nodes, 0) : -1;

        while (node >= 0 && (best < 0 || node < best) &&
               !free_capacity_suits(r, (uint32_t)node, w, need))
            node = bits_next(nodes, (uint32_t)node + 1);
        if (node >= 0 && (best < 0 || node < best))
            best = node;
    }
    return best;
}

/* A share of one device: the fullest that still has it, on the first node of those, or the first
 * with the job's data. */
static bool find_share(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    int best = WORK_WHOLE + 1;

    f->n = 0;
    for (uint32_t i = 0; i < r->pool->n_nodes; i++) {
        const struct free_capacity_node *n = &r->nodes[i];

        if (!free_capacity_suits(r, i, w, 1))
            continue;
        for (int d = 0; d < r->pool->nodes[i].devices; d++)
            if (free_capacity_has_share(n, d, w) &&
                (n->left[d] < best ||
                 (n->left[d] == best && !free_capacity_is_near(r, f->parts[0].node) &&
                  free_capacity_is_near(r, i)))) {
                best = n->left[d];
                f->n = 1;
                f->parts[0] = (struct part){ i, (uint16_t)(1U << d), w->milli, NO_PART };
            }
    }
    return f->n == 1;
}

/* No device: any node whose CPUs and memory are enough. */
static bool find_none(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    int64_t node = -1;

    for (uint32_t i = 0; r->near && i < r->near->n && node < 0; i++)
        if (free_capacity_suits(r, r->near->nodes[i], w, 0))
            node = r->near->nodes[i];
    for (uint32_t i = 0; i < r->pool->n_nodes && node < 0; i++)
        if (free_capacity_suits(r, i, w, 0))
            node = i;
    f->n = node >= 0;
    if (node >= 0)
        f->parts[0] = (struct part){ (uint32_t)node, 0, 0, NO_PART };
    return node >= 0;
}

/* What is not a gang of whole devices on as few nodes as hold it. Returns whether it was. */
static bool find_special(const struct free_capacity *r, const struct work *w, struct fit *f,
                         bool *found)
{
    if (w->devices == 0)
        *found = find_none(r, w, f);
    else if (w->milli < WORK_WHOLE)
        *found = find_share(r, w, f);
    else
        return false;
    return true;
}

/* 'count' nodes with 'need' devices each, the fullest first; of those, the ones with its data. */
static bool find_each(const struct free_capacity *r, const struct work *w, struct fit *f, int count,
                      int need)
{
    for (int level = need; level <= r->pool->most && count > 0; level++) {
        uint32_t at = 0;
        int64_t node;

        for (; count > 0 && (node = near_on_level(r, w, level, need, &at)) >= 0; count--)
            free_capacity_fit_add(r, f, (uint32_t)node, need);
        for (node = on_level(r, w, level, need, 0); node >= 0 && count > 0;
             node = on_level(r, w, level, need, (uint32_t)node + 1)) {
            if (free_capacity_is_near(r, (uint32_t)node))
                continue;
            free_capacity_fit_add(r, f, (uint32_t)node, need);
            count--;
        }
    }
    return count == 0;
}

/* The first node with exactly so many free devices that is not in a place yet, or the first with
 * the job's data; -1. */
static int64_t other_on_level(const struct free_capacity *r, const struct work *w,
                              const struct fit *f, int level, int need)
{
    uint32_t at = 0;
    int64_t node = near_on_level(r, w, level, need, &at);

    while (node >= 0 && holds(f, (uint32_t)node))
        node = near_on_level(r, w, level, need, &at);
    if (node >= 0)
        return node;
    node = on_level(r, w, level, need, 0);
    while (node >= 0 && holds(f, (uint32_t)node))
        node = on_level(r, w, level, need, (uint32_t)node + 1);
    return node;
}

/* Whole nodes, then the rest on the node with the most free devices of those left over, or on the
 * first that has enough. */
static bool find_many(const struct free_capacity *r, const struct work *w, struct fit *f,
                      bool rest_first)
{
    int most = r->pool->most, rest = w->devices % most;

    if (r->level[most].count < (uint32_t)(w->devices / most) ||
        !find_each(r, w, f, w->devices / most, most))
        return false;
    if (rest == 0)
        return true;
    if (rest_first) {
        for (uint32_t i = 0; i < r->pool->n_nodes; i++)
            if (r->nodes[i].n_whole >= rest && free_capacity_suits(r, i, w, rest) && !holds(f, i)) {
                free_capacity_fit_add(r, f, i, rest);
                return true;
            }
        return false;
    }
    for (int level = most; level >= rest; level--) {
        int64_t node = other_on_level(r, w, f, level, rest);

        if (node < 0)
            continue;
        free_capacity_fit_add(r, f, (uint32_t)node, rest);
        return true;
    }
    return false;
}

/* A gang whose shape on its nodes is given. */
static bool find_shaped(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    if (w->devices % w->per_node != 0 || w->per_node > r->pool->most)
        return false;
    return find_each(r, w, f, w->devices / w->per_node, w->per_node);
}

/* On one node if it fits there, else on whole nodes. */
static bool find_whole(const struct free_capacity *r, const struct work *w, struct fit *f,
                       bool in_order)
{
    bool found;
    int64_t node;

    if (find_special(r, w, f, &found))
        return found;
    f->n = 0;
    if (r->whole < w->devices)
        return false;
    if (w->per_node)
        return find_shaped(r, w, f);
    if (w->devices > r->pool->most)
        return find_many(r, w, f, in_order);
    node = in_order ? first(r, w, w->devices) : tightest(r, w, w->devices);
    if (node < 0)
        return false;
    free_capacity_fit_add(r, f, (uint32_t)node, w->devices);
    return true;
}

/* The fullest node that has room. */
bool place_consolidated(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    return find_whole(r, w, f, false);
}

bool place_first(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    return find_whole(r, w, f, true);
}

/* Wherever devices are free, from the first node on. */
bool place_scattered(const struct free_capacity *r, const struct work *w, struct fit *f)
{
    int left = w->devices;
    bool found;

    if (find_special(r, w, f, &found))
        return found;
    f->n = 0;
    if (r->whole < w->devices)
        return false;
    for (uint32_t i = 0; i < r->pool->n_nodes && left > 0; i++) {
        int take = MIN(left, r->nodes[i].n_whole - (r->keep ? r->keep[i] : 0));

        if (take <= 0 || !free_capacity_suits(r, i, w, take))
            continue;
        free_capacity_fit_add(r, f, i, take);
        left -= take;
    }
    return left == 0;
}
