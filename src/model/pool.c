#include "model/pool.h"

#include <errno.h>
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

/* One "64x8/16:A100" of a list. */
static int add_group(struct pool *p, char *group, struct err *e)
{
    char *kind = strchr(group, ':'), *leaf = NULL, *devices;
    uint64_t n, each, below = 0;
    size_t first = p->n_nodes;
    int rc = 0;

    if (kind)
        *kind++ = '\0';
    leaf = strchr(group, '/');
    if (leaf)
        *leaf++ = '\0';
    devices = strchr(group, 'x');
    if (devices)
        *devices++ = '\0';
    if (!devices || parse_u64(group, &n) < 0 || parse_u64(devices, &each) < 0 ||
        (leaf && parse_u64(leaf, &below) < 0))
        return err_set(e, -EINVAL, "nodes are written as 64x8, 64x8/16 or 32x8:A100,4x4:T4");
    if (n == 0 || n > POOL_NODES || each == 0 || each > POOL_DEVICES)
        return err_set(e, -EINVAL, "%sx%s: 1 to %d nodes with 1 to %d devices each", group, devices,
                       POOL_NODES, POOL_DEVICES);
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        int32_t switch_ = below ? (int32_t)((first + i) / below) + 1 : 0;

        rc = pool_add(p, &(struct pool_node){ .devices = (uint8_t)each, .leaf = switch_ }, kind, e);
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
        rc = add_group(p, group, e);
    return rc;
}
