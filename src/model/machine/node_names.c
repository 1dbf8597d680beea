#include "model/machine/node_names.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* FNV-1a */
static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = 0xcbf29ce484222325U;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)text[i]) * 0x100000001b3U;
    return h ^ h >> 32;
}

/* The slot that holds a name, or the empty one where it belongs. */
static uint32_t *find_slot(const struct node_names *l, const char *name, size_t len)
{
    size_t at = hash(name, len) & (l->n_slots - 1);

    for (; l->slots[at]; at = (at + 1) & (l->n_slots - 1)) {
        const char *other = l->pool->nodes[l->slots[at] - 1].name;

        if (!strncmp(other, name, len) && !other[len])
            break;
    }
    return &l->slots[at];
}

int node_names_init(struct node_names *l, struct arena *a, const struct pool *pool)
{
    *l = (struct node_names){ .pool = pool, .n_slots = 16 };
    while (l->n_slots < 2 * pool->n_nodes)
        l->n_slots *= 2;
    l->slots = arena_alloc(a, l->n_slots * sizeof(*l->slots));
    if (!l->slots)
        return -ENOMEM;
    for (size_t i = 0; i < pool->n_nodes; i++) {
        const char *name = pool->nodes[i].name;
        uint32_t *slot = find_slot(l, name, strlen(name));

        if (!*slot)
            *slot = (uint32_t)i + 1;
    }
    return 0;
}

static int add(struct node_names_found *to, struct arena *a, uint32_t node)
{
    uint32_t *added = ARENA_PUSH(a, &to->nodes, &to->n);

    if (!added)
        return -ENOMEM;
    *added = node;
    return 0;
}

/* What joins nodes, by name. */
static const struct unit {
    const char *name;
    size_t offset; /* of its number in a node */
} units[] = {
    { "domain:", offsetof(struct pool_node, domain) },
    { "rack:", offsetof(struct pool_node, rack) },
    { "leaf:", offsetof(struct pool_node, leaf) },
    { "spine:", offsetof(struct pool_node, spine) },
};

/* All nodes of a unit, if it is one. */
static int add_unit(const struct node_names *l, const char *text, size_t len, struct arena *a,
                    struct node_names_found *to)
{
    const struct unit *u = NULL;
    size_t head = 0;
    uint64_t number;

    for (size_t i = 0; i < ARRAY_SIZE(units) && !u; i++) {
        head = strlen(units[i].name);
        u = len > head && !strncmp(text, units[i].name, head) ? &units[i] : NULL;
    }
    if (!u || parse_digits(text + head, 10, 9, &number) != (int)(len - head) || number == 0)
        return 0;
    for (size_t i = 0; i < l->pool->n_nodes; i++) {
        int32_t its;

        memcpy(&its, (const char *)&l->pool->nodes[i] + u->offset, sizeof(its));
        if ((uint64_t)its == number && add(to, a, (uint32_t)i) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return COMPARE(*x, *y);
}

int node_names_find(const struct node_names *l, const char *text, struct arena *a,
                    struct node_names_found *ret)
{
    struct node_names_found all = { .n = 0 };
    size_t kept = 0;

    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+");
        uint32_t node = *find_slot(l, at, len);

        if (node ? add(&all, a, node - 1) < 0 : add_unit(l, at, len, a, &all) < 0)
            return -ENOMEM;
        at += len;
        if (!*at)
            break;
    }
    if (all.n == 0)
        return -ENOENT;
    qsort(all.nodes, all.n, sizeof(*all.nodes), compare);
    for (size_t i = 0; i < all.n; i++)
        if (kept == 0 || all.nodes[kept - 1] != all.nodes[i])
            all.nodes[kept++] = all.nodes[i];
    all.n = kept;
    *ret = all;
    return 0;
}
