#include "model/machine/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

void pool_done(struct pool *p)
{
    arena_done(&p->arena);
    *p = (struct pool){ .n_nodes = 0 };
}

int pool_kind(const struct pool *p, const char *name)
{
    for (size_t i = 0; i < p->n_kinds; i++)
        if (!strcmp(p->kinds[i], name))
            return (int)i;
    return -1;
}

static int add_kind(struct pool *p, const char *name, struct err *e)
{
    int kind = pool_kind(p, name);

    if (kind >= 0)
        return kind;
    if (p->n_kinds == POOL_KINDS)
        return err_set(e, -EINVAL, "more than %d kinds of devices", POOL_KINDS);
    p->kinds[p->n_kinds] = arena_strdup(&p->arena, name);
    if (!p->kinds[p->n_kinds])
        return err_nomem(e);
    return (int)p->n_kinds++;
}

const char *pool_word(const struct pool *p, int64_t devices)
{
    if (p->cpus)
        return devices == 1 ? "CPU" : "CPUs";
    return devices == 1 ? "device" : "devices";
}

int pool_add(struct pool *p, const struct pool_node *node, const char *kind, struct err *e)
{
    struct pool_node *added;
    int k;

    if (node->devices == 0 || node->devices > POOL_DEVICES)
        return err_set(e, -EINVAL, "a node has 1 to %d devices, not %d", POOL_DEVICES,
                       node->devices);
    if (p->n_nodes == POOL_NODES)
        return err_set(e, -EINVAL, "more than %d nodes", POOL_NODES);
    k = add_kind(p, kind ? kind : "", e);
    if (k < 0)
        return k;
    added = ARENA_PUSH(&p->arena, &p->nodes, &p->n_nodes);
    if (!added)
        return err_nomem(e);
    *added = *node;
    added->kind = (uint8_t)k;
    added->name = node->name ? arena_strdup(&p->arena, node->name)
                             : arena_printf(&p->arena, "n%zu", p->n_nodes - 1);
    if (!added->name)
        return err_nomem(e);
    p->devices += node->devices;
    if (node->devices > p->most)
        p->most = node->devices;
    return 0;
}

/* How nodes of a group are joined: how many below each; 0: nobody says. */
struct joined {
    uint64_t domain, leaf, spine;
};

/* Cut a number off a text that a sign begins: "64x8/16" at '/'. False when it is none. */
static bool cut(char *text, char sign, uint64_t *ret)
{
    char *at = text ? strrchr(text, sign) : NULL;

    if (!at)
        return true;
    *at++ = '\0';
    return parse_u64(at, ret) == 0 && *ret > 0;
}

/* Nodes, and devices of each, of "72x4=18/36/2": 18 nodes are one NVLink domain, 36 one leaf, 2
 * leaves one spine. */
static bool read_group(char *group, uint64_t *n, uint64_t *each, struct joined *by)
{
    char *slash = strchr(group, '/'), *devices;
    bool two = slash && strchr(slash + 1, '/');

    if ((two && !cut(group, '/', &by->spine)) || !cut(group, '/', &by->leaf) ||
        !cut(group, '=', &by->domain))
        return false;
    devices = strchr(group, 'x');
    if (!devices)
        return false;
    *devices++ = '\0';
    return parse_u64(group, n) == 0 && parse_u64(devices, each) == 0;
}

/* The number of what joins the i-th of all nodes. */
static int32_t unit_of(uint64_t i, uint64_t below)
{
    return below ? (int32_t)(i / below) + 1 : 0;
}

/* One "64x8/16:A100" of a list. Where it is one of several, the sentence says which is wrong. */
static int add_group(struct pool *p, char *group, bool several, struct err *e)
{
    char *kind = strchr(group, ':');
    struct joined by = { .leaf = 0 };
    uint64_t n, each;
    size_t first = p->n_nodes;
    int rc = 0;

    if (kind)
        *kind++ = '\0';
    if (!read_group(group, &n, &each, &by))
        return err_set(e, -EINVAL,
                       "nodes are written as 64x8, 64x8/16 (nodes of a leaf), 72x4=18/36/2 (of an "
                       "NVLink domain, of a leaf, leaves of a spine) or 32x8:A100,4x4:T4");
    if (n == 0 || n > POOL_NODES || each == 0 || each > POOL_DEVICES)
        rc = err_set(e, -EINVAL, "1 to %d nodes with 1 to %d devices each", POOL_NODES,
                     POOL_DEVICES);
    if (rc < 0)
        return several ? err_context(e, rc, "%llux%llu: ", (unsigned long long)n,
                                     (unsigned long long)each)
                       : rc;
    if (by.domain > POOL_NODES || by.leaf > POOL_NODES || by.spine > POOL_NODES)
        return err_set(e, -EINVAL, "more than %d nodes below a switch", POOL_NODES);
    for (uint64_t i = first; i < first + n && rc == 0; i++) {
        const struct pool_node node = { .devices = (uint8_t)each,
                                        .domain = unit_of(i, by.domain),
                                        .leaf = unit_of(i, by.leaf),
                                        .spine = unit_of(i, by.leaf * by.spine) };

        rc = pool_add(p, &node, kind, e);
    }
    return rc;
}

int pool_parse(struct pool *p, const char *text, struct err *e)
{
    char *copy = arena_strdup(&p->arena, text), *group, *rest = copy;
    int rc = 0;

    if (!copy)
        return err_nomem(e);
    while (rc == 0 && (group = strsep(&rest, ",")))
        rc = add_group(p, group, strchr(text, ',') != NULL, e);
    return rc;
}
